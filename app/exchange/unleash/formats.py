"""Reads the files that Unleash exports: of features (5 to 8) and of a whole state (3 to 5)."""

from collections.abc import Iterator
from typing import Any

from app.catalogue.context.models import BUILT_IN
from app.catalogue.environments.models import EnvironmentType
from app.catalogue.strategies.types import ALWAYS_STICKY
from app.core.errors import Invalid
from app.exchange.unleash.unleash import Raw, Snapshot, Translation, translate

LISTS = ("features", "featureStrategies", "featureEnvironments")
DEFAULT = "default"


def translation(content: Any, source: str) -> Translation:
    """Translate a file of either format.

    Raises:
        Invalid: when it is neither.

    """
    if not isinstance(content, dict) or not isinstance(content.get("features"), list):
        raise Invalid.at(
            "/features",
            "This is not an export of Unleash: it must be a JSON object with features. A document "
            "of Flagstaff is read by flagstaff apply.",
        )
    for key, value in content.items():
        if isinstance(value, list) and not all(isinstance(each, dict) for each in value):
            raise Invalid.at(f"/{key}", "Must be a list of objects.")
    try:
        is_state = "version" in content
        found = _of_state(content, source) if is_state else _of_features(content, source)
        return translate(found)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise Invalid.at(
            "", f"This is not an export of Unleash: {type(error).__name__} {error}."
        ) from None


def _of_features(content: Raw, source: str) -> Snapshot:
    """Read an export of features. It refers to projects and segments by name only."""
    states = content.get("featureEnvironments") or []
    names = sorted({state["environment"] for state in states})
    by_feature = {state["featureName"]: state["environment"] for state in states}
    only = names[0] if len(names) == 1 else None
    strategies = [
        raw | {"environment": raw.get("environment") or by_feature.get(raw["featureName"], only)}
        for raw in content.get("featureStrategies") or ()
    ]
    projects = sorted({raw.get("project") or DEFAULT for raw in content["features"]})
    return Snapshot(
        source,
        environments=[],
        projects=[
            {
                "id": id,
                "environments": [{"environment": name} for name in names],
                "isOnlyNamed": True,
            }
            for id in projects
            if names  # without any it can’t be created, so it has to exist here
        ],
        features=content["features"],
        strategies=[raw for raw in strategies if raw["environment"]],
        states=states,
        dependencies=content.get("dependencies") or [],
        feature_tags=content.get("featureTags") or [],
        tag_types=content.get("tagTypes") or [],
        segments=content.get("segments") or [],
        context_fields=content.get("contextFields") or [],
        links=content.get("links"),
    )


def _of_state(content: Raw, source: str) -> Snapshot:
    """Read the state of an old instance, which has no people and tokens."""
    environments = content.get("environments") or [
        {"name": DEFAULT, "type": EnvironmentType.PRODUCTION.value, "sortOrder": 1}
    ]
    names = [each["name"] for each in environments if each.get("enabled") is not False]
    segments = _by_strategy(content.get("featureStrategySegments") or ())
    found = Snapshot(
        source,
        environments=environments,
        projects=[
            raw | {"environments": [{"environment": name} for name in names]}
            for raw in content.get("projects") or [{"id": DEFAULT, "name": "Default"}]
        ],
        features=content["features"],
        feature_tags=content.get("featureTags") or [],
        tags=content.get("tags") or [],
        tag_types=content.get("tagTypes") or [],
        segments=content.get("segments") or [],
        context_fields=content.get("contextFields") or [],
        strategy_types=content.get("strategies") or [],
        dependencies=content.get("dependencies") or [],
    )
    if "featureStrategies" in content:
        found.strategies = [
            raw | {"name": raw["strategyName"], "segments": segments.get(raw.get("id"), [])}
            for raw in sorted(content["featureStrategies"], key=_place)
        ]
        variants = {raw["name"]: raw.get("variants") or [] for raw in content["features"]}
        found.states = [
            raw | {"variants": raw.get("variants") or variants.get(raw["featureName"], [])}
            for raw in content.get("featureEnvironments") or ()
        ]
    else:
        found.states = list(_inner_states(content["features"]))
        found.strategies = list(_inner_strategies(content["features"]))
    found.context_fields += _named_fields(found)
    return found


def _named_fields(found: Snapshot) -> Iterator[Raw]:
    """Context fields that rules refer to and the file leaves out."""
    known = {field["name"] for field in found.context_fields} | BUILT_IN
    sticky = {
        holder.get("stickiness", "default")
        for raw in found.strategies
        for holder in (raw.get("parameters") or {}, *(raw.get("variants") or ()))
    } - set(ALWAYS_STICKY)
    used = {
        constraint["contextName"]
        for raw in (*found.strategies, *found.segments)
        for constraint in raw.get("constraints") or ()
    }
    for name in sorted((used | sticky) - known):
        yield {"name": name, "stickiness": name in sticky, "isOnlyNamed": True}


def _place(raw: Raw) -> tuple[int, str]:
    """Sort key of a strategy. Old versions don’t number them: the older one comes first."""
    return int(raw.get("sortOrder") or 0), str(raw.get("createdAt") or "")


def _by_strategy(links: Any) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    for link in links:
        found.setdefault(link["featureStrategyId"], []).append(link["segmentId"])
    return found


def _inner_states(features: list[Raw]) -> Iterator[Raw]:
    """States of the first versions: for one environment, inside the feature."""
    for raw in features:
        yield {
            "featureName": raw["name"],
            "environment": DEFAULT,
            "enabled": raw.get("enabled", False),
            "variants": raw.get("variants") or [],
        }


def _inner_strategies(features: list[Raw]) -> Iterator[Raw]:
    for raw in features:
        for strategy in raw.get("strategies") or ():
            yield strategy | {"featureName": raw["name"], "environment": DEFAULT}
