"""A template of a project, from which journeys start releases in steps."""

import re

from tests.journeys.instance import Instance

TEMPLATE = re.compile("^Quarter first")
"""What its name begins with."""


def new_template(instance: Instance, project: str, *, to_all: bool = True) -> str:
    """The id of a new template of this project: 25%, 50%, and then everyone, a day each.

    ``to_all``: whether it has the last step.
    """
    steps = [_step("25%", 25), _step("50%", 50), *([_step("Everyone", 100)] if to_all else [])]
    body = {"name": f"Quarter first in {project}", "milestones": steps}
    made = instance.api("POST", f"/projects/{project}/release-templates", body)
    return str(made["id"])


def _step(name: str, share: int) -> dict[str, object]:
    return {
        "name": name,
        "strategies": [{"name": "flexibleRollout", "parameters": {"rollout": str(share)}}],
        "transitionCondition": {"intervalMinutes": 24 * 60},
    }
