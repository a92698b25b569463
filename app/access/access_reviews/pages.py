from http import HTTPStatus

from flask import flash, render_template, request
from flask.typing import ResponseReturnValue

from app.access.access_reviews import schemas, service
from app.access.access_reviews.forms import FIELD, SignOffForm
from app.access.access_reviews.models import AccessReview
from app.access.access_reviews.schemas import KEEP, REMOVE
from app.catalogue.projects import service as projects
from app.core.permissions import Permission
from app.web import exports
from app.web.browsers import require_password
from app.web.current import current_actor
from app.web.forms import submit
from app.web.listing import PageQuery, read_query
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("access_review_pages", __name__)

NEEDS = Permission.PROJECT_USER_ACCESS_WRITE
ALL = "/projects/<key:project_id>/access-reviews"


@bp.app_template_global()
def last_access_review(project_id: str) -> AccessReview | None:
    """The latest review, for the page of the members."""
    return service.last(project_id)


@bp.app_template_global()
def role_sources(project_id: str) -> dict[int, str]:
    """Where the role of each member comes from, for the page of the members."""
    return {each.account.id: each.source for each in service.current(project_id).candidates}


@bp.get("/projects/<key:project_id>/access-review", needs=NEEDS)
def new(project_id: str) -> ResponseReturnValue:
    """Show the members, with a decision to make about each."""
    return _page(project_id)


@bp.post("/projects/<key:project_id>/access-review", needs=NEEDS)
def sign_off(project_id: str) -> ResponseReturnValue:
    """Sign off, unless the members have changed: then show the review again."""
    project = projects.get_for_change(current_actor, project_id)
    current = service.current(project_id)
    form = SignOffForm(current)
    if form.version != current.version:
        form.version = current.version
        return _page(project_id, form, is_stale=True)
    if "keep_rest" in request.form:
        return _page(project_id, form)
    require_password(f"sign off the access review of {project.name}")

    def carry_out() -> AccessReview:
        values = dict(form.values)
        decisions = {each["id"]: each["decision"] == KEEP for each in values.pop("entries")}
        return service.sign_off(current_actor, project, decisions, **values)

    review = submit(form, carry_out)
    if review is None:
        return _page(project_id, form)
    flash("Signed off.", "ok")
    return redirect_to(".show", project_id=project_id, review_id=review.id)


@bp.get(ALL, needs=NEEDS)
def index(project_id: str) -> ResponseReturnValue:
    """List the reviews of a project."""
    query = read_query(PageQuery)
    return render_template(
        "access/access_reviews/index.html",
        overview=projects.overview(current_actor, project_id),
        page=service.search(project_id, **query.values),
    )


@bp.get(f"{ALL}/<id:review_id>", needs=NEEDS)
def show(project_id: str, review_id: int) -> ResponseReturnValue:
    """Show a review as a sheet to print, or export it."""
    overview = projects.overview(current_actor, project_id)
    review = service.get(project_id, review_id)
    if exports.wanted():
        schema = schemas.EntryRow()
        rows = schema.dump(review.entries, many=True)
        signed = {"signedOffBy": review.signed_off_by, "signedOffAt": _at(review)}
        columns = [field.data_key or name for name, field in schema.fields.items()]
        name = f"access-review-{project_id}-{review_id}"
        return exports.file(name, [*columns, *signed], [row | signed for row in rows])
    return render_template("access/access_reviews/show.html", overview=overview, review=review)


def _page(
    project_id: str, form: SignOffForm | None = None, *, is_stale: bool = False
) -> ResponseReturnValue:
    current = service.current(project_id)
    form = form or SignOffForm(current)
    page = render_template(
        "access/access_reviews/new.html",
        overview=projects.overview(current_actor, project_id),
        current=current,
        form=form,
        field=FIELD,
        keep=KEEP,
        remove=REMOVE,
        last=service.last(project_id),
        is_stale=is_stale,
    )
    if is_stale:
        return page, HTTPStatus.CONFLICT
    return page, 400 if form.problems else 200


def _at(review: AccessReview) -> str:
    return str(schemas.ReviewSummary(only=["signed_off_at"]).dump(review)["signedOffAt"])
