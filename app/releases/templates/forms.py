"""Steps as entries of a form: who gets the feature, and how long the next step waits.

No one loses the feature on the way: a step in the form adds to what earlier ones give. Strategies
that the form can’t show, such as those with constraints or variants, are kept as they are.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from wtforms import BooleanField, RadioField, SelectField, StringField

from app.catalogue.releases.models import ReleaseTemplate, Step, StepStrategy
from app.catalogue.segments.models import Segment
from app.catalogue.strategies import types
from app.catalogue.strategies.service import blank
from app.catalogue.strategies.words import together
from app.releases.templates import schemas
from app.releases.templates.steps import fields, models
from app.web.conflicts import Values
from app.web.forms import ReasonField
from app.web.parts import Inputs, PartKind, PartsForm

SHARE, EVERYONE, SEGMENT, KEPT = "share", "everyone", "segment-", "kept"
"""Who gets the feature at a step. The id follows SEGMENT."""
AUTOMATIC, BY_HAND = "automatic", "hand"
STEP = PartKind(
    path="milestones",
    title="Step",
    empty={"name": "", "who": SHARE, "share": "", "wait": "1440", "kept": ""},
    main="share",
)
FIRST: Inputs = {**STEP.empty, "share": "5"}
WAITS = {
    "60": "1 hour",
    "120": "2 hours",
    "240": "4 hours",
    "1440": "24 hours",
    "2880": "48 hours",
    "10080": "7 days",
    "": "Until someone starts the next",
}
"""Waiting times to choose from, by minutes."""
LABELS = {
    "name": "Name",
    "description": "Description",
    "milestones": "Steps",
    "advance": "Next steps start",
    "last": "Someone always starts the last step",
}
"""What someone else can change while a template is edited."""


class StepsForm(PartsForm):
    """A form with steps. ``segments``: those that strategies can use."""

    kinds = {"step": STEP}  # noqa: RUF012 - read from the class

    advance = RadioField("Next steps start", choices=[AUTOMATIC, BY_HAND])
    last = BooleanField("Someone always starts the last step")

    def __init__(self, segments: Sequence[Segment], data: Values) -> None:
        super().__init__(data)
        self.segments = {segment.id: segment for segment in segments}

    def payload(self) -> dict[str, Any]:
        return super().payload() | {"milestones": list(self.steps())}

    def validate(self, extra_validators: Any = None) -> bool:
        super().validate(extra_validators)
        self.check_shares()
        return not self.problems

    def check_shares(self) -> None:
        """Show shares that do not grow as problems."""
        most, at = 0, 0
        for number, entry in enumerate(self.parts["step"]):
            share = int(entry["share"]) if entry["share"].strip().isdecimal() else None
            if entry["who"] == SHARE and share is not None:
                if share <= most:
                    message = f"Enter more than {most}, the share of step {at}."
                    self.show([(f"/milestones/{number}/share", message)])
                most, at = max(most, share), number + 1

    def choices(self, entry: Inputs) -> list[tuple[str, str]]:
        """Who can get the feature at this step: (value, words)."""
        found = [(SHARE, "Share of users"), (EVERYONE, "Everyone")]
        found += [(f"{SEGMENT}{id}", f"Segment {one.name}") for id, one in self.segments.items()]
        if entry["kept"]:
            kept, _ = _kept(entry)
            own = models([_complete(each) for each in kept], self.segments)
            found.append((KEPT, _capitalized(together(own).removeprefix("On for "))))
        return found

    def waits(self, entry: Inputs) -> list[tuple[str, str]]:
        """Waiting times to choose from: (minutes, words)."""
        own = entry["wait"]
        extra = [] if own in WAITS or not own.isdecimal() else [(own, f"{int(own):,} minutes")]
        return [*extra, *WAITS.items()]

    def steps(self) -> Iterator[dict[str, Any]]:
        """The steps as clients send them."""
        entries = self.parts["step"]
        base: list[dict[str, Any]] = []
        for number, entry in enumerate(entries):
            own, is_whole = self._own(entry)
            adds = entry["who"] != EVERYONE and not is_whole
            step = {
                "name": entry["name"].strip() or self._name(entry),
                "strategies": [*base, *own] if adds else own,
            }
            if number < len(entries) - 1:
                step["transitionCondition"] = self._transition(entry, number, len(entries))
            if adds and entry["who"] != SHARE:
                base += own
            yield step

    def _own(self, entry: Inputs) -> tuple[list[dict[str, Any]], bool]:
        """The strategies that a step adds; whether they are all that it has."""
        who = entry["who"]
        if who == KEPT:
            return _kept(entry)
        own: dict[str, Any] = {"name": types.ROLLOUT, "parameters": {"rollout": "100"}}
        if who == SHARE:
            own["parameters"] = {"rollout": entry["share"].strip()}
        elif who.startswith(SEGMENT):
            id = who.removeprefix(SEGMENT)
            own["segments"] = [int(id) if id.isdecimal() else id]
        return [own], False

    def _name(self, entry: Inputs) -> str:
        """The name of a step that has none."""
        if entry["who"] == SHARE:
            return f"{entry['share'].strip()}%"
        named = {f"{SEGMENT}{id}": one.name for id, one in self.segments.items()}
        return named.get(entry["who"], "Everyone" if entry["who"] == EVERYONE else "Some people")

    def _transition(self, entry: Inputs, number: int, steps: int) -> dict[str, Any] | None:
        if not entry["wait"]:
            return None
        is_last = number == steps - 2
        by_hand = self.advance.data == BY_HAND or (is_last and bool(self.last.data))
        minutes = int(entry["wait"]) if entry["wait"].isdecimal() else entry["wait"]
        return {"intervalMinutes": minutes, "manual": by_hand}


class TemplateForm(StepsForm):
    """A template that can be saved. ``projects``: those that it can be for."""

    schema = schemas.TemplateInput

    name = StringField("Name")
    description = StringField("Description")
    project = SelectField("For")
    reason = ReasonField()

    def __init__(
        self, segments: Sequence[Segment], projects: Sequence[tuple[str, str]], data: Values
    ) -> None:
        super().__init__(segments, data)
        self.project.choices = projects


def form_data(template: ReleaseTemplate | None) -> Values:
    """The template as the form’s values; None: a new one."""
    if template is None:
        return {
            "name": "",
            "description": "",
            "project": "",
            **step_data([]),
            "milestones": [dict(FIRST), {**STEP.empty, "who": EVERYONE}],
        }
    return {
        "name": template.name,
        "description": template.description or "",
        "project": template.project_id or "",
        **step_data(template.steps),
    }


def display_values(values: Values) -> Values:
    """The values of a template in words."""
    steps = [
        f"{step['name']} ({_who(step)}, {WAITS.get(step['wait'], step['wait'] + ' minutes')})"
        for step in values["milestones"]
    ]
    return values | {"milestones": steps}


def _who(step: Inputs) -> str:
    """Who gets the feature at a step."""
    if step["who"] == SHARE:
        return f"{step['share']}% of users"
    if step["who"] == EVERYONE:
        return "everyone"
    return "a segment" if step["who"].startswith(SEGMENT) else "strategies of its own"


def step_data(steps: Sequence[Step]) -> Values:
    """Steps as values of the form."""
    entries: list[Inputs] = []
    base: list[dict[str, Any]] = []
    for step in steps:
        strategies = [_bare(each) for each in step["strategies"]]
        is_whole = strategies[:-1] != base and strategies != [_rollout(types.ALL)]
        entry = _entry(step, strategies[-1:], is_whole=is_whole)
        entries.append(entry)
        if not is_whole and entry["who"] not in {SHARE, EVERYONE}:
            base += strategies[-1:]
    waiting = [step["by_hand"] for step in steps[:-1] if step["seconds"] is not None]
    by_hand = bool(waiting) and all(waiting)
    return {
        "milestones": entries,
        "advance": BY_HAND if by_hand else AUTOMATIC,
        "last": not by_hand and (waiting[-1:] == [True] or not steps),
    }


def _entry(step: Step, own: list[dict[str, Any]], *, is_whole: bool) -> Inputs:
    entry = {**STEP.empty, "name": step["name"]}
    entry["wait"] = "" if step["seconds"] is None else str(step["seconds"] // 60)
    share = types.percent(own[0]["name"], own[0]["parameters"])
    id = own[0]["segments"][0] if len(own[0]["segments"]) == 1 else None
    if not is_whole and share is not None and own[0] == _rollout(share):
        who = EVERYONE if share == types.ALL else SHARE
        return entry | {"who": who, "share": "" if share == types.ALL else str(share)}
    if not is_whole and own[0] == _rollout(types.ALL) | {"segments": [id]}:
        return entry | {"who": f"{SEGMENT}{id}"}
    kept = step["strategies"] if is_whole else step["strategies"][-1:]
    return entry | {"who": KEPT, "kept": json.dumps({"whole": is_whole, "strategies": kept})}


def _rollout(share: int) -> dict[str, Any]:
    return {
        "name": types.ROLLOUT,
        "title": None,
        "disabled": False,
        "parameters": {"rollout": str(share)},
        "constraints": [],
        "segments": [],
        "variants": [],
    }


def _complete(given: dict[str, Any]) -> StepStrategy:
    """What ``StepStrategy`` loaded, with all fields."""
    whole: StepStrategy = {"id": "", "disabled": False, **blank(), **given}  # type: ignore[typeddict-item] # checked by the schema
    return whole


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def _bare(strategy: StepStrategy) -> dict[str, Any]:
    """The strategy without its id."""
    return dict(fields(strategy))


def _kept(entry: Inputs) -> tuple[list[dict[str, Any]], bool]:
    """The strategies that an entry keeps; whether they are all of its step.

    None, if someone changed the input by hand.
    """
    try:
        kept = json.loads(entry["kept"])
        return schemas.NewMilestoneStrategy(many=True).load(kept["strategies"]), kept[
            "whole"
        ] is True
    except (ValueError, TypeError, KeyError):  # of which ValidationError is one
        return [], True
