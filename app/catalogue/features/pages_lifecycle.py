"""Marking a feature as completed, and undoing that."""

from itertools import chain

from flask import flash
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.features import lifecycle, service
from app.catalogue.features.forms import COMPLETIONS, CompletionForm
from app.catalogue.features.models import Feature
from app.catalogue.features.queries import FeatureView
from app.catalogue.projects import service as projects
from app.core.permissions import Permission
from app.web.current import current_actor
from app.web.forms import show_form, submitted
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint(
    "lifecycle_pages", __name__, url_prefix="/projects/<key:project_id>/features/<key:name>"
)


@bp.form("/complete", needs=Permission.UPDATE_FEATURE)
def complete(project_id: str, name: str) -> ResponseReturnValue:
    """Mark a feature as completed, with its outcome."""
    view = service.get(current_actor, project_id, name)
    form = CompletionForm(data=_completion_of(view.feature))
    if submitted(form, lambda: _complete(project_id, name, form)):
        flash(f"Feature {name} marked as completed.", "ok")
        return _settings(project_id, name)
    return show_form(
        "catalogue/features/complete.html",
        form,
        overview=projects.overview(current_actor, project_id),
        view=view,
        completions=COMPLETIONS,
        variants=_variants_of(view),
    )


@bp.post("/uncomplete", needs=Permission.UPDATE_FEATURE)
def uncomplete(project_id: str, name: str) -> Response:
    """Mark a feature as not completed."""
    feature = service.lock_for_change(current_actor, project_id, name)
    lifecycle.uncomplete(current_actor, feature)
    flash(f"Feature {name} is no longer marked as completed.", "ok")
    return _settings(project_id, name)


def _complete(project_id: str, name: str, form: CompletionForm) -> None:
    feature = service.lock_for_change(current_actor, project_id, name)
    lifecycle.complete(current_actor, feature, **form.values)


def _completion_of(feature: Feature) -> dict[str, str]:
    """Values for the form's fields; empty if the feature isn't completed."""
    if feature.completed_status is None:
        return {}
    return {
        "status": feature.completed_status.value,
        "status_value": feature.completed_value or "",
    }


def _variants_of(view: FeatureView) -> list[str]:
    """Names of variants in all environments, of the feature and of its strategies."""
    found = [
        variant["name"]
        for state in view.environments
        for variant in chain(state.variants, *(strategy.variants for strategy in state.strategies))
    ]
    return list(dict.fromkeys(found))


def _settings(project_id: str, name: str) -> Response:
    return redirect_to("feature_settings_pages.settings", project_id=project_id, name=name)
