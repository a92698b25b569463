"""Install the packages that the lists beside this file name into ``.venv``, and check them.

``install.py`` installs what Flagstaff needs to run, ``install.py test`` the packages of
``test.txt`` too. The lists are complete, so pip resolves and builds nothing, and what others
publish later changes nothing. What is installed already is left alone. ``make pins`` writes the
lists.

Uses the standard library alone, and no syntax newer than Python 3.7, so that a Python that is too
old for Flagstaff can say so.
"""

import hashlib
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
OLDEST = (3, 11)

NAMES = {"run": "Flagstaff needs", "test": "its tests need", "dist": "its packaging needs"}
FAULTS = {
    r"No space left on device": (
        "The disk is full. Make room for 700 MB in {root} and in the temporary folder."
    ),
    r"ensurepip is not|No module named '?(venv|ensurepip)": (
        "This Python can't create virtual environments. Install its module venv, on Debian and"
        " Ubuntu with: apt-get install python3-venv"
    ),
    r"Permission denied|Read-only file system": (
        "You may not write to {root}. Change its owner, or clone into a folder of your own."
    ),
    r"DO NOT MATCH THE HASHES": (
        "A package is not the one that .pins names. Look for a damaged download, or a proxy that"
        " changes files."
    ),
    r"[Cc]onnection|name resolution|NameResolution|timed out|ProxyError|SSLError": (
        "The package index does not answer. Check the network, or name another index in"
        " PIP_INDEX_URL."
    ),
    r"No matching distribution": (
        "The package index lacks a package of .pins, or has no build of it for this machine. Use"
        " Python 3.11 to 3.14 on Linux or macOS."
    ),
}
"""What the output of a failed command says, and what to do about it. The first match counts."""


def main(names):
    if sys.version_info < OLDEST:
        stop(
            f"Flagstaff needs Python 3.11 or newer, and this is {platform.python_version()}."
            " Name a newer one: make run PYTHON=/path/to/python3"
        )
    for name in ("build", "run", *names):
        check_list(name)
    create_environment()
    install("run", "build", "run")
    for name in names:
        install(name, name)


def check_list(name):
    """Refuse a list that has anything but exact versions with hashes."""
    path = path_of(name)
    entry = r"[a-z0-9.-]+==[^ ;]+( ; [^\\\n]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+\n"
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        stop(f"{path.relative_to(ROOT)} can't be read: {error}")
    whole = re.match(f"({entry})*", text).end()
    if whole < len(text) or not text:
        line = text.count("\n", 0, whole) + 1
        stop(
            f"{path.relative_to(ROOT)} is damaged from line {line} on. Get it back with:"
            " git checkout .pins"
        )


def create_environment():
    """Make ``.venv``, again if it was moved, was made by another Python, or was left half made."""
    place = f"{ROOT} {version()}"
    if is_done("venv", place):
        return
    say(f"Creating .venv with Python {platform.python_version()} …")
    try:
        run(sys.executable, "-m", "venv", "--clear", "--without-pip", VENV)
        # By itself, since venv would not say why it failed.
        run(PYTHON, "-m", "ensurepip", "--default-pip")
    except SystemExit:
        shutil.rmtree(VENV, ignore_errors=True)
        raise
    finish("venv", f"{ROOT} {version()}")


def version():
    """Return the version of the Python that ``.venv`` has now; it changes with the system's."""
    if not PYTHON.exists():
        return "none"
    return subprocess.run([str(PYTHON), "-V"], stdout=subprocess.PIPE, check=False).stdout.decode()


def install(name, *lists):
    """Install what ``lists`` name, and with ``run`` Flagstaff itself, from this folder."""
    paths = [path_of(each) for each in lists]
    contents = b"".join(path.read_bytes() for path in paths)
    package = (ROOT / "pyproject.toml").read_bytes() if name == "run" else b""
    state = hashlib.sha256(contents + package).hexdigest()
    if is_done(name, state):
        return
    number = sum(b"==" in line for line in contents.splitlines())
    say(f"Installing {number} packages that {NAMES[name]} …")
    exact = ("--no-deps", "--require-hashes", "--only-binary", ":all:")
    pip("install", *exact, *(word for path in paths for word in ("-r", path)))
    if name == "run":
        pip("install", "--no-deps", "--no-index", "--no-build-isolation", "-e", ROOT)
    pip("check")
    finish(name, state)


def path_of(name):
    return ROOT / ".pins" / f"{name}.txt"


def is_done(name, state):
    try:
        return (VENV / f".{name}").read_text("utf-8") == state
    except OSError:
        return False


def finish(name, state):
    try:
        (VENV / f".{name}").write_text(state, "utf-8")
    except OSError as error:
        explain(str(error))


def pip(*words):
    run(PYTHON, "-m", "pip", "--disable-pip-version-check", *words)


def run(*words):
    """Run a command, or stop and say what to do about its fault."""
    done = subprocess.run(
        [*map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if done.returncode:
        explain(done.stdout.decode(errors="replace"))


def explain(output):
    for pattern, remedy in FAULTS.items():
        if re.search(pattern, output):
            stop(remedy.format(root=ROOT))
    print(output)
    stop("The packages could not be installed; pip says why above.")


def say(text):
    print(text, flush=True)


def stop(text):
    sys.exit(text)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        stop("Stopped. Run it again to go on.")
