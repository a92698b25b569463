"""Commands for releases in steps."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import click

from app.catalogue.projects.queries import needing_approval
from app.catalogue.releases.models import OPEN, ReleaseState
from app.catalogue.releases.queries import Located
from app.catalogue.strategies.words import together
from app.core.actor import Actor
from app.core.errors import NeedsApprovals, NotFound
from app.core.words import lasting
from app.operations.cli.commands import (
    UNLIMITED,
    Command,
    Output,
    change_command,
    query_command,
    table,
    validated,
)
from app.operations.cli.proposing import do_or_propose
from app.operations.cli.release_templates import BY_HAND, FIRST, template_group, template_named
from app.releases.change_requests import proposals
from app.releases.plans import acts, review, schemas, service, views
from app.releases.plans.review import Review
from app.releases.plans.service import ENDINGS
from app.releases.plans.views import ReleaseView, Stage, StepView
from app.web.schemas import Timestamp

PLACE = ("feature", "project", "environment")
UNDER_WAY = (*PLACE, "where it is", "next (UTC)", "created by")
ENDED = (*PLACE, "how it ended", "ended (UTC)", "ended by")

_states = click.Choice([state.value for state in ReleaseState])


class _Start(schemas.ReleaseFields):
    start_at = Timestamp(data_key="at")


def _of_feature(command: Command) -> Command:
    """The arguments and the option that say which release."""
    command = click.option("--environment", required=True, help="Where the release is.")(command)
    return click.argument("project")(click.argument("feature")(command))


@click.group()
def release() -> None:
    """Manage releases, which open a FEATURE of a PROJECT in steps in an environment."""


@release.command("list")
@click.option("--project", help="Only of this project.")
@click.option("--environment", help="Only in this environment.")
@click.option("--feature", help="Only of this feature.")
@click.option("--state", type=_states, help="Only in this state, such as held: on hold.")
@click.option("--ended", is_flag=True, help="Those that are done, were stopped or left instead.")
@query_command
def list_releases(actor: Actor, *, state: str | None, ended: bool, **given: str | None) -> Output:
    """List the releases under way, those that need someone first."""
    is_ended = ended or state not in {None, *OPEN}
    given |= {"state": state, "open": str(not is_ended).lower()}
    query = validated(schemas.ReleaseQuery, given) | {"limit": UNLIMITED}
    page = service.search(actor, **query)
    found = page.of(views.of(page.items))
    text = table(ENDED if is_ended else UNDER_WAY, map(_row, found.items))
    return Output(schemas.ReleaseList().dump(found), text)


@release.command()
@_of_feature
@query_command
def show(actor: Actor, project: str, feature: str, environment: str) -> Output:
    """Show the release under way, or the one that ended last, with its steps."""
    view = views.one(_latest(actor, project, feature, environment))
    rows = (
        (step.number, step.name, step.stage.value, _when(view, step), together(step.strategies))
        for step in view.steps
    )
    steps = table(("step", "name", "state", "when (UTC)", "who gets it"), rows)
    return Output(schemas.ReleaseRow().dump(view), f"{_said(view)}\n\n{steps}")


@release.command()
@_of_feature
@click.option("--template", required=True, metavar="NAME", help="Its steps: a name or an id.")
@click.option("--at", metavar="TIME", help="Start it by itself then, such as 2026-11-24T07:00:00Z.")
@click.option(
    "--when-stopped",
    type=click.Choice(ENDINGS),
    help="What stopping does: switch off (the default), or restore the former strategies.",
)
@change_command
def start(
    actor: Actor,
    project: str,
    feature: str,
    environment: str,
    *,
    template: str,
    at: str | None,
    when_stopped: str | None,
) -> Output:
    """Start a release from a template. With --dry-run, see what each step will mean.

    Where changes need approvals, this opens a change request for all steps at once. With --reason,
    it starts at once, unless it starts at a time.
    """
    id = template_named(actor, template, project).id
    given = {"templateId": id, "at": at, "whenStopped": when_stopped}
    wish: Any = validated(_Start, given)
    reviewed = review.of_release(service.draft(actor, project, feature, environment, wish)).review

    def act() -> Output:
        if at is not None:
            _require_no_approval(project, environment)
        return _output(
            service.create(actor, project, feature, environment, start=at is None, **wish)
        )

    done = do_or_propose(actor, act, lambda: proposals.releasing(feature, wish))
    done = replace(done, data=done.data | {"review": schemas.ReleaseReview().dump(reviewed)})
    if click.get_current_context().params["dry_run"]:
        when = "now" if at is None else "at that time"
        done = replace(done, text=f"If it starts {when}:\n{_reviewed(reviewed)}\n\n{done.text}")
    return done


@release.command("next")
@_of_feature
@change_command
def start_next(actor: Actor, project: str, feature: str, environment: str) -> Output:
    """Start the next step now.

    Where changes need approvals, this opens a change request if the waiting time isn’t over. With
    --reason, the step starts at once.
    """
    found = _for_change(actor, project, feature, environment)

    def act() -> Output:
        acts.start(actor, found)
        return _output(found)

    return do_or_propose(actor, act, lambda: proposals.next_step(found))


@release.command()
@_of_feature
@change_command
def hold(actor: Actor, project: str, feature: str, environment: str) -> Output:
    """Put a release on hold: no step starts until someone resumes it. It needs no approval."""
    found = _for_change(actor, project, feature, environment)
    acts.hold(actor, found, actor.reason or None)
    return _output(found)


@release.command()
@_of_feature
@change_command
def resume(actor: Actor, project: str, feature: str, environment: str) -> Output:
    """Resume a release that is on hold. The waiting time of its step starts again."""
    found = _for_change(actor, project, feature, environment)
    acts.resume(actor, found)
    return _output(found)


@release.command()
@_of_feature
@change_command
def stop(actor: Actor, project: str, feature: str, environment: str) -> Output:
    """Stop a release: the feature goes off, or gets its former strategies back.

    It needs no approval.
    """
    found = _for_change(actor, project, feature, environment)
    acts.stop(actor, found, actor.reason or None)
    return _output(found)


@release.command()
@_of_feature
@change_command
def leave(actor: Actor, project: str, feature: str, environment: str) -> Output:
    """Leave a release: nothing changes for applications, and no further step starts."""
    found = _for_change(actor, project, feature, environment)
    acts.leave(actor, found)
    return _output(found)


release.add_command(template_group)


def _latest(actor: Actor, project: str, feature: str, environment: str) -> Located:
    """The release under way, or the one that ended last."""
    found = service.latest(actor, project, feature, environment)
    if found is None:
        raise NotFound(f"{feature} has no release in {environment}.")
    return found


def _for_change(actor: Actor, project: str, feature: str, environment: str) -> Located:
    id = _latest(actor, project, feature, environment).release.id
    return service.get(actor, project, feature, environment, id, for_change=True)


def _require_no_approval(project: str, environment: str) -> None:
    """Refuse to create a release that couldn’t start at its time, since no one approved it."""
    if needing_approval(project, [environment]):
        refusal = NeedsApprovals(f"A release that starts at a time needs one in {environment}.")
        refusal.place = project, environment
        raise refusal


def _output(found: Located) -> Output:
    view = views.one(found)
    return Output(schemas.ReleaseRow().dump(view), _said(view))


def _said(view: ReleaseView) -> str:
    """Where a release is, and in a second line what happens if no one does anything."""
    return "\n".join(filter(None, [view.headline, _prospect(view)]))


def _prospect(view: ReleaseView) -> str:
    release = view.release
    if release.state is ReleaseState.STOPPED:
        why = f": {release.reason}" if release.reason else "."
        came = "Its former strategies came back." if release.restores else "The feature went off."
        return f"{came} {view.ender} stopped it{why}"
    if release.state is ReleaseState.LEFT:
        return "The strategies belong to the feature again." if view.step else ""
    if view.held_since is not None:
        since = f"Since {_at(view.held_since)} UTC, by {view.holder}."
        return f"{since} Nothing moves until someone resumes or stops the release."
    if view.next is None:
        return f"It took {lasting(view.took)}."
    failed = f"It couldn’t start: {release.reason}\n" if release.reason else ""
    return f"{failed}Step {view.next.number}, {view.next.name}, {_begins(view)}"


def _begins(view: ReleaseView) -> str:
    """How the next step starts, to end a sentence."""
    release = view.release
    if release.next_at is None or view.waits:
        return "waits for someone to start it."
    if release.is_automatic:
        return f"starts automatically at {_at(release.next_at)} UTC."
    return f"can start at {_at(release.next_at)} UTC, {BY_HAND}."


def _row(view: ReleaseView) -> tuple[object, ...]:
    release = view.release
    place = view.feature, view.project_id, release.environment, view.headline
    if release.ended_at is not None:
        return *place, _at(release.ended_at), view.ender
    return *place, _next(view), view.creator


def _next(view: ReleaseView) -> str:
    """When the next step starts, or that it waits for someone."""
    release = view.release
    if release.state is ReleaseState.HELD:
        return "no date"
    if release.next_at is None or view.waits:
        return "someone"
    return f"{'' if release.is_automatic else 'someone, from '}{_at(release.next_at)}"


def _when(view: ReleaseView, step: StepView) -> str:
    """When a step started, or how it can start."""
    release = view.release
    if step.started_at is not None:
        end = step.ended_at or (None if step.stage is Stage.DONE else release.ended_at)
        return f"{_at(step.started_at)} to {_at(end)}" if end else f"since {_at(step.started_at)}"
    if step.stage not in {Stage.NEXT, Stage.LATER}:
        return ""
    by_hand = not release.is_automatic if step is view.next else step.by_hand
    has_dates = release.position is not None or release.is_automatic
    at = _at(step.due_at) if step.due_at and has_dates else ""
    return f"{f'from {at}, ' if at else ''}{BY_HAND}" if by_hand else at


def _reviewed(found: Review) -> str:
    """What each step will mean, what to watch out for, and when a few people would get it."""
    starts = [BY_HAND if step.starts == "by hand" else step.starts for step in found.steps]
    rows = (
        (place + 1, step.name, step.due_at and _at(step.due_at), how, step.says)
        for place, (step, how) in enumerate(zip(found.steps, [FIRST, *starts[1:]], strict=True))
    )
    columns = ("step", "name", "earliest (UTC)", "starts", "who gets it")
    people = (
        (one.person, f"at step {one.step}" if one.step else "never", one.why)
        for one in found.people
    )
    warnings = "".join(f"\n{warning}" for warning in found.warnings)
    samples = table(("person", "gets it", "why"), people)
    return f"{table(columns, rows)}{warnings}\n\n{samples}"


def _at(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"
