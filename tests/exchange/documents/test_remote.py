"""Configuration from CI: the command on a machine without data, and a server that has it."""

import json
import os
import ssl
import subprocess

import pytest
import yaml

from app.portal.help import pipelines
from tests.support.machines import EXECUTABLE, Machine, Within
from tests.support.servers import TOKEN

pytestmark = pytest.mark.slow

ON = {"enabled": True, "strategies": [{"name": "default"}]}
BASKET = {"name": "basket", "project": "default", "environments": {"development": ON}}
WRONG = {"name": "a", "project": "nowhere"}
PLAN = {"digest": "0", "counts": {}, "entries": [{"status": "new"}], "lines": [], "summary": []}
HAS_CHANGES = 3


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, in which the command is run."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    folder = tmp_path / "pipeline"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def server(start):
    return start()


@pytest.fixture
def ci(folder, server):
    """A machine with the address and the token of the server, and nothing else."""
    return at(Within(folder), server.address)


def at(machine, address):
    machine.settings = {"SERVER": address, "TOKEN": TOKEN}
    return machine


def file(folder, *features, **things):
    made = folder.with_name("flagstaff.json")
    made.write_text(json.dumps({"version": 1, **things, "features": features}))
    return str(made)


def names(server):
    return [each["name"] for each in server.call("GET", "/api/admin/features").json["features"]]


class TestAPipeline:
    def test_needs_no_data_and_leaves_none(self, folder, server):
        ci = at(Machine(folder), server.address)
        document = ci.ok("export", "--format", "json")
        wanted = json.loads(document) | {"features": [BASKET]}
        ci.ok("apply", "-", "--yes", fed=json.dumps(wanted))
        assert names(server) == ["basket"]
        assert list(folder.iterdir()) == []

    def test_prints_what_the_server_itself_would_print(self, machine, folder, server, ci):
        path = file(folder, BASKET, WRONG)
        for words in (("apply", path, "--plan"), ("apply", path, "--plan", "--json"), ("export",)):
            assert ci.ok(*words) == machine.ok(*words)
        there, here = (command.run("apply", path, "--yes") for command in (ci, machine))
        assert (there.returncode, here.returncode, names(server)) == (1, 1, [])
        assert (there.stdout, there.stderr) == (here.stdout, here.stderr)

    def test_asks_before_it_applies(self, folder, server, ci):
        path = file(folder, BASKET)
        assert ci.run("apply", path, fed="n\n").returncode == 130
        assert names(server) == []
        said = ci.ok("apply", path, fed="y\n")
        assert "+ feature basket in default" in said
        assert "Applied. Everything of it is in the event log as batch" in said
        assert names(server) == ["basket"]

    @pytest.mark.parametrize("is_remote", [True, False], ids=["remote", "here"])
    def test_sees_by_the_status_whether_a_plan_has_changes(self, machine, folder, ci, is_remote):
        command = ci if is_remote else machine
        path = file(folder, BASKET)
        assert command.run("apply", path, "--plan", "--exit-code").returncode == HAS_CHANGES
        assert command.run("apply", path, "--plan").returncode == 0
        command.ok("apply", path, "--yes")
        assert command.run("apply", path, "--plan", "--exit-code").returncode == 0
        wrong = command.run("apply", file(folder, WRONG), "--plan", "--exit-code")
        assert (wrong.returncode, "can’t be applied" in wrong.stderr) == (1, True)

    def test_can_name_the_server_before_the_command_or_after_it(self, folder, server):
        ci = Within(folder)
        ci.settings = {"TOKEN": TOKEN, "SERVER": "http://127.0.0.1:1"}
        before = ci.ok("--server", server.address, "export")
        assert ci.ok("export", "--server", f"{server.address}/api/admin/") == before
        said = ci.refused("--server", server.address, "user", "list")
        assert said.startswith("--server goes with export or apply, not with user.")

    def test_proposes_what_needs_approval(self, folder, server, ci):
        rules = {"changeRequestEnvironments": [{"name": "development"}]}
        rules["environments"] = ["development", "production"]
        server.call("PUT", "/api/admin/projects/default/environments", rules)
        path = file(folder, BASKET)
        assert "development: needs approval" in ci.ok("apply", path, "--plan")
        said = ci.ok("apply", path, "--yes", "--reason", "Früh")
        assert "What needs approval waits in change request 1." in said
        found = server.call("GET", "/api/admin/projects/default/change-requests/1").json
        assert (found["state"], found["createdBy"]["username"]) == ("In review", "bootstrap")
        events = server.call("GET", "/api/admin/events?type=feature-created").json["events"]
        assert [event["reason"] for event in events] == ["Früh"]

    def test_applies_exactly_the_plan_that_it_showed_or_nothing(self, folder, server, ci):
        process = subprocess.Popen(
            [EXECUTABLE, "apply", file(folder, BASKET)],
            env=ci.environ(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        shown = ""
        while not shown.endswith(f"Apply this plan to {server.address}?"):
            shown += process.stdout.read(1)
        feature = {"name": "basket", "description": "Made by someone else"}
        server.call("POST", "/api/admin/projects/default/features", feature)
        _, said = process.communicate("y\n")
        assert process.returncode == 1
        assert "Something changed since your review, so nothing was done." in said
        [found] = server.call("GET", "/api/admin/features").json["features"]
        assert found["description"] == "Made by someone else"

    def test_moves_an_instance_to_an_empty_one(self, folder, larkspur, start, tmp_path):
        (tmp_path / "other").mkdir()
        source, empty = start(on=larkspur), start(on=Within(tmp_path / "other" / "home"))
        ci = at(Within(folder), source.address)
        made = larkspur.ok("token", "create", "ada.lindqvist", "--description", "CI", "--json")
        ci.settings["TOKEN"] = json.loads(made)["secret"]
        document = ci.ok("export")
        there = at(Within(folder), empty.address)
        there.ok("apply", "-", "--yes", fed=document)
        assert "0 to create, 0 to change." in there.ok("apply", "-", "--plan", fed=document)
        moved = set(there.ok("export").splitlines())
        assert set(document.splitlines()) <= moved

    def test_reaches_a_server_below_a_path(self, folder, start):
        server = start(URL_PREFIX="/flags")
        assert at(Within(folder), f"{server.address}/flags").ok("export").startswith("version: 1")
        said = at(Within(folder), f"{server.address}/elsewhere").refused("export")
        assert "does not answer as this version of Flagstaff does (404, text/html)" in said


class TestARefusal:
    """One line each, with what to do about it."""

    @pytest.mark.parametrize("kilobytes", [150, 300])
    def test_of_a_file_that_is_too_large(self, folder, start, kilobytes):
        server = start(MAX_REQUEST_BYTES="100000")
        large = BASKET | {"description": "x" * kilobytes * 1_000}
        said = at(Within(folder), server.address).refused("apply", file(folder, large), "--plan")
        assert said == (
            f"The document is too large for {server.address}. The request is larger than the limit "
            "of this server (100000 bytes). Send it in parts, or raise "
            "FLAGSTAFF_MAX_REQUEST_BYTES there."
        )

    @pytest.mark.parametrize(
        ("token", "words"),
        [
            ("", "FLAGSTAFF_TOKEN is not set. Put the token of an Admin of"),
            ("tökën", "FLAGSTAFF_TOKEN has characters that no token has."),
            ("x" * 40, "does not accept the token in FLAGSTAFF_TOKEN: it is unknown, expired or"),
        ],
    )
    def test_of_a_token(self, ci, token, words):
        assert words in ci.refused("export", TOKEN=token)

    def test_of_a_caller_who_is_no_admin(self, machine, ci):
        machine.ok("user", "create", "--username", "kim", "--role", "Editor")
        made = machine.ok("token", "create", "kim", "--description", "CI", "--json")
        said = ci.refused("export", TOKEN=json.loads(made)["secret"])
        assert said.endswith(
            "refuses this. You need the permission ADMIN. Ask an Admin. Documents can change "
            "accounts and every project, so it takes the token of an Admin."
        )

    def test_of_a_project_that_is_not_there(self, ci):
        said = ci.refused("export", "--project", "nowhere")
        assert said == "There is no project with the id nowhere."

    @pytest.mark.parametrize(
        ("address", "words"),
        [
            ("flags.example.org", "is not an address like https://flags.example.org."),
            ("http://127.0.0.1:99999", "is not an address like https://flags.example.org."),
            ("http://127.0.0.1:1", "can’t be reached: Connection refused. Check the address"),
            ("http://nowhere.invalid", "http://nowhere.invalid can’t be reached: "),
        ],
    )
    def test_of_an_address(self, folder, address, words):
        assert words in at(Within(folder), address).refused("export")

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            ((200, {"Content-Type": "text/html"}, b"<p>Sign in</p>"), "(200, text/html)"),
            ((200, {"Content-Type": "application/json"}, b"[]"), "(other JSON)"),
            ((413, {"Content-Type": "text/html"}, b""), "raise the limit of the proxy in front"),
            ((502, {}, b""), "answers 502. Try again later."),
            (
                (302, {"Location": "https://flags.example.org/"}, b""),
                "redirects to https://flags.example.org/. Give the address that it leads to",
            ),
        ],
    )
    def test_of_an_answer_that_is_not_from_flagstaff(self, folder, receiver, answer, words):
        receiver.status, receiver.headers, receiver.text = answer
        ci = at(Within(folder), receiver.host)
        assert words in ci.refused("apply", file(folder, BASKET), "--plan")
        assert len(receiver.messages) == 1

    def test_of_a_certificate(self, folder, receiver, monkeypatch):
        made = folder.with_name("certificate.pem")
        command = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
        about = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
        files = ("-keyout", str(made.with_name("key")), "-out", str(made))
        subprocess.run((*command, *about, *files), check=True, capture_output=True)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(made, made.with_name("key"))
        receiver.end()
        receiver.listen(tls)
        answers_with(receiver, PLAN)
        ci = at(Within(folder), f"https://localhost:{receiver.port}")
        words = ("apply", file(folder), "--plan")
        assert "name the file of that in SSL_CERT_FILE" in ci.refused(*words)
        assert receiver.messages == []
        monkeypatch.setenv("SSL_CERT_FILE", str(made))
        ci.ok(*words)

    @pytest.mark.parametrize("status", [None, 504], ids=["a connection", "a proxy"])
    def test_of_what_may_have_been_applied(self, folder, receiver, status):
        answers_with(receiver, PLAN)

        def gives_up(message):
            if "/apply" not in message.path:
                return 200
            if status is None:
                raise ConnectionError
            receiver.headers = {"Content-Type": "text/html"}
            return status

        receiver.answer = gives_up
        done = at(Within(folder), receiver.host).run("apply", file(folder, BASKET), "--yes")
        assert done.returncode == 1
        assert "It may have been applied. Run the command again" in done.stderr

    def test_of_a_value_that_json_does_not_have(self, ci):
        said = ci.refused("apply", "-", "--plan", fed="version: 1\nfeatures: [2026-11-28]")
        assert said.startswith("The file has a value that JSON does not have")

    def test_of_what_is_no_document(self, ci):
        assert "This is not a document of Flagstaff" in ci.refused("apply", "-", fed="")


def test_a_proxy_of_the_environment_is_used(folder, receiver, monkeypatch):
    answers_with(receiver, PLAN)
    monkeypatch.setenv("http_proxy", receiver.host)
    at(Within(folder), "http://flags.example").ok("apply", file(folder), "--plan")
    [message] = receiver.messages
    assert message.path == "http://flags.example/api/admin/configuration/plan"


def answers_with(receiver, answer):
    receiver.status, receiver.text = 200, json.dumps(answer).encode()
    receiver.headers = {"Content-Type": "application/json"}


@pytest.mark.parametrize("kind", ["workflow", "script"])
def test_the_pipelines_of_the_help_plan_on_a_branch_and_apply_on_main(folder, server, ci, kind):
    path = f"{EXECUTABLE.parent}:{os.environ['PATH']}"
    (folder / "flagstaff.yaml").write_text(json.dumps({"version": 1, "features": [BASKET]}))
    if kind == "script":
        text = pipelines.script(server.address)
        runs = [f"BRANCH={branch}\n{text}" for branch in ("work", "main")]
    else:
        [job] = yaml.safe_load(pipelines.workflow(server.address))["jobs"].values()
        runs = [step["run"] for step in job["steps"] if "if" in step]
    for text, found in zip(runs, ([], ["basket"]), strict=True):
        done = subprocess.run(
            ["sh", "-ec", text],
            env=ci.environ() | {"PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "+ feature basket in default" in done.stdout
        assert names(server) == found
