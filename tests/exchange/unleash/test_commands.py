"""Moving in by command, as the help says, and the configuration of an instance as a file."""

import json
import re

import pytest

from tests.support.processes import FLAGSTAFF, running
from tests.support.unleash import TOKEN, RecordedUnleash


@pytest.fixture
def there():
    """An Unleash to move from, without an application that may read it."""
    server = RecordedUnleash("8.2.0")
    yield server
    server.stop()


@pytest.fixture
def token(tmp_path):
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    return str(file)


def read(machine, there, token):
    options = ("--token-file", token, "--json")
    return json.loads(machine.ok("import", "unleash", there.url, *options))


@pytest.mark.slow
def test_both_are_compared_with_tokens_that_are_here_too(machine, there, token):
    plan = read(machine, there, token)
    tokens = there.answers["GET /api/admin/api-tokens"]["tokens"]
    with running(FLAGSTAFF, "/ready", HOME=str(machine.home)) as server:
        check = ("import", "check", there.url, "--token-file", token, "--here", server.address)
        assert machine.refused(*check) == (
            f"None of the SDK tokens of the Unleash is valid at {server.address} too. Import from "
            "it again, with its SDK tokens, and compare then."
        )
        machine.ok("import", "apply", str(plan["id"]))
        new = {"tokenName": "new", "projects": ["*"], "secure": False}
        for kind, environment in (("client", "production"), ("frontend", "development")):
            secret = f"*:{environment}.{kind}"
            tokens.insert(0, new | {"type": kind, "environment": environment, "secret": secret})
        said = machine.run(*check).stdout.splitlines()
    asked = [line.split(" in ")[1].split()[0] for line in said if line.startswith("Asked for")]
    assert asked == ["development", "eu.prod", "production", "production"]
    [left_out] = [line for line in said if line.startswith("Not compared")]
    assert left_out.startswith("Not compared: development for browsers. None of its SDK tokens is")


def test_an_export_for_unleash_names_what_unleash_refuses_beside_it(machine, tmp_path):
    strategies = [{"name": "userWithId", "parameters": {"userIds": "1"}}]
    states = {"production": {"enabled": True, "strategies": strategies}}
    features = [{"name": "a", "project": "default", "environments": states}]
    (tmp_path / "a.json").write_text(json.dumps({"version": 1, "features": features}))
    machine.ok("apply", str(tmp_path / "a.json"), "--yes")
    done = machine.run("feature", "export", "--environment", "production")
    remedy = "Use flexibleRollout with a constraint on userId instead.\n"
    assert done.returncode == 0
    assert done.stderr.endswith(f"while this is in it. In production, userWithId of a. {remedy}")
    [strategy] = json.loads(done.stdout)["featureStrategies"]
    assert strategy["name"] == "userWithId"
    assert machine.ok("feature", "export", "--environment", "development")


def exported(machine):
    return json.loads(machine.ok("export", "--format", "json"))


class TestMovingIn:
    def test_goes_as_the_help_says(self, machine, visitor, there, token):
        page = visitor.get("/help/moving-in")
        commands = [
            c.split()[1:] for c in re.findall(r"<code>(flagstaff import .*?)</code>", page.text)
        ]
        read, file, decide, apply, check, choose = commands
        assert (read[1], file[1], check[1]) == ("unleash", "file", "check")
        said = machine.ok(*read[:2], there.url, "--token-file", token)
        assert "To import this: flagstaff import apply 1" in said
        machine.ok(*[word.replace("checkout", "hostile") for word in decide])
        machine.ok(*[word.replace("checkout.", "shop.") for word in choose])
        assert "Imported" in machine.ok(*apply)

    def test_names_what_can_not_come_and_what_can_be_done(self, machine, there, token):
        said = machine.ok("import", "unleash", there.url, "--token-file", token)
        assert "features:child.two: leave-out (or switched-off)" in said
        assert "It depends on parent.feature and grand.parent." in said
        assert "items can be imported." in said

    def test_brings_only_features_that_are_chosen(self, machine, there, token):
        id = str(read(machine, there, token)["id"])
        options = ("--project", "shop", "--prefix", "shop.", "--names", "-")
        said = machine.ok("import", "plan", id, *options, fed="shop.europe\nshop.chekcout\n")
        assert "features, new: shop.europe" in said
        assert "1 of 23 features is chosen" in said
        assert "Not there: shop.chekcout. Did you mean shop.checkout?" in said
        machine.ok("import", "apply", id)
        assert [feature["name"] for feature in exported(machine)["features"]] == ["shop.europe"]

    def test_brings_everything_again_on_request(self, machine, there, token):
        plan = read(machine, there, token)
        machine.ok("import", "plan", str(plan["id"]), "--prefix", "old.")
        again = machine.ok("import", "plan", str(plan["id"]), "--everything", "--json")
        assert json.loads(again)["number"] == plan["number"]

    @pytest.mark.parametrize(
        ("options", "why"),
        [
            (("--prefix", "zz"), "No feature there has a name that begins with 'zz'."),
            (("--project", "shopp"), "Did you mean 'shop'?"),
            (("--names", "-"), "Name at least one feature."),
            (("--everything", "--prefix", "old."), "choose none"),
        ],
    )
    def test_says_what_is_wrong_with_a_choice(self, machine, there, token, options, why):
        id = str(read(machine, there, token)["id"])
        assert why in machine.run("import", "plan", id, *options, fed="").stderr

    def test_the_token_is_never_an_argument(self, machine, there, monkeypatch):
        said = machine.run("import", "unleash", there.url, TOKEN)
        assert said.returncode == 2
        assert "UNLEASH_TOKEN" in machine.run("import", "unleash", there.url).stderr
        monkeypatch.setenv("UNLEASH_TOKEN", TOKEN)
        machine.ok("import", "unleash", there.url)

    def test_an_old_server_is_read_from_a_file(self, machine, there, token):
        current = there.answers["GET /api/admin/ui-config"]["versionInfo"]["current"]
        current |= {"oss": "4.19.5", "enterprise": ""}
        said = machine.refused("import", "unleash", there.url, "--token-file", token)
        assert "Unleash 4.19.5. Download its state from /api/admin/state/export" in said

    @pytest.mark.parametrize("url", ["http://127.0.0.1:9", "unleash.example.com"])
    def test_says_why_nothing_can_be_read(self, machine, token, url):
        assert url in machine.refused("import", "unleash", url, "--token-file", token)

    def test_exactly_the_plan_that_was_read_or_nothing(self, machine, there, token):
        plan = read(machine, there, token)
        machine.ok("feature", "create", "default", "child.on")
        said = machine.refused("import", "apply", str(plan["id"]), "--plan", plan["digest"])
        assert "changed" in said

    def test_can_be_rehearsed_and_undone(self, machine, there, token):
        before = exported(machine)
        plan = read(machine, there, token)
        machine.ok("import", "apply", str(plan["id"]), "--dry-run")
        assert exported(machine) == before
        machine.ok("import", "apply", str(plan["id"]))
        assert len(exported(machine)["features"]) == plan["counts"]["features"]["new"]
        machine.ok("import", "undo", str(plan["id"]))
        assert exported(machine) == before
        [row] = json.loads(machine.ok("import", "list", "--json"))["imports"]
        assert row["state"] == "undone"


class TestAFile:
    @pytest.fixture
    def file(self, machine, tmp_path):
        """What the instance is, with one more feature."""
        document = exported(machine)
        feature = {"name": "basket", "project": "default", "tags": ["simple:red"]}
        file = tmp_path / "flagstaff.json"
        file.write_text(json.dumps(document | {"features": [feature]}))
        return file

    def test_is_planned_first_and_then_changes_nothing(self, machine, file):
        said = machine.ok("apply", str(file), "--plan")
        assert "+ feature basket in default" in said
        assert "1 to create, 0 to change." in said
        assert "features" not in exported(machine)

    def test_is_applied_after_a_question(self, machine, file):
        assert machine.run("apply", str(file), fed="n\n").returncode == 130
        assert "features" not in exported(machine)
        machine.ok("apply", str(file), fed="y\n")
        assert [feature["name"] for feature in exported(machine)["features"]] == ["basket"]

    def test_names_each_value_that_changes(self, machine, file):
        machine.ok("apply", str(file), "--yes")
        document = exported(machine)
        document["features"][0] |= {"stale": True, "tags": []}
        file.write_text(json.dumps(document))
        said = machine.ok("apply", str(file), "--plan")
        assert "~ feature basket in default" in said
        assert "stale: no → yes" in said
        assert 'tags: ["simple:red"] → nothing' in said

    def test_with_something_impossible_does_nothing(self, machine, file):
        document = exported(machine)
        wrong = {"name": "a", "project": "nowhere"}
        file.write_text(json.dumps(document | {"features": [wrong]}))
        done = machine.run("apply", str(file), "--yes")
        assert done.returncode == 1
        assert "There is no project with the id 'nowhere'." in done.stderr
        assert "features" not in exported(machine)

    def test_of_one_project_has_what_it_refers_to_and_no_more(self, machine):
        machine.ok("project", "create", "shop", "--name", "Shop")
        machine.ok("feature", "create", "shop", "basket")
        machine.ok("feature", "create", "default", "other")
        found = json.loads(machine.ok("export", "--project", "shop", "--format", "json"))
        assert [project["id"] for project in found["projects"]] == ["shop"]
        assert [feature["name"] for feature in found["features"]] == ["basket"]
        assert "tags" not in found

    def test_has_no_secret(self, machine):
        machine.ok("user", "create", "--username", "ada", "--role", "Admin")
        secret = machine.ok("token", "create", "ada", "--description", "x")
        sdk = machine.ok("sdk-token", "create", "web", "--environment", "production")
        text = machine.ok("export")
        assert "ada" in text
        assert secret.split()[-1] not in text
        assert sdk.split()[-1] not in text
