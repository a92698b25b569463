from typing import Any, cast
from uuid import UUID

from flask import Response, url_for

from app.catalogue.features import service as features
from app.catalogue.features.queries import FeatureView
from app.catalogue.features.schemas import Clone, FeatureRow
from app.catalogue.strategies import models
from app.catalogue.strategies.models import Strategy
from app.catalogue.strategies.queries import EnvironmentState, FeatureInPlace
from app.catalogue.strategies.schemas import (
    FeatureState,
    NewStrategy,
    StrategyChanges,
    StrategyOrder,
    StrategyRow,
)
from app.catalogue.strategies.schemas_variants import FeatureVariant, VariantList
from app.catalogue.strategies.service import Fields
from app.core.permissions import Access, Permission
from app.releases.switching import copying, schemas, service, strategies, variants
from app.releases.switching.service import Preview
from app.web.current import current_actor
from app.web.json_patch import Operation, patched
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body

PLACE = "/features/<key:name>/environments/<key:environment>"
BULK = "/bulk_features/environments/<key:environment>"
SWITCH = Permission.UPDATE_FEATURE_ENVIRONMENT
STRATEGY = {"name": "flexibleRollout", "parameters": {"rollout": "25", "stickiness": "userId"}}

bp = ApiBlueprint(
    "switching",
    __name__,
    url_prefix="/api/admin/projects/<key:project_id>",
    description="Switch features on and off, and say who gets them.",
)


@bp.get(PLACE, needs=Access.SIGNED_IN)
@bp.response(200, FeatureState)
def show(project_id: str, name: str, environment: str) -> FeatureInPlace:
    """Read a feature in one environment"""
    state = strategies.state(current_actor, project_id, name, environment)
    return FeatureInPlace.of(name, state)


@bp.post(f"{PLACE}/on", needs=SWITCH, refuses=(404,))
@bp.response(200, FeatureRow)
def switch_on(project_id: str, name: str, environment: str) -> FeatureView:
    """Switch a feature on

    Without a strategy that counts, it gets the default one: on for everyone.
    """
    service.switch(current_actor, project_id, environment, [name], on=True)
    return features.get(current_actor, project_id, name)


@bp.post(f"{PLACE}/off", needs=SWITCH, refuses=(404,))
@bp.response(200, FeatureRow)
def switch_off(project_id: str, name: str, environment: str) -> FeatureView:
    """Switch a feature off"""
    service.switch(current_actor, project_id, environment, [name], on=False)
    return features.get(current_actor, project_id, name)


@bp.post(f"{BULK}/on", needs=SWITCH, refuses=(404,))
@bp.arguments(schemas.SwitchedFeatures, example={"features": ["checkout.base"]})
@bp.response(200)
def switch_many_on(data: dict[str, Any], project_id: str, environment: str) -> Response:
    """Switch features on

    All or none: if one feature is unknown or archived, nothing is changed.
    """
    service.switch(current_actor, project_id, environment, data["features"], on=True)
    return no_body()


@bp.post(f"{BULK}/off", needs=SWITCH, refuses=(404,))
@bp.arguments(schemas.SwitchedFeatures, example={"features": ["checkout.base"]})
@bp.response(200)
def switch_many_off(data: dict[str, Any], project_id: str, environment: str) -> Response:
    """Switch features off

    All or none: if one feature is unknown or archived, nothing is changed.
    """
    service.switch(current_actor, project_id, environment, data["features"], on=False)
    return no_body()


@bp.post(f"{BULK}/on/plan", needs=SWITCH, refuses=(404,), writes=False)
@bp.arguments(schemas.SwitchedFeatures, example={"features": ["checkout.base"]})
@bp.response(200, schemas.SwitchPlan)
def plan_on(data: dict[str, Any], project_id: str, environment: str) -> Preview:
    """Plan switching features on

    Changes nothing.
    """
    return service.preview(current_actor, project_id, environment, data["features"], on=True)


@bp.post(f"{BULK}/off/plan", needs=SWITCH, refuses=(404,), writes=False)
@bp.arguments(schemas.SwitchedFeatures, example={"features": ["checkout.base"]})
@bp.response(200, schemas.SwitchPlan)
def plan_off(data: dict[str, Any], project_id: str, environment: str) -> Preview:
    """Plan switching features off

    Changes nothing.
    """
    return service.preview(current_actor, project_id, environment, data["features"], on=False)


@bp.get(f"{PLACE}/variants", needs=Access.SIGNED_IN)
@bp.response(200, VariantList, etag=True)
def show_variants(project_id: str, name: str, environment: str) -> EnvironmentState:
    """Read the variants that all strategies share

    Older instances have such variants. Those of a strategy come first.
    """
    return strategies.state(current_actor, project_id, name, environment)


@bp.put(
    f"{PLACE}/variants",
    needs=Permission.UPDATE_FEATURE_ENVIRONMENT_VARIANTS,
    refuses=(409, 412),
)
@bp.arguments(
    FeatureVariant(many=True),
    example=[{"name": "blue", "weight": 300, "weightType": "fix"}, {"name": "red"}],
)
@bp.response(200, VariantList, etag=True)
def set_variants(
    data: list[models.FeatureVariant], project_id: str, name: str, environment: str
) -> EnvironmentState:
    """Replace the variants that all strategies share

    Their weights are completed to 1,000. An empty list removes them.
    """
    feature, state = variants.lock(current_actor, project_id, name, environment)
    check_if_match(VariantList, state)
    variants.replace(current_actor, feature, state, data)
    return strategies.state(current_actor, project_id, name, environment)


@bp.patch(
    f"{PLACE}/variants",
    needs=Permission.UPDATE_FEATURE_ENVIRONMENT_VARIANTS,
    refuses=(409, 412),
)
@bp.arguments(
    Operation(many=True),
    example=[{"op": "add", "path": "/0", "value": {"name": "blue", "weight": 1000}}],
)
@bp.response(200, VariantList, etag=True)
def patch_variants(
    data: list[dict[str, Any]], project_id: str, name: str, environment: str
) -> EnvironmentState:
    """Change parts of the variants that all strategies share

    By JSON Patch (RFC 6902) on the list. Weights of variable variants are completed to 1,000.
    """
    feature, state = variants.lock(current_actor, project_id, name, environment)
    check_if_match(VariantList, state)
    present = VariantList().dump(state)["variants"]
    wanted = patched(FeatureVariant(many=True), present, data)
    variants.replace(current_actor, feature, state, wanted)
    return strategies.state(current_actor, project_id, name, environment)


@bp.put(
    "/features/<key:name>/variants-batch",
    needs=Permission.UPDATE_FEATURE_ENVIRONMENT_VARIANTS,
    refuses=(409,),
)
@bp.arguments(
    schemas.SharedVariants,
    example={"environments": ["development"], "variants": [{"name": "blue"}, {"name": "red"}]},
)
@bp.response(200, VariantList)
def set_variants_in_several(data: dict[str, Any], project_id: str, name: str) -> dict[str, Any]:
    """Replace the variants that all strategies share, in several environments"""
    view = features.get_for_change(current_actor, project_id, name)
    for state in [view.state(environment) for environment in data["environments"]]:
        variants.replace(current_actor, view.feature, state, data["variants"])
    return data


@bp.post("/features/<key:name>/clone", needs=Permission.CREATE_FEATURE, refuses=(404,))
@bp.arguments(Clone, example={"name": "checkout.new-flow-2"})
@bp.response(201, FeatureRow)
def clone(data: dict[str, Any], project_id: str, name: str) -> tuple[FeatureView, dict[str, str]]:
    """Clone a feature

    With its settings, strategies, variants and parent; without its tags. It is off everywhere.
    """
    copying.clone(current_actor, project_id, name, **data)
    path = url_for("features.show", project_id=project_id, name=data["name"])
    return features.get(current_actor, project_id, data["name"]), {"Location": path}


@bp.get(f"{PLACE}/strategies", needs=Access.SIGNED_IN)
@bp.response(200, StrategyRow(many=True))
def index_strategies(project_id: str, name: str, environment: str) -> list[Strategy]:
    """List the strategies of a feature in one environment"""
    return strategies.state(current_actor, project_id, name, environment).strategies


@bp.post(f"{PLACE}/strategies", needs=Permission.CREATE_FEATURE_STRATEGY, refuses=(404,))
@bp.arguments(NewStrategy, example=STRATEGY)
@bp.response(200, StrategyRow, etag=True)
def add_strategy(
    data: dict[str, Any], project_id: str, name: str, environment: str
) -> tuple[Strategy, dict[str, str]]:
    """Add a strategy

    It does not switch the feature on.
    """
    strategy = strategies.add(current_actor, project_id, name, environment, **data)
    path = url_for(
        ".show_strategy",
        project_id=project_id,
        name=name,
        environment=environment,
        strategy=strategy.id,
    )
    return strategy, {"Location": path}


@bp.post(
    f"{PLACE}/strategies/set-sort-order", needs=Permission.UPDATE_FEATURE_STRATEGY, refuses=(404,)
)
@bp.arguments(
    StrategyOrder(many=True),
    example=[{"id": "5f8cf0a5-6bd4-4d5c-9f3c-7d1d6c3a2b10", "sortOrder": 0}],
)
@bp.response(200)
def sort_strategies(
    data: list[dict[str, Any]], project_id: str, name: str, environment: str
) -> Response:
    """Sort strategies

    The first one that matches decides which variant a person gets.
    """
    orders = {each["id"]: each["sort_order"] for each in data}
    strategies.sort(current_actor, project_id, name, environment, orders)
    return no_body()


@bp.get(f"{PLACE}/strategies/<uuid:strategy>", needs=Access.SIGNED_IN)
@bp.response(200, StrategyRow, etag=True)
def show_strategy(project_id: str, name: str, environment: str, strategy: UUID) -> Strategy:
    """Read a strategy"""
    found = strategies.state(current_actor, project_id, name, environment)
    return strategies.with_id(found.strategies, str(strategy))


@bp.put(
    f"{PLACE}/strategies/<uuid:strategy>",
    needs=Permission.UPDATE_FEATURE_STRATEGY,
    refuses=(409, 412),
)
@bp.arguments(StrategyChanges, example={"parameters": {"rollout": "50"}})
@bp.response(200, StrategyRow, etag=True)
def update_strategy(
    data: dict[str, Any], project_id: str, name: str, environment: str, strategy: UUID
) -> Strategy:
    """Change a strategy

    Fields that are left out stay as they are. A feature that is left without a strategy that
    counts is switched off.
    """
    found = strategies.get_for_change(current_actor, project_id, name, environment, str(strategy))
    check_if_match(StrategyRow, found)
    strategies.update(current_actor, project_id, found, **data)
    return found


@bp.patch(
    f"{PLACE}/strategies/<uuid:strategy>",
    needs=Permission.UPDATE_FEATURE_STRATEGY,
    refuses=(409, 412),
)
@bp.arguments(
    Operation(many=True),
    example=[{"op": "replace", "path": "/parameters/rollout", "value": "50"}],
)
@bp.response(200, StrategyRow, etag=True)
def patch_strategy(
    data: list[dict[str, Any]], project_id: str, name: str, environment: str, strategy: UUID
) -> Strategy:
    """Change parts of a strategy

    By JSON Patch (RFC 6902). What is removed is empty afterwards; a parameter gets its default.
    """
    found = strategies.get_for_change(current_actor, project_id, name, environment, str(strategy))
    check_if_match(StrategyRow, found)
    kept = ("name", "disabled", "sortOrder", "parameters")
    wanted = patched(StrategyChanges(), StrategyRow().dump(found), data, kept=kept)
    empty = Fields(title=None, constraints=[], segments=[], variants=[])
    fields = cast(Fields, empty | wanted)
    strategies.update(current_actor, project_id, found, replace_parameters=True, **fields)
    return found


@bp.delete(
    f"{PLACE}/strategies/<uuid:strategy>",
    needs=Permission.DELETE_FEATURE_STRATEGY,
    refuses=(409, 412),
)
@bp.response(200)
def remove_strategy(project_id: str, name: str, environment: str, strategy: UUID) -> Response:
    """Delete a strategy

    A feature that is left without a strategy that counts is switched off.
    """
    found = strategies.get_for_change(current_actor, project_id, name, environment, str(strategy))
    check_if_match(StrategyRow, found)
    strategies.remove(current_actor, found)
    return no_body()
