"""Messages for people, at chats and mailboxes that the operator named."""

import shutil
import signal
import ssl
import subprocess
from dataclasses import replace

import pytest

from app.core import messages
from app.core.config.kinds import CHANNELS
from tests.support.clients import problems_of
from tests.support.machines import SECONDS
from tests.support.mail import mailbox, without_tls
from tests.support.processes import free_port
from tests.support.servers import until
from tests.support.webhooks import WEBHOOKS, Receiver, deliver, deliveries

__all__ = ["mailbox"]

pytestmark = [pytest.mark.slow, without_tls]

FEATURES = "/projects/default/features"
SWITCHED = {"eventTypes": ["feature-environment-enabled"]}
SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#flags"
TO = "&to=ops@example.org&format=text"
TEAMS = "workflows://prod-01.westeurope.logic.azure.com:443/9c2f4b/SiGnAtUrE0123"


def name(app, monkeypatch, text):
    """Set FLAGSTAFF_CHANNELS for the application."""
    settings = replace(app.config["SETTINGS"], channels=CHANNELS.read(text))
    monkeypatch.setitem(app.config, "SETTINGS", settings)


def create(client, **settings) -> int:
    body = {"name": "Flags", "channel": "ops", **settings}
    id: int = client.ok("POST", WEBHOOKS, body)["id"]
    return id


def switch_on(client, name, environment="production"):
    client.ok("POST", f"{FEATURES}/{name}/environments/{environment}/on")


def switch_on_cart(app, client):
    """Switch a new feature on, and send the messages about it."""
    client.ok("POST", FEATURES, {"name": "cart"})
    switch_on(client, "cart")
    deliver(app)


@pytest.fixture
def chat(app, talks, monkeypatch) -> Receiver:
    """A chat that is named ``ops``."""
    name(app, monkeypatch, f"ops={url_of(talks)}")
    return talks


@pytest.fixture
def talks(receivers) -> Receiver:
    return talk(receivers())


def talk(receiver) -> Receiver:
    """Let it answer as Mattermost does."""
    receiver.status, receiver.text = 200, b"ok"
    return receiver


def url_of(receiver) -> str:
    return f"mmost://127.0.0.1:{receiver.port}/{'k' * 26}"


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    """A certificate of two services, with its key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    folder = tmp_path_factory.mktemp("authority")
    names = "DNS:hooks.slack.com,DNS:prod-01.westeurope.logic.azure.com"
    made, key = folder / "certificate.pem", folder / "key.pem"
    command = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
    about = ("-subj", "/CN=test", "-addext", f"subjectAltName={names}")
    files = ("-keyout", str(key), "-out", str(made))
    subprocess.run((*command, *about, *files), check=True, capture_output=True)
    return made, key


@pytest.fixture
def services(receiver, authority, monkeypatch) -> Receiver:
    """Answers in the place of the services on the internet, behind a proxy."""
    made, key = authority
    receiver.tunnel = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    receiver.tunnel.load_cert_chain(made, key)
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{receiver.port}")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(made))
    receiver.status, receiver.text = 200, b"ok"
    return receiver


def test_a_chat_hears_in_a_sentence_what_happened_why_and_where(app, admin, chat):
    create(admin, **SWITCHED)
    admin.ok("POST", FEATURES, {"name": "cart"})
    headers = {"X-Reason": "The launch is today"}
    admin.ok("POST", f"{FEATURES}/cart/environments/production/on", headers=headers)
    assert deliver(app) == 1
    [message] = chat.messages
    text = message.json["text"]
    assert "switched feature cart on in production" in text
    assert "Reason: The launch is today" in text
    assert "http://127.0.0.1:4242/projects/default/features/cart" in text


def test_what_someone_did_to_many_features_at_once_is_one_message(app, admin, chat):
    create(admin, eventTypes=["feature-tags-changed", "feature-created"])
    names = [f"f{number}" for number in range(120)]
    for one in names:
        admin.ok("POST", FEATURES, {"name": one})
    deliver(app)
    chat.messages.clear()
    tag = {"type": "simple", "value": "web"}
    body = {"features": names, "tags": {"addedTags": [tag], "removedTags": []}}
    admin.ok("PUT", "/projects/default/tags", body)
    assert [deliver(app), deliver(app)] == [0, 1]  # it copies 100 events at once
    [message] = chat.messages
    assert "changed the tags of 120 features" in message.json["text"]


def test_only_events_about_the_chosen_environments_are_sent(app, admin, chat):
    create(admin, environments=["production"])
    admin.ok("POST", FEATURES, {"name": "cart"})
    switch_on(admin, "cart", "development")
    switch_on(admin, "cart")
    deliver(app)
    texts = [message.json["text"].splitlines()[0] for message in chat.messages]
    assert texts == [
        "admin added a strategy to feature cart in production",
        "admin switched feature cart on in production",
    ]


def test_slack_gets_what_its_incoming_webhooks_take_and_no_one_is_called(
    app, admin, services, monkeypatch
):
    name(app, monkeypatch, f"ops={SLACK}")
    id = create(admin, **SWITCHED)
    admin.ok("POST", FEATURES, {"name": "cart"})
    headers = {"X-Reason": "<!channel> *now* & <@U123>"}
    admin.ok("POST", f"{FEATURES}/cart/environments/production/on", headers=headers)
    deliver(app)
    assert [one["error"] for one in deliveries(admin, id)] == [None]
    [message] = services.messages
    assert message.path == "/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
    assert message.headers["Content-Type"].startswith("application/json")
    assert message.json["channel"] == "#flags"
    [attachment] = message.json["attachments"]
    assert "switched feature cart on in production" in attachment["title"]
    assert "<" not in attachment["text"]
    assert "&lt;!channel&gt;" in attachment["text"]


def test_teams_gets_an_adaptive_card(app, admin, services, monkeypatch):
    name(app, monkeypatch, f"ops={TEAMS}")
    create(admin, **SWITCHED)
    switch_on_cart(app, admin)
    [message] = services.messages
    assert message.path.startswith("/workflows/9c2f4b/triggers/manual/paths/invoke?")
    assert "sig=SiGnAtUrE0123" in message.path
    assert message.json["type"] == "message"
    [attachment] = message.json["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    card = attachment["content"]
    assert card["type"] == "AdaptiveCard"
    words = " ".join(block["text"] for block in card["body"] if block["type"] == "TextBlock")
    assert "switched feature cart on in production" in words


def test_a_mailbox_gets_mail(app, admin, mailbox, monkeypatch):
    name(app, monkeypatch, f"ops={mailbox.url() + TO}")
    create(admin, **SWITCHED)
    switch_on_cart(app, admin)
    [mail] = mailbox.mails
    assert mail.to == ["ops@example.org"]
    assert "switched feature cart on in production" in mail.subject
    assert "http://127.0.0.1:4242/projects/default/features/cart" in mail.text


@pytest.fixture
def broken(app, talks, mailbox, monkeypatch):
    """Names a channel that takes no message: it refuses all, is away, or has another password."""
    talks.status = 403

    def choose(kind):
        urls = {
            "refuses": url_of(talks),
            "is away": f"mmost://127.0.0.1:{free_port()}/{'k' * 26}",
            "has another password": mailbox.url(password="wrong-horse") + TO,
        }
        name(app, monkeypatch, f"ops={urls[kind]}")

    return choose


@pytest.mark.parametrize("kind", ["refuses", "is away", "has another password"])
def test_a_failure_is_said_without_secrets(app, admin, broken, caplog, kind):
    broken(kind)
    id = create(admin, **SWITCHED)
    switch_on_cart(app, admin)
    [found] = deliveries(admin, id)
    assert (found["status"], found["attempts"]) == ("waiting", 1)
    assert found["error"].startswith("The message was not taken. ")
    said = found["error"] + caplog.text
    assert "kkkkkkkk" not in said
    assert "horse" not in said


def test_parts_of_an_address_are_not_repeated():
    said = "Failed at hooks.slack.com with TIiajkdnlazkcOXrIdevi7FQ: error"
    assert messages.without_secrets(said, SLACK) == "Failed at hooks.slack.com with …: error"


def test_a_channel_that_is_named_no_more_is_said(app, admin, chat, monkeypatch):
    id = create(admin, **SWITCHED)
    name(app, monkeypatch, "")
    switch_on_cart(app, admin)
    [found] = deliveries(admin, id)
    assert found["error"] == "FLAGSTAFF_CHANNELS has no channel 'ops'. Ask the operator to add it."


def test_a_webhook_goes_to_an_address_or_to_a_channel_and_keeps_to_that(app, admin, chat):
    both = {"name": "a", "channel": "ops", "url": "https://hooks.example.com"}
    for body in (both, {"name": "a"}):
        assert problems_of(admin.post(WEBHOOKS, body)) == {
            "/url": "Enter an address, or choose a channel."
        }
    unknown = admin.post(WEBHOOKS, {"name": "a", "channel": "dev"})
    assert "has no channel 'dev'" in problems_of(unknown)["/channel"]
    made = admin.ok("POST", WEBHOOKS, {"name": "a", "channel": "ops"})
    assert (made["url"], made["channel"], made["environments"]) == (None, "ops", ["*"])
    changed = admin.put(f"{WEBHOOKS}/{made['id']}", {"url": "https://hooks.example.com"})
    assert problems_of(changed) == {
        "/url": "This webhook sends to a channel. Create another one for this."
    }
    environments = admin.put(f"{WEBHOOKS}/{made['id']}", {"environments": ["nowhere"]})
    assert problems_of(environments) == {"/environments": "There is no environment 'nowhere'."}


def test_a_channel_is_chosen_on_the_page_and_has_no_secret(app, browser, chat):
    page = browser.get("/new-webhook")
    fields = {"name": "Ops", "channel": "ops", "event_types": "*", "environments": "production"}
    page = browser.follow(browser.submit(page, fields, form="/new-webhook"))
    assert page.has("Messages are sent to channel ops from now on.")
    assert not page.has("whsec_")
    page = browser.get(f"{page.path}/edit")
    assert page.select("#url") == []
    browser.submit(page, {"name": "Ops 2"}, form=page.path)
    page = browser.get("/webhooks")
    assert page.has("Ops 2")
    assert page.has("channel ops")


def ok(server, method, path, body=None):
    answer = server.call(method, f"/api/admin{path}", body)
    assert answer.status < 300, answer.data
    return answer.json if answer.data else None


def test_an_address_that_can_not_be_used_is_said_at_the_start(start, machine):
    machine.settings["CHANNELS"] = "ops=slak://correct-horse/b/c"
    log = start().log.read_text()
    assert "Apprise doesn’t know the address of channel ops in FLAGSTAFF_CHANNELS." in log
    assert "horse" not in log


def create_on(server, name="Flags", channel="ops"):
    body = {"name": name, "channel": channel, "eventTypes": ["feature-created"]}
    return ok(server, "POST", WEBHOOKS, body)["id"]


def features_in(messages):
    """The features that messages are about, in their order."""
    return [message.json["text"].split("created feature ")[1].split()[0] for message in messages]


def test_a_chat_that_hangs_holds_up_neither_others_nor_the_server(start, machine, receivers):
    slow, quick = talk(receivers()), talk(receivers())
    machine.settings["CHANNELS"] = f"slow={url_of(slow)} quick={url_of(quick)}"
    server = start(PROCESSES="1")
    slow.seconds = SECONDS
    for channel in ("slow", "quick"):
        create_on(server, channel, channel)
    names = [f"f{number}" for number in range(5)]
    for one in names:
        ok(server, "POST", FEATURES, {"name": one})
    quick.wait_for(5)
    assert features_in(quick.accepted) == names
    assert slow.messages == []
    assert server.call("GET", "/health", token=None).status == 200


def test_nothing_arrives_twice_though_servers_are_killed(start, machine, talks):
    machine.settings["CHANNELS"] = f"ops={url_of(talks)}"
    server = start(PROCESSES="2")
    id = create_on(server)
    talks.seconds = 0.1
    names = [f"f{number}" for number in range(30)]
    for one in names:
        ok(server, "POST", FEATURES, {"name": one})
    for number in (3, 8):
        until(lambda number=number: len(talks.accepted) >= number, SECONDS)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(SECONDS)
        server = start(PROCESSES="2")

    def ended():
        found = ok(server, "GET", f"{WEBHOOKS}/{id}/deliveries?limit=100")["deliveries"]
        return [one for one in reversed(found) if one["endedAt"]]

    until(lambda: len(ended()) == len(names), SECONDS)
    arrived = features_in(talks.accepted)
    assert len(set(arrived)) == len(arrived)
    unknown = [one for one in ended() if one["status"] == "failed"]
    assert {one["error"] for one in unknown} <= {
        "The server ended while it sent this. It may have arrived."
    }
    assert len(names) - len(unknown) <= len(arrived)
