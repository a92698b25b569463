"""Variants that a feature's strategies share in an environment, as older instances have them."""

from app.catalogue.constraints import service as constraints
from app.catalogue.features import service as features
from app.catalogue.features.models import Feature
from app.catalogue.strategies import queries
from app.catalogue.strategies.models import FeatureVariant
from app.catalogue.strategies.queries import EnvironmentState
from app.catalogue.strategies.service import refuse_unknown_stickiness
from app.core.actor import Actor
from app.core.events import service as events
from app.core.events.event_types import EventType


def lock(
    actor: Actor, project_id: str, feature: str, environment: str
) -> tuple[Feature, EnvironmentState]:
    """The feature and its state in the environment, locked for this transaction."""
    view = features.get_for_change(actor, project_id, feature)
    return view.feature, view.state(environment)


def replace(
    actor: Actor, feature: Feature, state: EnvironmentState, variants: list[FeatureVariant]
) -> bool:
    """Replace the variants in a state from ``lock``. Return whether anything changed."""
    if variants == state.variants:
        return False
    sticky = {f"/{place}/stickiness": each["stickiness"] for place, each in enumerate(variants)}
    refuse_unknown_stickiness(sticky)
    constraints.refuse_unknown_fields(
        {
            f"/{place}/overrides/{number}/contextName": override["contextName"]
            for place, variant in enumerate(variants)
            for number, override in enumerate(variant.get("overrides", ()))
        }
    )
    queries.set_variants(state.name, feature.id, variants)
    events.record_of(
        actor,
        EventType.FEATURE_ENVIRONMENT_VARIANTS_UPDATED,
        feature,
        pre_data={"environment": state.name, "variants": state.variants},
        data={"environment": state.name, "variants": variants},
    )
    return True
