"""Where requests go: to hosts that the operator named, at addresses that were checked."""

import shutil
import socket
import ssl
import subprocess
import threading
import time
from ipaddress import ip_address

import pytest

from app.core import outgoing
from app.core.config import WrongSetting, from_environment
from app.core.config.allowed_hosts import ALLOWED_HOSTS, is_public
from app.delivery.webhooks import sending
from app.delivery.webhooks.sending import MAX_ANSWER, post
from app.exchange.unleash.client import Unleash, UnleashRefused
from tests.support.clients import problems_of
from tests.support.processes import free_port
from tests.support.webhooks import WEBHOOKS, allow, create, deliver, deliveries

PRIVATE = [
    "127.0.0.1",
    "127.8.9.10",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "255.255.255.255",
    "224.0.0.1",
    "192.0.2.1",
    "::",
    "::1",
    "fe80::1",
    "fd00::1",
    "ff02::1",
    "2001:db8::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2001:0:7f00:1::",
]


def read(hosts):
    return ALLOWED_HOSTS.read(hosts)


def send(url, hosts, headers=None):
    return post(url, b"{}", headers or {}, read(hosts))


@pytest.fixture
def names(monkeypatch):
    """Names that lead to addresses as the test says; how often each was looked up."""
    known, asked, really = {}, [], socket.getaddrinfo

    def look_up(host, port, *rest, **options):
        if host[:1].isdigit():
            return really(host, port, *rest, **options)
        asked.append(host)
        if host not in known:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in known[host]]

    monkeypatch.setattr(outgoing.socket, "getaddrinfo", look_up)
    known["asked"] = asked
    return known


@pytest.fixture
def connections(monkeypatch):
    """The addresses that were connected to."""
    made = []

    def connect(address, *_):
        made.append(address)
        raise ConnectionRefusedError("refused")

    monkeypatch.setattr(outgoing.socket, "create_connection", connect)
    return made


@pytest.mark.parametrize(
    ("entry", "url"),
    [
        ("hooks.example.com", ("https", "hooks.example.com", 443)),
        ("HOOKS.example.com", ("https", "hooks.example.com", 443)),
        ("https://hooks.example.com", ("https", "hooks.example.com", 443)),
        ("hooks.example.com:8443", ("https", "hooks.example.com", 8443)),
        ("http://hooks.example.com", ("http", "hooks.example.com", 80)),
        ("http://10.1.2.3:8080", ("http", "10.1.2.3", 8080)),
        ("[::1]:8443", ("https", "::1", 8443)),
        ("hooks.internal=10.0.0.0/8", ("https", "hooks.internal", 443)),
        ("hooks.internal:444=fd00::/8", ("https", "hooks.internal", 444)),
    ],
)
def test_an_entry_names_a_host_with_its_scheme_and_port(entry, url):
    [found] = read(entry)
    assert found.origin == url


def test_entries_are_separated_by_commas_and_none_is_the_default(tmp_path):
    assert [one.host for one in read(" a.example , b.example,")] == ["a.example", "b.example"]
    assert from_environment({"FLAGSTAFF_HOME": str(tmp_path)}).webhook_hosts == ()


@pytest.mark.parametrize(
    "entry",
    [
        "*",
        "*.example.com",
        "ftp://a.example",
        "https://a.example/path",
        "user@a.example",
        "a.example:0",
        "a.example:70000",
        "a.example=10.0.0.1/8",
        "a.example=somewhere",
        "10.1.2.3=10.0.0.0/8",
        "[10.1.2.3",
        "a b",
    ],
)
def test_an_entry_that_says_less_than_a_host_stops_the_start(entry, tmp_path):
    environ = {"FLAGSTAFF_HOME": str(tmp_path), "FLAGSTAFF_WEBHOOK_HOSTS": entry}
    with pytest.raises(WrongSetting, match="FLAGSTAFF_WEBHOOK_HOSTS"):
        from_environment(environ)


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_that_are_not_of_the_internet_are_not_public(address):
    assert not is_public(ip_address(address))
    [host] = read("hooks.example.com")
    assert not host.accepts(ip_address(address))


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1"])
def test_addresses_of_the_internet_are_public(address):
    assert is_public(ip_address(address))


@pytest.mark.parametrize("address", PRIVATE)
def test_a_name_that_leads_to_a_private_address_is_not_connected_to(names, connections, address):
    names["hooks.example.com"] = [address]
    outcome = send("https://hooks.example.com/x", "hooks.example.com")
    assert "not public" in outcome.error
    assert connections == []


def test_one_private_address_among_public_ones_is_enough_to_refuse(names, connections):
    names["hooks.example.com"] = ["93.184.216.34", "10.0.0.1"]
    assert "10.0.0.1" in send("https://hooks.example.com/", "hooks.example.com").error
    assert connections == []


def test_a_private_address_needs_its_network_in_the_setting(names, connections):
    names["hooks.internal"] = ["10.1.2.3"]
    allowed = "hooks.internal=10.1.0.0/16"
    assert "connection failed" in send("https://hooks.internal/", allowed).error
    assert connections == [("10.1.2.3", 443)]
    names["hooks.internal"] = ["10.2.0.1"]
    assert "not in the network" in send("https://hooks.internal/", allowed).error
    names["hooks.internal"] = ["93.184.216.34"]
    assert "not in the network" in send("https://hooks.internal/", allowed).error
    assert len(connections) == 1


def test_the_connection_goes_to_the_address_that_was_checked(names, connections):
    names["hooks.example.com"] = ["93.184.216.34"]
    send("https://hooks.example.com/", "hooks.example.com")
    assert connections == [("93.184.216.34", 443)]
    assert names["asked"] == ["hooks.example.com"]


@pytest.mark.parametrize(
    "url",
    [
        "https://other.example.com/",
        "http://hooks.example.com/",
        "https://hooks.example.com:8443/",
        "https://hooks.example.com.evil.example/",
        "https://93.184.216.34/",
    ],
)
def test_what_the_setting_does_not_name_is_not_even_looked_up(names, connections, url):
    outcome = send(url, "hooks.example.com")
    assert "to add it to FLAGSTAFF_WEBHOOK_HOSTS" in outcome.error
    assert (names["asked"], connections) == ([], [])


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "127.1", "017700000001"])
def test_odd_spellings_of_loopback_are_refused_too(connections, host):
    assert send(f"http://{host}/", f"http://{host}").error
    assert connections == []


def test_a_redirect_is_not_followed(receivers):
    target, receiver = receivers(), receivers()
    receiver.status, receiver.headers = 302, {"Location": target.url}
    outcome = send(receiver.url, f"{receiver.host},{target.host}")
    assert (outcome.status, outcome.error) == (
        302,
        "Answered with 302. Redirects are not followed.",
    )
    assert len(receiver.messages) == 1
    assert target.messages == []


def test_proxies_of_the_environment_are_not_used(receivers, monkeypatch):
    proxy, receiver = receivers(), receivers()
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.host)
    assert send(receiver.url, receiver.host).error is None
    assert (len(receiver.messages), proxy.messages) == (1, [])


def test_only_the_beginning_of_an_answer_is_kept(receiver):
    receiver.status, receiver.text = 500, b"\xff\0" + b"x" * 3_000_000
    outcome = send(receiver.url, receiver.host)
    assert outcome.answer.startswith("��x")
    assert len(outcome.answer) == MAX_ANSWER


def test_a_receiver_that_does_not_listen_is_a_failure_in_words():
    port = free_port()
    outcome = send(f"http://127.0.0.1:{port}/", f"http://127.0.0.1:{port}")
    assert "connection failed" in outcome.error


def test_a_name_that_is_not_known_is_a_failure_in_words(names):
    outcome = send("https://hooks.example.com/", "hooks.example.com")
    assert outcome.error == "The host name was not found: Name or service not known."


def test_a_receiver_that_is_slow_is_left_after_the_time_limit(receiver, monkeypatch):
    monkeypatch.setattr(sending, "SECONDS", 0.3)
    receiver.seconds = 2
    outcome = send(receiver.url, receiver.host)
    assert "No complete answer" in outcome.error
    assert receiver.messages == []


def test_a_receiver_that_answers_a_byte_at_a_time_is_left_too(monkeypatch):
    monkeypatch.setattr(sending, "SECONDS", 0.6)
    with dripping() as port:
        outcome = send(f"http://127.0.0.1:{port}/", f"http://127.0.0.1:{port}")
    assert "No complete answer" in outcome.error


class dripping:  # noqa: N801 - used like a function
    """A receiver that sends the head of its answer one byte at a time."""

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self._drip)
        self.thread.start()
        return self.listener.getsockname()[1]

    def __exit__(self, *_):
        self.listener.close()
        self.thread.join()

    def _drip(self):
        connection, _ = self.listener.accept()
        with connection:
            try:
                for byte in b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100:
                    connection.sendall(bytes([byte]))
                    time.sleep(0.05)
            except OSError:
                return


def test_https_needs_a_valid_certificate(receiver):
    url = receiver.url.replace("http:", "https:")
    outcome = send(url, receiver.host.replace("http:", "https:"))
    assert "connection failed" in outcome.error
    assert receiver.messages == []


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate of hooks.test, with its key in the same file."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    folder = tmp_path_factory.mktemp("certificate")
    key, made = folder / "key.pem", folder / "certificate.pem"
    command = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
    about = ("-subj", "/CN=hooks.test", "-addext", "subjectAltName=DNS:hooks.test")
    files = ("-keyout", str(key), "-out", str(made))
    subprocess.run((*command, *about, *files), check=True, capture_output=True)
    return made, key


@pytest.fixture
def secure(names, receiver, certificate):
    """The receiver over HTTPS, with the certificate of one of its names; and its two hosts."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*certificate)
    receiver.end()
    receiver.listen(server)
    names["hooks.test"] = names["other.test"] = ["127.0.0.1"]
    hosts = (f"{one}:{receiver.port}=127.0.0.0/8" for one in ("hooks.test", "other.test"))
    return receiver, ",".join(hosts)


def test_over_https_the_name_is_verified_at_the_address_that_was_checked(
    secure, certificate, monkeypatch
):
    receiver, allowed = secure
    url = f"https://hooks.test:{receiver.port}/x"
    assert "The certificate is not valid" in send(url, allowed).error
    trusting = ssl.create_default_context(cafile=certificate[0])
    monkeypatch.setattr(outgoing, "_context", lambda: trusting)
    assert send(url, allowed).error is None
    [message] = receiver.messages
    assert message.headers["Host"] == f"hooks.test:{receiver.port}"
    other = send(f"https://other.test:{receiver.port}/x", allowed)
    assert "The certificate is not valid" in other.error
    assert len(receiver.messages) == 1


def test_an_import_verifies_the_name_at_the_address_that_was_checked(
    secure, certificate, monkeypatch
):
    receiver, allowed = secure
    receiver.status, receiver.text = 200, b'{"a": 1}'
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    right, wrong = (
        Unleash(f"https://{host}:{receiver.port}", "token", read(allowed))
        for host in ("hooks.test", "other.test")
    )
    assert right.post("/x", {}) == {"a": 1}
    with pytest.raises(UnleashRefused, match=r"not valid for 'other\.test'"):
        wrong.post("/x", {})
    [message] = receiver.messages
    assert message.headers["Host"] == f"hooks.test:{receiver.port}"


def test_a_webhook_can_only_be_created_for_an_allowed_host(app, admin, receiver, monkeypatch):
    body = {"name": "Chat", "url": receiver.url}
    refused = admin.post(WEBHOOKS, body)
    assert refused.status_code == 400
    [problem] = refused.json["details"]
    assert problem["path"] == "/url"
    assert "FLAGSTAFF_WEBHOOK_HOSTS" in problem["message"]
    allow(app, monkeypatch, receiver.host)
    assert admin.post(WEBHOOKS, body).status_code == 201


def test_nothing_is_sent_to_a_host_that_is_no_longer_allowed(app, admin, allowed, monkeypatch):
    id = create(admin, allowed)["id"]
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    allow(app, monkeypatch, "")
    deliver(app)
    assert allowed.messages == []
    [found] = deliveries(admin, id)
    assert "may not connect to" in found["error"]
    admin.ok("PUT", f"{WEBHOOKS}/{id}", {"paused": True})


@pytest.mark.slow
def test_an_address_that_is_none_is_refused(app, admin, monkeypatch, subtests):
    for url in (
        "hooks.example.com",
        "ftp://hooks.example.com/",
        "https://user:secret@hooks.example.com/",
        "https://hooks.example.com\\@evil.example/",
        "https://hooks.example.com/#part",
        "https://hooks.example.com/a b",
        "https://hooks.example.com/\r\nX-Evil: 1",
        "https://hooks.example.com:99999/",
        "https://hooks.exämple.com/",
        "https:///x",
        "javascript:alert(1)",
        f"https://hooks.example.com/{'x' * 500}",
    ):
        with subtests.test(url=url):
            allow(app, monkeypatch, "hooks.example.com")
            refused = admin.post(WEBHOOKS, {"name": "Chat", "url": url})
            assert list(problems_of(refused)) == ["/url"]


def test_an_address_is_stored_in_small_letters_without_the_usual_port(app, admin, monkeypatch):
    allow(app, monkeypatch, "hooks.example.com,http://hooks.example.com:8080")
    for number, (sent, stored) in enumerate(
        {
            "https://HOOKS.example.com:443/A?b=C": "https://hooks.example.com/A?b=C",
            "http://hooks.example.com:8080": "http://hooks.example.com:8080/",
        }.items()
    ):
        created = admin.ok("POST", WEBHOOKS, {"name": f"Chat {number}", "url": sent})
        assert created["url"] == stored
