"""What README.md and docs/ show is what happens."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from app.operations.cli import cli
from tests.portal.help.documents import ADDING, DOCUMENTS, ROOT, Block, all_blocks, blocks, matches
from tests.support.processes import FLAGSTAFF, Server, running

TOKEN = "token-of-the-documents-0123456789abcdef"
BETWEEN = "\x1e"
EXAMPLES = {"app/catalogue/notes/"}
"""What docs/adding.md creates."""
NOT_OURS = {
    *("createdb", "docker", "flask", "pip", "pipx", "pre-commit", "python3", "waitress-serve"),
}
WITH_RUNS = [document for document in DOCUMENTS if any(block.runs for block in blocks(document))]


@pytest.mark.slow
@pytest.mark.parametrize("document", WITH_RUNS, ids=lambda path: path.name)
def test_commands_and_scripts_print_what_the_document_shows(document: Path, tmp_path: Path):
    found = list(blocks(document))
    with (tmp_path / "out").open("wb") as out, served(tmp_path, out=out) as server:
        run_commands(found, server)
        run_scripts(found, server)
    for block in found:
        if block.text.startswith("Flagstaff listens on"):
            assert matches(block.text, (tmp_path / "out").read_text())


@pytest.mark.slow
def test_a_wrong_setting_is_reported_as_shown(tmp_path: Path):
    [shown] = [b.text for b in all_blocks() if b.text.startswith("flagstaff: FLAGSTAFF_PORT")]
    done = subprocess.run(
        [sys.executable, *FLAGSTAFF],
        env={"FLAGSTAFF_PORT": "99999", "FLAGSTAFF_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == shown


@pytest.mark.parametrize(
    "line", dict.fromkeys(line for b in all_blocks() if b.language == "sh" for line in b.lines)
)
def test_every_command_that_people_can_type_exists(line: str):
    words = [word for word in shlex.split(line) if not re.match(r"\w+=", word)]
    if not words or words[0] == "export":
        return
    program = Path(words[0]).name
    if program == "make":
        assert re.search(rf"^{words[1]}:", ROOT.joinpath("Makefile").read_text(), re.MULTILINE)
    elif program == "flagstaff":
        check_command(words[1:])
    elif program == "python":
        assert words[1] == "-m"
        assert find_spec(words[2]) is not None
    else:
        assert program in NOT_OURS


@pytest.mark.parametrize(
    "block",
    [
        block
        for block in all_blocks()
        if block.language in {"python", "jinja"} and not block.runs and block.document != ADDING
    ],
    ids=lambda block: f"{block.document.name}: {block.text.splitlines()[0]}",
)
def test_snippets_are_in_the_files_that_they_name(block: Block):
    first, _, rest = block.text.partition("\n")
    source = ROOT.joinpath(first.strip("{}# ")).read_text("utf-8")
    position = 0
    for part in re.split(r"^\s*…\n|…\n", rest, flags=re.MULTILINE):
        found = source.find(part.strip("\n"), position)
        assert found >= 0, part
        position = found + len(part)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_files_that_are_mentioned_exist(document: Path):
    mentioned = re.findall(
        r"`((?:app|tests|templates|static|migrations|docs)/[\w./]+)`", document.read_text("utf-8")
    )
    assert [
        path for path in mentioned if not ROOT.joinpath(path).exists() and path not in EXAMPLES
    ] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files_and_headings_that_exist(document: Path):
    text = document.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#:]*(?:#[\w-]+)?)\)", text):
        path, _, heading = target.partition("#")
        linked = document.parent / path if path else document
        assert linked.exists(), target
        if heading:
            titles = re.findall(r"^#+ (.*)$", linked.read_text("utf-8"), re.MULTILINE)
            assert heading in {re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles}


@contextmanager
def served(home: Path, **options: object) -> Iterator[Server]:
    with running(
        FLAGSTAFF, "/ready", HOME=str(home / "home"), BOOTSTRAP_TOKEN=TOKEN, **options
    ) as server:
        yield server


def run_commands(found: list[Block], server: Server) -> None:
    """Run the ``bash`` blocks as one script, since they share variables and functions."""
    commands = [block for block in found if block.language == "bash"]
    script = f"\nprintf '{BETWEEN}'\n".join(block.text for block in commands)
    script = script.replace("127.0.0.1:4242", f"127.0.0.1:{server.port}")
    printed = run(["bash", "-c", f"set -e\n{script}"], server).split(BETWEEN)
    for block, output in zip(commands, printed, strict=True):
        shown = f"{block.text}\nprinted\n{output}\ninstead of\n{block.output}"
        assert matches(block.output or "", output), shown


def run_scripts(found: list[Block], server: Server) -> None:
    for block in found:
        if block.runs and block.language == "python":
            assert run([sys.executable, "-c", block.text], server) == block.output


def run(command: list[str], server: Server) -> str:
    done = subprocess.run(
        command,
        env=os.environ | {"FLAGSTAFF_URL": server.address, "FLAGSTAFF_TOKEN": TOKEN},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check_command(words: list[str]) -> None:
    """The command line of ``flagstaff`` has this command with these options."""
    command: click.Command | None = cli
    while isinstance(command, click.Group):
        command = command.get_command(click.Context(command), words[0])
        words = words[1:]
    assert command is not None
    known = {name for parameter in command.params for name in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known
