"""The page that proposes to switch many features, as one change request.

The query string says what to switch, as on the page that switches directly. Or it has ``batch``:
switches made there, to be undone.
"""

from dataclasses import dataclass
from typing import Any

from flask import request, url_for
from flask.typing import ResponseReturnValue
from wtforms import StringField

from app.catalogue.features import selections
from app.catalogue.features.changes import ChangesByFeature
from app.catalogue.features.forms import cut
from app.catalogue.features.selections import ResolvedSelection
from app.catalogue.projects import service as projects
from app.catalogue.strategies import queries, words
from app.catalogue.strategies import service as strategies
from app.core.errors import ChangedSinceReview
from app.core.permissions import Permission
from app.core.words import counted
from app.releases.change_requests import proposals, proposed, schemas, service
from app.releases.change_requests.models import ChangeRequest
from app.releases.change_requests.pages_proposing import propose, to_draft
from app.releases.change_requests.proposed import Proposed
from app.releases.switching import service as switching
from app.releases.switching.pages_bulk import WAYS, sign
from app.releases.switching.service import Preview
from app.web import signing
from app.web.current import current_actor
from app.web.forms import SchemaForm, show_review, submit
from app.web.routes import PageBlueprint

bp = PageBlueprint(
    "proposal_bulk_pages", __name__, url_prefix="/projects/<key:project_id>/switch/propose"
)

SWITCH = Permission.UPDATE_FEATURE_ENVIRONMENT


class TitleForm(SchemaForm):
    schema = schemas.NewTitle

    title = StringField("Title of the change request", description="If it is a new one.")


@dataclass(frozen=True, slots=True)
class Asked:
    """What to switch. ``proposed``: features that an open change request already switches so."""

    environment: str
    on: bool
    preview: Preview
    proposed: list[Proposed]
    selection: ResolvedSelection | None

    @property
    def facts(self) -> ChangesByFeature:
        """The changes that are not proposed yet."""
        proposed = {each.feature for each in self.proposed}
        return [change for change in self.preview.facts if change[0] not in proposed]

    @property
    def names(self) -> list[str]:
        return [name for name, *_ in self.facts]

    @property
    def archived(self) -> list[str]:
        more = self.selection.archived if self.selection else []
        return sorted({*self.preview.archived, *more})

    @property
    def unknown(self) -> list[str]:
        """Names that are not features of the project."""
        return self.selection.left_out if self.selection else []

    @property
    def total(self) -> int:
        return (
            len(self.preview.facts)
            + len(self.preview.unchanged)
            + len(self.archived)
            + len(self.unknown)
        )


@bp.get("", needs=SWITCH)
def review(project_id: str) -> ResponseReturnValue:
    """Show what can be proposed."""
    asked = _asked(project_id)
    return _page(project_id, asked, TitleForm(data={"title": _title(asked, asked.names)}))


@bp.post("", needs=SWITCH)
def add(project_id: str) -> ResponseReturnValue:
    """Add the changes to the reader’s draft, if they are still what was shown."""
    asked = _asked(project_id)
    form = TitleForm(data={"title": _title(asked, asked.names)})
    shown: ChangesByFeature = signing.read(
        "review", _subject(project_id), request.form.get("plan", "")
    )

    def command() -> ChangeRequest:
        if shown != asked.facts:
            raise ChangedSinceReview
        switches = proposals.switching(asked.names, on=asked.on)
        draft = propose(project_id, asked.environment, switches)
        title = draft.title or form.values["title"]
        service.describe(current_actor, draft, title=title, description=draft.description)
        return draft

    draft = submit(form, command)
    return to_draft(draft) if draft else _page(project_id, asked, form, shown)


def _asked(project_id: str) -> Asked:
    selection = None
    if batch_id := request.args.get("batch"):
        environment, names, on = switching.reversal(current_actor, project_id, batch_id)
    else:
        selection = selections.get(current_actor, project_id, request.args.get("selection", ""))
        names, environment = selection.active, request.args.get("environment", "")
        on = WAYS.get(request.args.get("to", ""), False)
    preview = switching.preview(current_actor, project_id, environment, names, on=on)
    found = proposed.switching(current_actor, project_id, environment, preview.ids.values(), on=on)
    return Asked(environment, on, preview, found, selection)


def _page(
    project_id: str, asked: Asked, form: TitleForm, shown: ChangesByFeature | None = None
) -> ResponseReturnValue:
    """``shown``: the plan shown before, if submitting it was refused."""
    preview, facts = asked.preview, asked.facts
    has = queries.strategies_in(asked.environment, preview.ids.values()) if asked.on else {}
    who = {
        name: " or ".join(_lower(words.summary(each)) for each in has.get(id, ()))
        for name, id in preview.ids.items()
    }
    given = set(preview.given_strategy)
    use = strategies.project_environment(project_id, asked.environment)
    url, direct_plan = _direct(project_id, asked)
    return show_review(
        "releases/change_requests/bulk_review.html",
        form,
        facts,
        shown,
        overview=projects.overview(current_actor, project_id),
        asked=asked,
        title=_title(asked, [name for name, *_ in preview.facts]),
        keep=[(name, who[name]) for name in asked.names if name not in given],
        given=[name for name in asked.names if name in given],
        default=_lower(words.summary(preview.default)) if preview.default else "",
        verdict=_verdict(asked, use.required_approvals),
        plan=signing.sign("review", _subject(project_id), facts),
        direct=url,
        direct_plan=direct_plan,
        way=_word(asked),
        body=_body(asked),
    )


def _title(asked: Asked, names: list[str]) -> str:
    return f"Switch {_word(asked)} {counted(len(names), 'feature')} in {asked.environment}"


def _verdict(asked: Asked, approvals: int) -> tuple[str, str]:
    """How many features can be proposed, and how many approvals they wait for."""
    able = len(asked.names)
    can = f"{able:,} of {counted(asked.total, 'feature')} can be proposed."
    people = "1 person approves" if approvals == 1 else f"{approvals} people approve"
    needs = f"Changes in {asked.environment} need {counted(approvals, 'approval')}"
    return can, f"{needs}, so nothing switches {_word(asked)} until {people}."


def _direct(project_id: str, asked: Asked) -> tuple[str, str]:
    """URL where an Admin switches them without approval, and the signed plan to send there."""
    way = "undo" if asked.selection is None else "apply"
    names = {"undo": ("batch",), "apply": ("to", "environment", "selection")}[way]
    given: dict[str, Any] = {name: request.args.get(name) for name in names}
    url = url_for(f"bulk_switching_pages.{way}", project_id=project_id, **given)
    return url, sign(project_id, asked.preview.facts)


def _body(asked: Asked) -> list[dict[str, Any]]:
    """Body of the equivalent API request."""
    return [
        {"feature": name, "action": "updateEnabled", "payload": {"enabled": asked.on}}
        for name in cut(asked.names)
    ]


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _subject(project_id: str) -> str:
    return f"proposing to switch in {project_id}"


def _word(asked: Asked) -> str:
    return "on" if asked.on else "off"
