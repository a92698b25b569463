"""The example files for monitoring and operation: tools can read them, and all they name exists."""

import configparser
import json
import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterator

import promql_parser
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from app.access.security_log.models import SecurityKind
from app.accounts.tokens.secrets import TokenKind, generate
from app.core.config import every_setting, from_environment
from app.core.config.setting import WrongSetting
from app.operations.cli import cli
from app.portal.help.examples import EXAMPLES
from tests.support.machines import Machine
from tests.support.processes import free_port
from tests.support.servers import Server, until

SETTINGS = from_environment({"FLAGSTAFF_BASE_URL": "https://flags.example.org/tools"})
OF_PROMETHEUS = {"up": {"job", "instance"}}
EVERYWHERE = {"job", "instance", "le"}


def example(name: str) -> str:
    return EXAMPLES[name].text(SETTINGS)


@pytest.fixture
def metrics(machine: Machine, start: Callable[..., Server]) -> dict[str, set[str]]:
    """The metrics of a server that has had something to count, each with its labels."""
    address = f"http://127.0.0.1:{free_port()}"  # no one answers there
    machine.settings["WEBHOOK_HOSTS"] = address
    server = start()
    unknown = generate(TokenKind.PERSONAL)
    webhook = {"name": "Nowhere", "url": f"{address}/hook", "eventTypes": ["project-created"]}
    assert server.call("POST", "/api/admin/webhooks", webhook).status == 201
    assert server.call("POST", "/api/admin/projects", {"id": "a", "name": "A"}).status == 201
    assert server.call("GET", "/api/admin/user", token=unknown).status == 401

    def shown() -> str:
        return server.call("GET", "/metrics", token=None).data.decode()

    until(lambda: "webhook_attempts_total{" in shown() and "security_events_total{" in shown())
    found: dict[str, set[str]] = defaultdict(set)
    for family in text_string_to_metric_families(shown()):
        for sample in family.samples:
            found[sample.name] |= set(sample.labels)
    return found


def queries() -> Iterator[str]:
    for group in yaml.safe_load(example("alerts"))["groups"]:
        for rule in group["rules"]:
            yield rule["expr"]
    for panel in json.loads(example("grafana"))["panels"]:
        for target in panel["targets"]:
            yield target["expr"].replace("$__rate_interval", "5m")


@pytest.mark.slow
def test_alerts_and_the_dashboard_ask_for_metrics_that_exist(metrics, subtests):
    known = metrics | OF_PROMETHEUS
    for query in queries():
        with subtests.test(query=query):
            nodes: list[promql_parser.Expr] = []
            promql_parser.walk(promql_parser.parse(query), nodes.append)
            selectors = [node for node in nodes if isinstance(node, promql_parser.VectorSelector)]
            assert selectors
            for selector in selectors:
                labels = known[selector.name] | EVERYWHERE
                asked = {each.name: each.value for each in selector.matchers.matchers}
                assert asked.keys() <= labels
                assert set(asked.get("kind", "sign-in").split("|")) <= set(SecurityKind)
                for node in nodes:
                    if isinstance(node, promql_parser.AggregateExpr) and node.modifier:
                        assert set(node.modifier.labels) <= labels


def test_each_alert_says_what_is_wrong_and_what_to_do():
    rules = yaml.safe_load(example("alerts"))["groups"][0]["rules"]
    for rule in rules:
        assert set(rule["annotations"]) == {"summary", "description"}
        assert rule["labels"]["severity"] in {"critical", "warning"}
    assert len({rule["alert"] for rule in rules}) == len(rules)


def test_panels_of_the_dashboard_do_not_overlap():
    places = [panel["gridPos"] for panel in json.loads(example("grafana"))["panels"]]
    assert len({(place["x"], place["y"]) for place in places}) == len(places)
    assert all(place["x"] + place["w"] <= 24 and place["y"] % place["h"] == 0 for place in places)


def test_in_kubernetes_it_runs_without_rights_and_only_with_secrets_of_its_own():
    objects = {each["kind"]: each for each in yaml.safe_load_all(example("kubernetes"))}
    assert set(objects) == {"Secret", "Deployment", "Service", "PodDisruptionBudget"}
    labels = {"app.kubernetes.io/name": "flagstaff"}
    assert objects["Service"]["spec"]["selector"] == labels
    assert objects["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    deployment = objects["Deployment"]["spec"]
    assert deployment["selector"]["matchLabels"] == labels
    assert deployment["template"]["metadata"]["labels"] == labels
    pod = deployment["template"]["spec"]
    [container] = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}
    probes = {name: container[f"{name}Probe"]["httpGet"] for name in ("liveness", "readiness")}
    assert (probes["liveness"]["path"], probes["readiness"]["path"]) == ("/health", "/ready")
    [port] = container["ports"]
    assert {each["port"] for each in probes.values()} == {port["name"]}
    assert objects["Service"]["spec"]["ports"][0]["targetPort"] == port["name"]
    assert pod["enableServiceLinks"] is False  # they would set FLAGSTAFF_PORT

    secrets = objects["Secret"]["stringData"]
    environ = {
        each["name"]: each.get("value") or secrets[each["valueFrom"]["secretKeyRef"]["key"]]
        for each in container["env"]
    }
    assert environ.keys() <= every_setting().keys()
    assert environ["FLAGSTAFF_BASE_URL"] == SETTINGS.address()
    with pytest.raises(WrongSetting):  # until someone has written one there
        from_environment({"FLAGSTAFF_SECRET_KEY": environ["FLAGSTAFF_SECRET_KEY"]})
    assert from_environment({"FLAGSTAFF_DATABASE_URL": environ["FLAGSTAFF_DATABASE_URL"]})


def units(text: str) -> dict[str, configparser.ConfigParser]:
    """The files that an example for systemd has, by name."""
    found = {}
    for part in re.split(r"^# /etc/systemd/system/", text, flags=re.MULTILINE)[1:]:
        name, _, unit = part.partition("\n")
        found[name] = configparser.ConfigParser(strict=False, interpolation=None, delimiters="=")
        found[name].optionxform = str  # type: ignore[assignment,method-assign] # case matters
        found[name].read_string(unit)
    return found


def test_the_timer_runs_a_backup_command_that_exists():
    found = units(example("timer"))
    service, timer = found["flagstaff-backup.service"], found["flagstaff-backup.timer"]
    program, *words = shlex.split(service["Service"]["ExecStart"])
    server = units(example("systemd"))["flagstaff.service"]
    assert server["Service"]["ExecStart"] == f"{program} serve"
    command = cli.get_command(None, words[0])
    parsed = command.make_context("backup", words[1:]).params
    assert parsed["keep"] == 14
    assert str(parsed["file"]) in service["Service"]["ReadWritePaths"].split()
    assert timer["Timer"]["Persistent"] == "yes"
    for name in ("User", "EnvironmentFile"):
        assert service["Service"][name] == server["Service"][name]


def test_systemd_waits_until_it_answers():
    service = units(example("systemd"))["flagstaff.service"]["Service"]
    assert (service["Type"], service["ExecReload"]) == ("notify", "/bin/kill -HUP $MAINPID")
    assert int(service["WatchdogSec"]) > 10
