"""Give what is unreleased a version: ``release.py 1.2.3``.

It dates the section of the changelog, sets the version of the package, commits both and tags the
commit. Publishing is up to whoever pushes the tag.
"""

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

CHANGELOG, PROJECT = Path("CHANGELOG.md"), Path("pyproject.toml")
HEADING = "## [Unreleased]\n"
VERSION = re.compile(r'^version = "(\d+)\.(\d+)\.(\d+)"$', re.MULTILINE)


def main(version: str) -> None:
    found = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", version)
    if found is None:
        sys.exit("Name the version in three numbers: make release VERSION=1.2.3")
    if git("status", "--porcelain", "--untracked-files=no"):
        sys.exit("There are changes that are not committed. Commit or stash them first.")
    changes, project = CHANGELOG.read_text("utf-8"), PROJECT.read_text("utf-8")
    before = VERSION.search(project)
    if before is None or tuple(map(int, found.groups())) <= tuple(map(int, before.groups())):
        sys.exit(f"{version} is not newer than what pyproject.toml says.")
    start, _, rest = changes.partition(HEADING)
    if not rest.partition("\n## ")[0].strip():
        sys.exit("CHANGELOG.md has nothing under Unreleased.")
    dated = f"{HEADING}\n## [{version}] - {datetime.now(UTC):%Y-%m-%d}\n"
    CHANGELOG.write_text(start + dated + rest, "utf-8")
    PROJECT.write_text(VERSION.sub(f'version = "{version}"', project, count=1), "utf-8")
    git("commit", "--quiet", "--all", "--message", f"Release {version}")
    git("tag", "--annotate", f"v{version}", "--message", f"Flagstaff {version}")
    print(f"Committed and tagged v{version}. Next: make dist, then git push --follow-tags")


def git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
