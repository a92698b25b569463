"""nginx as the example configures it, in front of a server that is started later."""

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.core.config import from_environment
from app.factory import create_app
from app.portal.help.examples import EXAMPLES
from tests.support.processes import free_port

PREFIX = "/flags"
SECONDS = 20


@dataclass(frozen=True, slots=True)
class Front:
    """``address``: where people come; ``settings``: those that the server behind it needs."""

    address: str
    settings: dict[str, str]


def is_there() -> bool:
    return shutil.which("nginx") is not None


@contextmanager
def nginx(folder: Path, *ports: int, without: str = "") -> Iterator[Front]:
    """It runs with a certificate of its own and forwards to these ports, on a sub-path.

    ``without``: lines with this text are left out of the example.
    """
    own = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "BASE_URL": f"https://localhost:{own}",
        "URL_PREFIX": PREFIX,
        "TRUSTED_PROXY": "127.0.0.0/8",
    }
    _certificate(folder)
    lines = _configuration(folder, own, ports, settings).splitlines()
    kept = [line for line in lines if not without or without not in line]
    (folder / "nginx.conf").write_text("\n".join(kept))
    words = ["nginx", "-p", str(folder), "-c", "nginx.conf", "-e", "error.log"]
    process = subprocess.Popen([*words, "-g", "daemon off;"])
    try:
        _wait(own, process)
        yield Front(f"https://localhost:{own}{PREFIX}", settings)
    finally:
        process.terminate()
        process.wait(SECONDS)


def _configuration(folder: Path, own: int, ports: tuple[int, ...], settings: dict[str, str]) -> str:
    """The example as it is printed, with this machine's ports and files in it."""
    environ = {f"FLAGSTAFF_{name}": value for name, value in settings.items()}
    app = create_app(from_environment(environ | {"FLAGSTAFF_HOME": str(folder / "home")}))
    with app.app_context():
        text = EXAMPLES["nginx"].text(app.config["SETTINGS"])
    text = text.partition("server {\n    listen 80;")[0]
    text = re.sub(r" +listen \[::\]:443 ssl http2;\n", "", text)
    text = text.replace("listen 443 ssl http2;", f"listen 127.0.0.1:{own} ssl http2;")
    text = re.sub(r"/etc/ssl/\w+/flagstaff\.(\w+)", rf"{folder}/\1", text)
    line = "    server 127.0.0.1:4242 max_fails=1 fail_timeout=5s;\n"
    assert line in text
    text = text.replace(line, "".join(line.replace("4242", str(port)) for port in ports))
    paths = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return (
        f"user root;\npid {folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{paths}{text}\n}}\n"
    )


def _certificate(folder: Path) -> None:
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", str(folder / "key"), "-out", str(folder / "pem")),
        ],
        check=True,
        capture_output=True,
    )


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, "nginx did not start"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError("nginx does not answer")
