"""Random documents, and an instance that they are applied to."""

from typing import Any

from hypothesis import strategies as st

ENVIRONMENTS = ("development", "production")
FEATURES = ("alpha", "beta", "gamma", "delta")
PROJECTS = ("default", "shop")
texts = st.sampled_from(["One", "Two", "Ünïcode <b>"])
maybe = st.none() | texts
percent = st.integers(0, 100).map(str)


def rollouts() -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {
            "name": st.just("flexibleRollout"),
            "parameters": st.fixed_dictionaries(
                {},
                optional={
                    "rollout": percent,
                    "stickiness": st.sampled_from(["default", "userId", "plan"]),
                },
            ),
        },
        optional={
            "title": texts,
            "disabled": st.booleans(),
            "constraints": st.lists(
                st.sampled_from(
                    [
                        {"contextName": "plan", "operator": "IN", "values": ["gold"]},
                        {"contextName": "userId", "operator": "STR_CONTAINS", "values": ["x"]},
                    ]
                ),
                max_size=2,
            ),
            "segments": st.sampled_from([["Beta"], []]),
            "variants": st.sampled_from([[], [{"name": "a"}, {"name": "b"}]]),
        },
    )


states = st.fixed_dictionaries(
    {}, optional={"enabled": st.booleans(), "strategies": st.lists(rollouts(), max_size=3)}
)


steps = st.fixed_dictionaries(
    {"name": texts, "strategies": st.lists(rollouts(), min_size=1, max_size=2)},
    optional={
        "transitionCondition": st.none()
        | st.fixed_dictionaries(
            {"intervalMinutes": st.integers(1, 90)}, optional={"manual": st.booleans()}
        )
    },
)


@st.composite
def templates(draw: st.DrawFn) -> list[dict[str, Any]]:
    return [
        # Like a feature, a template stays in its project.
        {"name": name, "milestones": draw(st.lists(steps, min_size=1, max_size=3))}
        | ({"project": "shop"} if name == "Own" else {})
        | draw(st.fixed_dictionaries({}, optional={"description": maybe}))
        for name in draw(st.lists(st.sampled_from(["Careful", "Own", "Quick"]), unique=True))
    ]


@st.composite
def features(draw: st.DrawFn) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name in draw(st.lists(st.sampled_from(FEATURES), unique=True)):
        # A feature stays in its project, and only the last ones have a parent.
        project = PROJECTS[FEATURES.index(name) % 2]
        feature: dict[str, Any] = {"name": name, "project": project} | draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "type": st.sampled_from(["release", "experiment"]),
                    "description": texts,
                    "stale": st.booleans(),
                    "impressionData": st.booleans(),
                    "archived": st.booleans(),
                    "completed": st.sampled_from([None, {"status": "kept", "value": "v1"}]),
                    "tags": st.lists(st.sampled_from(["team:red", "simple:x"]), unique=True),
                    "links": st.lists(
                        st.fixed_dictionaries(
                            {
                                "url": st.sampled_from(
                                    ["https://a.example", "http://b.example/?q#x"]
                                )
                            },
                            optional={"title": maybe},
                        ),
                        max_size=2,
                    ),
                    "environments": st.dictionaries(st.sampled_from(ENVIRONMENTS), states),
                },
            )
        )
        if name in {"gamma", "delta"} and draw(st.booleans()) and not feature.get("archived"):
            feature["parent"] = {"feature": FEATURES[FEATURES.index(name) - 2]}
        found.append(feature)
    parents = {feature["parent"]["feature"] for feature in found if "parent" in feature}
    known = {feature["name"] for feature in found if not feature.get("archived")}
    for feature in found:
        if "parent" in feature and feature["parent"]["feature"] not in known:
            del feature["parent"]
        if feature["name"] in parents:
            feature.pop("archived", None)
    return found


@st.composite
def contents(draw: st.DrawFn) -> dict[str, Any]:
    """What a file could say; everything that is referred to is in it."""
    return {
        "version": 1,
        "contextFields": [
            {"name": "plan", "stickiness": True, "description": draw(maybe)},
        ],
        "tagTypes": [{"name": "team", "hue": draw(st.integers(1, 8))}],
        "projects": [
            {"id": "default", "name": draw(texts), "environments": [*ENVIRONMENTS]},
            {
                "id": "shop",
                "name": draw(texts),
                "mode": draw(st.sampled_from(["open", "protected", "private"])),
                "environments": [*ENVIRONMENTS],
            },
        ],
        "segments": [
            {
                "name": "Beta",
                "constraints": [
                    {
                        "contextName": "userId",
                        "operator": "IN",
                        "values": draw(st.sampled_from([["1"], ["1", "2"]])),
                    }
                ],
            }
        ],
        "releaseTemplates": draw(templates()),
        "features": draw(features()),
    }
