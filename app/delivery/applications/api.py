from collections.abc import Collection
from itertools import groupby
from typing import Any

from flask import Response

from app.catalogue.usage.models import Instance
from app.core.paging import Page
from app.core.permissions import Access, Permission
from app.delivery.applications import counts, schemas, service
from app.delivery.applications.counts import FeatureUse, Row
from app.delivery.applications.views import ApplicationOverview, ApplicationView
from app.web.current import current_actor
from app.web.listing import whole
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "applications",
    __name__,
    url_prefix="/api/admin",
    description="Applications that ask for features through SDKs, and how often they do.",
)

ONE = "/metrics/applications/<text:name>"
FEATURE = "/client-metrics/features/<key:name>"


@bp.get("/metrics/applications", needs=Access.SIGNED_IN)
@bp.arguments(whole(schemas.ApplicationQuery), location="query")
@bp.response(200, schemas.ApplicationList)
def index(query: dict[str, Any]) -> Page[ApplicationView]:
    """List applications"""
    return service.search(current_actor, **query)


@bp.get(f"{ONE}/overview", needs=Access.SIGNED_IN)
@bp.response(200, schemas.ApplicationOverview)
def show(name: str) -> ApplicationOverview:
    """Read what an application asks for

    In the last 24 hours, without features of projects that you cannot see.
    """
    return service.overview(current_actor, name)


@bp.get(ONE, needs=Access.SIGNED_IN)
@bp.response(200, schemas.ApplicationRow)
def show_one(name: str) -> ApplicationView:
    """Read an application"""
    return service.view(current_actor, name)


@bp.post(ONE, needs=Permission.ADMIN)
@bp.arguments(schemas.NewApplication, example={"strategies": ["flexibleRollout"]})
@bp.response(202)
def create(data: dict[str, Any], name: str) -> Response:
    """Create an application before it reports anything

    One that exists stays as it is.
    """
    service.create(name, **data)
    return no_body(202)


@bp.delete(ONE, needs=Permission.ADMIN)
@bp.response(200)
def remove(name: str) -> Response:
    """Delete what an application reported

    If it still runs, it appears again.
    """
    service.delete(current_actor, name)
    return no_body()


@bp.get("/metrics/instances/<path:name>/environment/<key:environment>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.InstanceList)
def index_instances(name: str, environment: str) -> dict[str, list[Instance]]:
    """List the instances of an application

    Those of the last 24 hours in one environment, latest first.
    """
    return {"instances": service.instances_in(name, environment)}


@bp.get("/metrics/unknown-flags", needs=Access.SIGNED_IN)
@bp.response(200, schemas.UnknownFlagList)
def index_unknown() -> dict[str, list[dict[str, Any]]]:
    """List names that applications ask for and no feature has

    Those of the last 7 days, latest first.
    """
    return {
        "unknown_flags": [
            {
                "name": name,
                "last_seen_at": uses[0].last_seen_at,
                "reports": [
                    {"app_name": application, "environments": list(places)}
                    for application, places in groupby(
                        sorted(uses, key=lambda use: (use.application, use.environment)),
                        lambda use: use.application,
                    )
                ],
            }
            for name, uses in service.unknown().items()
        ]
    }


@bp.get("/metrics/sdks/outdated", needs=Access.SIGNED_IN)
@bp.response(200, schemas.OutdatedSdkList)
def index_outdated() -> dict[str, list[dict[str, Any]]]:
    """List SDKs in use that have a newer major version"""
    return {"sdks": _outdated()}


def _outdated(names: Collection[str] | None = None) -> list[dict[str, Any]]:
    """``names``: only of these applications."""
    found = [
        {
            "sdk_version": sdk.reported,
            "newest_major": sdk.newest,
            "applications": [name for name in using if names is None or name in names],
        }
        for sdk, using in service.outdated_sdks()
    ]
    return [each for each in found if each["applications"]]


@bp.get("/projects/<key:project_id>/sdks/outdated", needs=Access.SIGNED_IN)
@bp.response(200, schemas.OutdatedSdkList)
def index_outdated_in_project(project_id: str) -> dict[str, list[dict[str, Any]]]:
    """List SDKs that ask for features of a project and have a newer major version"""
    names = {view.application.name for view in service.of_project(current_actor, project_id)}
    return {"sdks": _outdated(names)}


@bp.get("/projects/<key:project_id>/applications", needs=Access.SIGNED_IN)
@bp.arguments(schemas.ProjectApplicationQuery, location="query")
@bp.response(200, schemas.ProjectApplicationList)
def index_of_project(query: dict[str, Any], project_id: str) -> dict[str, Any]:
    """List the applications that ask for features of a project

    In the last 7 days.
    """
    found = service.of_project(current_actor, project_id, text=query.get("query", ""))
    if query["sort_order"] == "desc":
        found.reverse()
    end = query["offset"] + query["limit"]
    return {"applications": found[query["offset"] : end], "total": len(found)}


@bp.get(FEATURE, needs=Access.SIGNED_IN)
@bp.response(200, schemas.FeatureUseRow)
def show_feature(name: str) -> FeatureUse:
    """Read how a feature was used in the last hour

    A name that no feature has, or none that you can see, was not used.
    """
    return counts.last_hour(current_actor, name)


@bp.get(f"{FEATURE}/raw", needs=Access.SIGNED_IN)
@bp.arguments(schemas.RawQuery, location="query")
@bp.response(200, schemas.RawRows)
def show_raw(query: dict[str, int], name: str) -> dict[str, list[Row]]:
    """Read how often a feature was on and off

    One row for each hour, application and environment, also for hours without any. For more than
    the last 48 hours, rows are days.
    """
    return {"data": counts.raw(current_actor, name, query["hours_back"])}
