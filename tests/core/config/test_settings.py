"""Every setting: its default, what it takes, and the one line with which it refuses the rest."""

import os
import re
from dataclasses import fields, replace
from ipaddress import ip_network
from itertools import product
from pathlib import Path

import pytest

from app.core.config import Settings, every_setting, from_environment
from app.core.config.allowed_hosts import AllowedHost
from app.core.config.kinds import Channel, SdkToken
from app.core.config.setting import WrongKeyFile, WrongSetting
from app.factory import create_app

LONG = "k" * 32
FIVE = "\N{ARABIC-INDIC DIGIT FIVE}"
HERE = Path.cwd()

HOOKS = AllowedHost("https", "hooks.example.com", 443, None)
LOOPBACK = AllowedHost("http", "::1", 8080, ip_network("::1/128"))
GOOD = [
    ("HOME", "/srv/flagstaff", Path("/srv/flagstaff")),
    ("HOME", "data", HERE / "data"),
    ("HOME", "~/flags", Path.home() / "flags"),
    ("DATABASE_URL", "sqlite:////srv/flags.db", "sqlite:////srv/flags.db"),
    ("DATABASE_URL", "sqlite:///flags.db", f"sqlite:///{HERE}/flags.db"),
    ("DATABASE_URL", "postgresql://a:b@host/db", "postgresql+psycopg://a:b@host/db"),
    ("DATABASE_URL", "postgres://a:b@host:5433/db", "postgresql+psycopg://a:b@host:5433/db"),
    ("DATABASE_URL", "postgresql+psycopg:///db?host=/run", "postgresql+psycopg:///db?host=/run"),
    ("HOST", "::1", "::1"),
    ("HOST", "localhost", "localhost"),
    ("HOST", "127.1.2.3", "127.1.2.3"),
    ("PORT", "1", 1),
    ("PORT", "65535", 65_535),
    ("PORT", " 8080 ", 8_080),
    ("PROCESSES", "8", 8),
    ("THREADS", "64", 64),
    ("BASE_URL", "https://flags.example.org/", "https://flags.example.org"),
    ("BASE_URL", "http://10.0.0.7:8080/flags", "http://10.0.0.7:8080"),
    ("BASE_URL", "http://[::1]:4242", "http://[::1]:4242"),
    ("BOOTSTRAP_TOKEN", LONG, LONG),
    ("SECRET_KEY", LONG, LONG),
    ("TRUSTED_PROXY", "10.0.0.1", (ip_network("10.0.0.1"),)),
    ("TRUSTED_PROXY", "fd00::/8, 10.0.0.0/8,", (ip_network("fd00::/8"), ip_network("10.0.0.0/8"))),
    (
        "BOOTSTRAP_SDK_TOKENS",
        f"default:dev.{LONG}, frontend=*:prod-eu.{LONG}",
        (
            SdkToken("client", "default", "dev", f"default:dev.{LONG}"),
            SdkToken("frontend", "*", "prod-eu", f"*:prod-eu.{LONG}"),
        ),
    ),
    ("URL_PREFIX", "/flags", "/flags"),
    ("URL_PREFIX", "/tools/flags", "/tools/flags"),
    ("INACTIVITY_DAYS", "3650", 3_650),
    ("ACCESS_REVIEW_DAYS", "0", 0),
    ("STALE_AFTER_DAYS", "0", 0),
    ("MAX_REQUEST_BYTES", "1024", 1_024),
    ("SESSION_HOURS", "720", 720),
    ("PASSWORD_MIN", "8", 8),
    ("SECURITY_LOG_DAYS", "3650", 3_650),
    ("SECURITY_CONTACT", "mailto:security@example.org", "mailto:security@example.org"),
    ("SECURITY_CONTACT", "https://example.org/security", "https://example.org/security"),
    ("OIDC_ISSUER", "https://login.example.org/realms/a", "https://login.example.org/realms/a"),
    ("OIDC_ISSUER", "https://login.example.org/", "https://login.example.org/"),
    ("OIDC_ISSUER", "http://127.0.0.1:8080", "http://127.0.0.1:8080"),
    ("OIDC_CLIENT_ID", "flagstaff", "flagstaff"),
    ("OIDC_CLIENT_SECRET", "s3cret~", "s3cret~"),
    ("OIDC_SCOPES", "openid groups", "openid groups"),
    ("OIDC_GROUPS_CLAIM", "https://example.org/roles", "https://example.org/roles"),
    ("SIGN_ON_NAME", "Example Org", "Example Org"),
    ("SIGN_ON_HEADER", "X-Remote-User", "X-Remote-User"),
    ("SIGN_ON_HEADER_EMAIL", "X-Remote-Email", "X-Remote-Email"),
    ("SIGN_ON_HEADER_NAME", "X-Remote-Name", "X-Remote-Name"),
    ("SIGN_ON_HEADER_GROUPS", "X-Remote-Groups", "X-Remote-Groups"),
    ("SIGN_ON_CREATE", "group", "group"),
    ("SIGN_ON_CREATE", "all", "all"),
    ("SIGN_ON_LINK", "on", True),
    ("PASSWORD_SIGN_IN", "on", True),
    ("PASSWORD_SIGN_IN", "off", False),
    ("BREAK_GLASS_ADMINS", "ada, grace,", ("ada", "grace")),
    ("LOG_FORMAT", "json", "json"),
    ("MAIL_URL", "mailtos://a:b@smtp.example.com", "mailtos://a:b@smtp.example.com"),
    (
        "CHANNELS",
        "ops=slack://a/b/c\n me-2=mailto://a:b@c?to=d@e,f@g",
        (Channel("ops", "slack://a/b/c"), Channel("me-2", "mailto://a:b@c?to=d@e,f@g")),
    ),
    ("LOG_LEVEL", "warning", "warning"),
    ("LOG_REQUESTS", "off", False),
    ("WEBHOOK_HOSTS", "Hooks.Example.com", (HOOKS,)),
    ("WEBHOOK_HOSTS", "http://[::1]:8080, ", (LOOPBACK,)),
    ("WEBHOOK_HOSTS", "[::1]:8080", (replace(LOOPBACK, scheme="https"),)),
    ("IMPORT_HOSTS", "http://[::1]:8080, ", (LOOPBACK,)),
    ("IMPORT_HOSTS", "[::1]:8080", (replace(LOOPBACK, scheme="https"), LOOPBACK)),
    ("IMPORT_HOSTS", "Hooks.Example.com", (HOOKS,)),
]

NUMBERS = {
    "PORT": (1, 65_535),
    "PROCESSES": (1, 64),
    "THREADS": (1, 64),
    "INACTIVITY_DAYS": (1, 3_650),
    "STALE_AFTER_DAYS": (0, 3_650),
    "ACCESS_REVIEW_DAYS": (0, 3_650),
    "MAX_REQUEST_BYTES": (1_024, 2**30),
    "SESSION_HOURS": (1, 720),
    "PASSWORD_MIN": (8, 128),
    "SECURITY_LOG_DAYS": (1, 3_650),
}

BAD = [
    ("HOME", "~no-such-user/flags", "a path, where ~ is"),
    ("HOST", "two words", "It must be an IP address or a host name."),
    ("HOST", "http://127.0.0.1", "It must be an IP address or a host name."),
    ("BASE_URL", "flags.example.org", "an address like https://flags.example.org"),
    ("BASE_URL", "ftp://flags.example.org", "an address like https://"),
    ("BASE_URL", "https://", "an address like https://"),
    ("BASE_URL", "https://flags example.org", "an address like https://"),
    ("BASE_URL", "https://[::1", "an address like https://"),
    ("BASE_URL", "https://flags.example.org:0", "an address like https://"),
    ("BASE_URL", "https://flags.example.org:65536", "an address like https://"),
    ("BASE_URL", "https://flags.example.org/?a=b", "an address like https://"),
    ("BASE_URL", "https://flags.example.org/#a", "an address like https://"),
    ("BASE_URL", "https://flags.example.org\nX-Evil: 1", "an address like https://"),
    ("TRUSTED_PROXY", "proxy", "IP addresses or networks"),
    ("TRUSTED_PROXY", "10.0.0.1/8", "IP addresses or networks"),
    ("TRUSTED_PROXY", "10.0.0.1 10.0.0.2", "IP addresses or networks"),
    ("URL_PREFIX", "flags", "a path like /flagstaff"),
    ("URL_PREFIX", "/flags/", "a path like"),
    ("URL_PREFIX", "/", "a path like"),
    ("URL_PREFIX", "//example.org", "a path like"),
    ("URL_PREFIX", "/a b", "a path like"),
    ("SECURITY_CONTACT", "security@example.org", "an address that starts with https:// or mailto:"),
    ("OIDC_ISSUER", "login.example.org", "the provider’s address"),
    ("OIDC_ISSUER", "http://login.example.org", "the provider’s address"),
    ("OIDC_CLIENT_ID", "two words", "at most 255 characters without spaces"),
    ("OIDC_SCOPES", "profile email", "a list with openid in it"),
    ("OIDC_GROUPS_CLAIM", "x" * 256, "1 to 255 characters"),
    ("SIGN_ON_NAME", "a\x07b", "1 to 255 characters"),
    ("SIGN_ON_HEADER", "Remote User", "the name of a header"),
    ("SIGN_ON_HEADER_EMAIL", "X:Y", "the name of a header"),
    ("SIGN_ON_HEADER_NAME", "-", "the name of a header"),
    ("SIGN_ON_HEADER_GROUPS", "X_Y", "the name of a header"),
    ("SIGN_ON_CREATE", "everyone", "It must be none or group or all."),
    ("SIGN_ON_LINK", "yes", "It must be on or off."),
    ("PASSWORD_SIGN_IN", "no", "It must be on or off."),
    ("BREAK_GLASS_ADMINS", "a" * 256, "names with commas between them"),
    ("LOG_FORMAT", "xml", "It must be text or json."),
    ("LOG_FORMAT", "JSON", "It must be text or json."),
    ("LOG_LEVEL", "debug", "It must be info or warning or error."),
    ("LOG_REQUESTS", "no", "It must be on or off."),
    ("IMPORT_HOSTS", "*", "hosts with commas between them"),
    ("WEBHOOK_HOSTS", "*", "hosts with commas between them"),
    ("WEBHOOK_HOSTS", "hooks.example.com/path", "hosts with commas between them"),
    *(
        (name, bad, f"It must be a whole number from {low} to {high}.")
        for name, (low, high) in NUMBERS.items()
        for bad in (str(low - 1), str(high + 1), "-5", "+5", "5.0", "1e3", "five", FIVE, "9" * 30)
    ),
]

SECRET = [
    ("DATABASE_URL", "mysql://root:correct-horse@host/db", "mysql://…"),
    ("DATABASE_URL", "correct-horse", "…"),
    ("DATABASE_URL", "sqlite://correct-horse", "sqlite://…"),
    ("DATABASE_URL", "sqlite://correct-horse@host/db", "sqlite://…"),
    ("DATABASE_URL", "sqlite:////flags.db?key=correct-horse", "sqlite://…"),
    ("DATABASE_URL", "postgresql://a:correct-horse@host:port/db", "postgresql://…"),
    ("DATABASE_URL", "postgresql+asyncpg://a:correct-horse@host/db", "postgresql+asyncpg://…"),
    ("BOOTSTRAP_TOKEN", "correct-horse", "…"),
    ("BOOTSTRAP_TOKEN", "k" * 31, "…"),
    ("BOOTSTRAP_TOKEN", "correct-horse " * 4, "…"),
    ("BOOTSTRAP_TOKEN", "é" * 40, "…"),
    ("SECRET_KEY", "correct-horse", "…"),
    ("MAIL_URL", "smtp://a:correct-horse@smtp.example.com", "…"),
    ("MAIL_URL", "mailto://a:correct-horse@smtp.example.com?to=b@example.com", "…"),
    ("CHANNELS", "slack://correct-horse/b/c", "…"),
    ("CHANNELS", "Ops=slack://correct-horse/b/c", "…"),
    ("CHANNELS", "ops=slack://correct-horse/b/c, chat=slack://d/e/f ops=json://x", "…"),
    ("BOOTSTRAP_SDK_TOKENS", "default:development.correct-horse", "…"),
    ("BOOTSTRAP_SDK_TOKENS", f"correct-horse:a.b.{LONG}", "…"),
    ("BOOTSTRAP_SDK_TOKENS", f"server=default:correct-horse.{LONG}", "…"),
    ("OIDC_CLIENT_SECRET", "correct-horse battery", "…"),
    ("SECRET_KEY", "correct-horse\n" * 4, "…"),
    ("BASE_URL", "https://a:correct-horse@flags.example.org", "https://…@flags.example.org"),
]


def settings(**given: str) -> Settings:
    return from_environment({f"FLAGSTAFF_{name}": value for name, value in given.items()})


def refusal(name: str, value: str, **others: str) -> str:
    with pytest.raises(WrongSetting) as caught:
        settings(**{name: value}, **others)
    return str(caught.value)


def test_the_defaults():
    assert settings() == Settings(
        home=HERE / "instance",
        database_url=f"sqlite:///{HERE}/instance/flagstaff.db",
        host="127.0.0.1",
        port=4242,
        processes=min(len(os.sched_getaffinity(0)), 4),
        threads=4,
        base_url="http://127.0.0.1:4242",
        bootstrap_token=None,
        secret_key=None,
        bootstrap_sdk_tokens=(),
        trusted_proxy=(),
        url_prefix="",
        inactivity_days=180,
        access_review_days=90,
        stale_after_days=30,
        max_request_bytes=2_097_152,
        session_hours=12,
        password_min=15,
        security_log_days=90,
        security_contact=None,
        oidc_issuer=None,
        oidc_client_id=None,
        oidc_client_secret=None,
        oidc_scopes="openid profile email",
        oidc_groups_claim="groups",
        sign_on_name="your organisation",
        sign_on_header=None,
        sign_on_header_email=None,
        sign_on_header_name=None,
        sign_on_header_groups=None,
        sign_on_create="none",
        sign_on_link=False,
        password_sign_in=True,
        break_glass_admins=(),
        log_format="text",
        log_level="info",
        log_requests=True,
        webhook_hosts=(),
        mail_url=None,
        channels=(),
        import_hosts=(),
    )


def test_these_tests_know_every_setting():
    known = {field.name.upper() for field in fields(Settings)}
    assert {name for name, *_ in GOOD} == known
    assert {name for name, *_ in BAD + SECRET} == known


ISSUER, CLIENT = {"OIDC_ISSUER": "https://login.example.org"}, {"OIDC_CLIENT_ID": "flagstaff"}
NEEDS = {
    "OIDC_ISSUER": CLIENT,
    "OIDC_CLIENT_ID": ISSUER,
    "SIGN_ON_HEADER": {"TRUSTED_PROXY": "10.0.0.1"},
    "PASSWORD_SIGN_IN": ISSUER | CLIENT,
}


@pytest.mark.parametrize(("name", "value", "expected"), GOOD)
def test_a_good_value_is_taken(name, value, expected):
    given = NEEDS.get(name, {}) | {name: value}
    assert getattr(settings(**given), name.lower()) == expected


@pytest.mark.parametrize(
    ("name", "value", "lacks"),
    [
        ("OIDC_ISSUER", "https://login.example.org", "OIDC_CLIENT_ID"),
        ("OIDC_CLIENT_ID", "flagstaff", "OIDC_ISSUER"),
        ("SIGN_ON_HEADER", "X-Remote-User", "TRUSTED_PROXY"),
        ("PASSWORD_SIGN_IN", "off", "PASSWORD_SIGN_IN"),
    ],
)
def test_a_setting_that_needs_another_is_refused_without_it(name, value, lacks):
    assert refusal(name, value).startswith(f"FLAGSTAFF_{lacks} is ")


def test_an_empty_variable_means_not_set():
    for field, nothing in product(fields(Settings), ("", "  ")):
        assert settings(**{field.name.upper(): nothing}) == settings()


def test_a_bad_value_is_refused_in_one_line(subtests):
    for name, value, allowed in BAD:
        with subtests.test(name=name, value=value, allowed=allowed):
            line = refusal(name, value)
            assert line.startswith(f"FLAGSTAFF_{name} is {value!r}. It must be ")
            assert allowed in line
            assert len(line.splitlines()) == 1


@pytest.mark.parametrize(("name", "value", "shown"), SECRET)
def test_what_may_be_a_secret_is_not_repeated(name, value, shown):
    line = refusal(name, value)
    assert line.startswith(f"FLAGSTAFF_{name} is {shown!r}. It must be ")
    assert value not in line
    assert "correct-horse" not in line
    assert len(line.splitlines()) == 1


@pytest.mark.parametrize("name", NUMBERS)
def test_the_bounds_of_a_number_are_allowed(name):
    for bound in NUMBERS[name]:
        assert getattr(settings(**{name: str(bound)}), name.lower()) == bound


def test_a_secret_can_be_in_a_file(tmp_path):
    file = tmp_path / "key"
    file.write_text(f"{LONG}\n")
    assert settings(SECRET_KEY_FILE=str(file)).secret_key == LONG


def test_a_file_of_a_setting_is_refused_if_it_is_bad_or_not_all_that_is_set(tmp_path):
    (tmp_path / "short").write_text("correct-horse")
    short, none = str(tmp_path / "short"), str(tmp_path / "none")
    assert refusal("SECRET_KEY_FILE", short).startswith("FLAGSTAFF_SECRET_KEY_FILE is '…'. It must")
    assert refusal("SECRET_KEY_FILE", none) == (
        f"FLAGSTAFF_SECRET_KEY_FILE is {none!r}. It must be a text file that this user can read."
    )
    assert refusal("SECRET_KEY_FILE", short, SECRET_KEY=LONG) == (
        f"FLAGSTAFF_SECRET_KEY_FILE is {short!r}. It must be empty, because FLAGSTAFF_SECRET_KEY "
        "is set."
    )


def test_what_platforms_set_counts_unless_the_own_variable_is_set():
    platform = {"PORT": "8080", "DATABASE_URL": "postgres://a:b@host/db"}
    chosen = from_environment(platform)
    assert (chosen.port, chosen.base_url) == (8080, "http://127.0.0.1:8080")
    assert chosen.database_url == "postgresql+psycopg://a:b@host/db"
    assert from_environment(platform | {"FLAGSTAFF_PORT": "9090"}).port == 9090
    with pytest.raises(WrongSetting, match=r"^DATABASE_URL is 'mysql://…'\. It must be "):
        from_environment({"DATABASE_URL": "mysql://a:b@host/db"})


def test_the_database_is_in_the_home_folder_unless_said_otherwise():
    chosen = settings(HOME="/srv/flagstaff")
    assert chosen.database_url == "sqlite:////srv/flagstaff/flagstaff.db"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "flags.example.org"])
def test_to_be_reached_from_elsewhere_the_address_must_be_known(host):
    line = refusal("HOST", host)
    assert line.startswith("FLAGSTAFF_BASE_URL is ''. It must be ")
    assert repr(host) in line
    chosen = settings(HOST=host, BASE_URL="https://flags.example.org")
    assert (chosen.host, chosen.listens_on_loopback) == (host, False)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_on_loopback_no_address_needs_to_be_said(host):
    assert settings(HOST=host).listens_on_loopback


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"PORT": "4300"}, "http://127.0.0.1:4300/users"),
        ({"PORT": "4300", "HOST": "::1"}, "http://[::1]:4300/users"),
        ({"BASE_URL": "https://a.example"}, "https://a.example/users"),
        ({"BASE_URL": "https://a.example/flags/"}, "https://a.example/flags/users"),
        (
            {"BASE_URL": "https://a.example", "URL_PREFIX": "/flags"},
            "https://a.example/flags/users",
        ),
        (
            {"BASE_URL": "https://a.example/flags", "URL_PREFIX": "/flags"},
            "https://a.example/flags/users",
        ),
    ],
)
def test_links_have_the_address_that_people_use_with_one_prefix(given, expected):
    assert settings(**given).address("/users") == expected


def test_two_different_prefixes_are_refused():
    line = refusal("URL_PREFIX", "/other", BASE_URL="https://a.example/flags")
    assert line == (
        "FLAGSTAFF_URL_PREFIX is '/other'. It must be empty or /flags, because FLAGSTAFF_BASE_URL"
        " ends with that."
    )


@pytest.mark.parametrize("content", [b"", b" \n", b"short", b"\xff" * 48, "ключ".encode() * 12])
def test_a_damaged_file_of_the_secret_key_stops_the_start_in_one_line(tmp_path, content):
    (tmp_path / "secret_key").write_bytes(content)
    with pytest.raises(WrongKeyFile) as caught:
        create_app(settings(HOME=str(tmp_path)))
    line = str(caught.value)
    assert line.startswith(f"{tmp_path}/secret_key is damaged. Restore it from a backup.")
    assert len(line.splitlines()) == 1


def test_the_readme_shows_the_defaults():
    text = (Path(__file__).parents[3] / "README.md").read_text()
    rows = re.findall(r"^\| `(FLAGSTAFF_\w+)` \| .* \| (.+) \|$", text, re.MULTILINE)
    assert rows
    for name, default in rows:
        assert every_setting()[name].shown_default == default.replace("`", "")


def test_other_variables_are_ignored():
    assert from_environment({"HOST": "::1", "flagstaff_port": "2", "FLAGSTAFF": "3"}) == settings()
