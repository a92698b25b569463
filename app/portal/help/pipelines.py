"""Pipelines that plan on pull requests and apply on main, as the help shows them."""

PLAN = "flagstaff apply flagstaff.yaml --plan --exit-code || test $? -eq 3"
APPLY = "flagstaff apply flagstaff.yaml --yes"

_WORKFLOW = """\
name: Flagstaff
on:
  pull_request:
  push:
    branches: [main]
concurrency: flagstaff-${{ github.ref }}
env:
  FLAGSTAFF_SERVER: ADDRESS
  FLAGSTAFF_TOKEN: ${{ secrets.FLAGSTAFF_TOKEN }}
jobs:
  configuration:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install flagstaff
      - name: Show what would change
        if: github.event_name == 'pull_request'
        run: PLAN
      - name: Apply
        if: github.event_name == 'push'
        run: APPLY
"""
_SCRIPT = """\
#!/bin/sh
# The pipeline sets FLAGSTAFF_TOKEN and BRANCH.
set -eu
export FLAGSTAFF_SERVER=ADDRESS
if [ "$BRANCH" = main ]; then
  APPLY
else
  PLAN
fi
"""


def workflow(address: str) -> str:
    """For GitHub Actions. ``address``: of the server."""
    return _filled(_WORKFLOW, address)


def script(address: str) -> str:
    """For any other pipeline, in a shell."""
    return _filled(_SCRIPT, address)


def _filled(text: str, address: str) -> str:
    return text.replace("ADDRESS", address).replace("PLAN", PLAN).replace("APPLY", APPLY)
