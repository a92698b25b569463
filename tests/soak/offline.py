"""What an operator does on a machine without network: run by test_offline.py where there is none.

Installs from the folder of wheels, serves, makes the first Admin, signs in, backs up, restores
elsewhere, signs in there by the same password, and compares.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

PASSWORD = "four words that no one guesses"
PORT = 4299
ADDRESS = f"http://127.0.0.1:{PORT}"


class Operator:
    def __init__(self, folder: Path) -> None:
        self.bin = folder / "venv" / "bin"

    def install(self, wheels: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", self.bin.parent], check=True)
        options = ("--no-index", "--find-links", wheels, "--no-deps", "--require-hashes")
        requirements = ("-r", wheels / "requirements.txt")
        subprocess.run([self.bin / "pip", "install", "-q", *options, *requirements], check=True)

    def environ(self, home: Path) -> dict[str, str]:
        chosen = {"FLAGSTAFF_HOME": str(home), "FLAGSTAFF_PORT": str(PORT)}
        return {"PATH": os.environ["PATH"]} | chosen | {"FLAGSTAFF_BASE_URL": ADDRESS}

    def command(self, home: Path, *words: str | Path) -> str:
        done = subprocess.run(
            [self.bin / "flagstaff", *words],
            env=self.environ(home),
            capture_output=True,
            text=True,
            check=True,
            cwd=home.parent,
        )
        return done.stdout

    @contextmanager
    def serving(self, home: Path) -> Iterator[str]:
        """What the server printed at its start; it is asked to end when the block does."""
        log = home.with_suffix(".log")
        with log.open("w") as out:
            server = subprocess.Popen(
                [self.bin / "flagstaff", "serve"],
                env=self.environ(home),
                stdout=out,
                stderr=out,
                text=True,
                cwd=home.parent,
            )
        try:
            for _ in range(300):
                with suppress(URLError):
                    build_opener().open(f"{ADDRESS}/ready", timeout=5).close()
                    break
                time.sleep(0.1)
            yield log.read_text()
        finally:
            server.terminate()
            status = server.wait(40)
        assert status == 0, log.read_text()


class Window:
    """A browser's window, as far as forms and cookies go."""

    def __init__(self) -> None:
        self.open = build_opener(HTTPCookieProcessor(CookieJar())).open

    def read(self, path: str, fields: dict[str, str] | None = None) -> str:
        data = urlencode(fields).encode() if fields else None
        with self.open(f"{ADDRESS}{path}", data, timeout=30) as answer:
            text: str = answer.read().decode()
            return text

    def send(self, path: str, **fields: str) -> str:
        token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', self.read(path))
        assert token is not None, path
        return self.read(path, {"csrf_token": token[1], **fields})


def main(wheels: Path, folder: Path) -> None:
    operator = Operator(folder)
    operator.install(wheels)
    here, there = folder / "here", folder / "there"
    with operator.serving(here) as printed:
        [link] = re.findall(r"/first-admin/\S+", printed)
        window = Window()
        person = {"username": "ada", "name": "Ada Pine", "new_password": PASSWORD}
        assert "You’re the first Admin" in window.send(link, **person)
        operator.command(here, "feature", "create", "default", "search")
        made = json.loads(operator.command(here, "backup", folder / "b", "--json"))
    told = json.loads(operator.command(there, "restore", folder / "b", "--yes", "--json"))
    assert made["digest"] == told["digest"]
    with operator.serving(there):
        signed_in = Window().send("/sign-in", name="ada", password=PASSWORD)
        assert "<h1>Welcome, Ada" in signed_in, signed_in[:2000]
        assert "intact" in operator.command(there, "events", "verify")
    print(made["digest"])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
