"""The tabs of a feature on which people change its settings, tags and parent."""

from collections.abc import Callable

from flask import render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.features import dependencies, links, service
from app.catalogue.features.forms import ENTERED, FeatureForm, LinksForm, ParentForm, parent_of
from app.catalogue.features.models import Feature
from app.catalogue.features.pages import SUGGESTIONS, about
from app.catalogue.features.queries import FeatureView
from app.catalogue.projects import service as projects
from app.catalogue.strategies.queries import ProjectUse
from app.core.events import service as events
from app.core.permissions import Access, Permission
from app.web.conflicts import EditPage, FieldConflict, StaleEdit, Values, flash_saved
from app.web.current import current_actor
from app.web.forms import show_form, submit
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint(
    "feature_settings_pages",
    __name__,
    url_prefix="/projects/<key:project_id>/features/<key:name>",
)


@bp.get("/settings", needs=Access.SIGNED_IN)
def settings(project_id: str, name: str) -> ResponseReturnValue:
    """Show the settings, with a form for people who may change them."""
    view = service.get(current_actor, project_id, name)
    return _settings_page(project_id, view, FeatureForm(data=FeatureForm.inputs_of(view.feature)))


@bp.post("/settings", needs=Permission.UPDATE_FEATURE)
def update(project_id: str, name: str) -> ResponseReturnValue:
    """Save, or if someone else changed the feature first, offer a choice for each field."""
    return change_settings(project_id, name, save_settings)


def save_settings(feature: Feature, values: Values) -> Response:
    """Save what the valid form of the settings has. Return the redirect."""
    actor = current_actor.for_act(events.new_batch())
    changed = service.update(actor, feature, **values)
    flash_saved(f"Feature {feature.name} saved.", changed=changed, batch=actor.batch_id)
    return redirect_to(
        "feature_settings_pages.settings", project_id=feature.project_id, name=feature.name
    )


def change_settings(
    project_id: str, name: str, save: Callable[[Feature, Values], Response]
) -> ResponseReturnValue:
    """Handle the form of the settings. ``save`` gets its values, and returns the redirect."""
    view = service.get_for_change(current_actor, project_id, name)
    present = FeatureForm.inputs_of(view.feature)
    form = FeatureForm(data=present)
    edit = _settings_edit(name)
    seen = edit.seen()
    for part in edit.taken_from_them():
        form[part].data = present[part]
    if "back" in request.form or not form.validate_on_submit():
        return _settings_page(project_id, view, form, seen)
    if conflicts := edit.field_conflicts(seen, present, form.settings):
        return _conflict_page(project_id, view, form, conflicts)
    done = submit(form, lambda: save(view.feature, form.values))
    return done or _settings_page(project_id, view, form, seen)


@bp.get("/links", needs=Permission.UPDATE_FEATURE)
def edit_links(project_id: str, name: str) -> ResponseReturnValue:
    """Show the links of a feature, to add, change and remove some."""
    return _links_edit(service.get(current_actor, project_id, name)).show()


@bp.post("/links", needs=Permission.UPDATE_FEATURE)
def save_links(project_id: str, name: str) -> ResponseReturnValue:
    """Save the links, unless someone else changed them first: then show what they changed."""
    view = service.get_for_change(current_actor, project_id, name)
    edit = _links_edit(view)
    if edit.form.take_step():
        return edit.show()
    batch = events.new_batch()

    def save() -> bool:
        return links.replace(current_actor.for_act(batch), view, edit.form.values["links"])

    settings = redirect_to(".settings", project_id=project_id, name=name)
    return edit.save(save, lambda: f"Links of {name} saved.", settings, batch=batch)


@bp.get("/tags", needs=Access.SIGNED_IN)
def tags(project_id: str, name: str) -> ResponseReturnValue:
    """Show tags, children, and the parent with a form for people who may choose it."""
    view = service.get(current_actor, project_id, name)
    return _tags_page(project_id, view, ParentForm(data=parent_of(view)))


@bp.post("/tags", needs=Permission.UPDATE_FEATURE_DEPENDENCY)
def choose_parent(project_id: str, name: str) -> ResponseReturnValue:
    """Save the parent, unless someone else changed it first: then show what they changed."""

    def save(parent: str | None) -> Response:
        if parent is None:
            changed = dependencies.remove(current_actor, project_id, name)
        else:
            changed = dependencies.add(current_actor, project_id, name, parent)
        flash_saved(f"Feature {name} saved.", changed=changed)
        return redirect_to(".tags", project_id=project_id, name=name)

    return change_parent(project_id, name, save)


def change_parent(
    project_id: str, name: str, save: Callable[[str | None], Response]
) -> ResponseReturnValue:
    """Handle the form of the parent. ``save`` gets its name or None, and returns the redirect."""
    view, form = service.get_for_change(current_actor, project_id, name), ParentForm()
    if before := _parent_edit(name).stale(parent_of(view)):
        return _tags_page(project_id, view, form, before)
    done = submit(form, lambda: save(form.values["parent"]))
    return done or _tags_page(project_id, view, form)


def _settings_edit(name: str) -> StaleEdit:
    return StaleEdit(f"feature {name}", FeatureForm(empty=True).labels)


def _parent_edit(name: str) -> StaleEdit:
    return StaleEdit(f"parent of {name}", {"parent": "Depends on"})


def _links_edit(view: FeatureView) -> EditPage[LinksForm]:
    project_id, present = view.feature.project_id, LinksForm.inputs_of(view)
    return EditPage(
        f"links of {view.feature.name}",
        "catalogue/features/links.html",
        LinksForm(present),
        present,
        lambda: {"overview": projects.overview(current_actor, project_id), "view": view},
        {"links": "Links"},
        lambda values: {"links": [link["title"] or link["url"] for link in values["links"]]},
    )


def _settings_page(
    project_id: str, view: FeatureView, form: FeatureForm, seen: Values | None = None
) -> ResponseReturnValue:
    return show_form(
        "catalogue/features/settings.html",
        form,
        seen=_settings_edit(view.feature.name).sign(seen or FeatureForm.inputs_of(view.feature)),
        step_words=ENTERED,
        guarded=_guarded(view),
        **about(project_id, view),
    )


def _conflict_page(
    project_id: str, view: FeatureView, form: FeatureForm, conflicts: list[FieldConflict]
) -> ResponseReturnValue:
    """The values of the fields that someone else changed, side by side."""
    page = render_template(
        "catalogue/features/conflict.html",
        overview=projects.overview(current_actor, project_id),
        view=view,
        rows=conflicts,
        seen=_settings_edit(view.feature.name).sign(FeatureForm.inputs_of(view.feature)),
        carried=form.carried,
    )
    return page, 409


def _guarded(view: FeatureView) -> list[ProjectUse]:
    """Where a change of the whole feature needs approvals: where applications get it."""
    on = [state.environment for state in view.environments if state.enabled]
    return [use for use in on if use.required_approvals]


def _tags_page(
    project_id: str, view: FeatureView, form: ParentForm, before: Values | None = None
) -> ResponseReturnValue:
    """``before``: the parent that this form was opened with, if someone changed it since."""
    return _parent_edit(view.feature.name).show(
        "catalogue/features/tags.html",
        form,
        parent_of(view),
        before,
        parents=dependencies.possible_parents(project_id, SUGGESTIONS),
        guarded=_guarded(view),
        **about(project_id, view),
    )
