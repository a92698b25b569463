"""The applications of Larkspur, which ask for its features, and the SDK tokens they use."""

from typing import NamedTuple

from app.catalogue.strategies import types

DEVELOPMENT, STAGING, PRODUCTION = "development", "staging", "production"


class Fleet(NamedTuple):
    """The instances of an application in an environment: their number by SDK.

    ``checks``: checks of one feature by all instances in an average hour.
    """

    environment: str
    instances: dict[str, int]
    checks: int


class App(NamedTuple):
    """An application.

    ``since``, ``seen``: days since it was first and last seen. ``unknown``: names that it asks for
    although no feature has them.
    """

    name: str
    fleets: tuple[Fleet, ...]
    projects: tuple[str, ...]
    since: int
    seen: int = 0
    unknown: tuple[str, ...] = ()


class Forgotten(NamedTuple):
    """A project with an archived feature that an application still asks for."""

    project_id: str
    environment: str
    application: str
    checks: int


class SdkKey(NamedTuple):
    """An SDK token. ``created``: days ago. ``projects``: empty for all. ``expires``: in days."""

    name: str
    environment: str
    apps: tuple[str, ...]
    created: int
    projects: tuple[str, ...] = ()
    expires: int | None = None


APPS = (
    App(
        "web-shop",
        (
            Fleet(PRODUCTION, {"unleash-node-sdk:6.12.1": 5, "unleash-node-sdk:6.10.0": 1}, 1_800),
            Fleet(STAGING, {"unleash-node-sdk:6.12.1": 2}, 90),
            Fleet(DEVELOPMENT, {"unleash-node-sdk:6.12.1": 1}, 40),
        ),
        ("default", "checkout", "catalogue"),
        since=410,
        unknown=("checkout.basket.redesing",),
    ),
    App(
        "checkout-api",
        (
            Fleet(PRODUCTION, {"unleash-java-sdk:9.2.0": 4}, 700),
            Fleet(STAGING, {"unleash-java-sdk:12.3.0": 1}, 35),
        ),
        ("checkout", "payments"),
        since=390,
    ),
    App(
        "app-gateway",
        (Fleet(PRODUCTION, {"unleash-go-sdk:6.5.1": 3}, 950),),
        ("mobile-app",),
        since=233,
    ),
    App(
        "warehouse-sync",
        (Fleet(PRODUCTION, {"unleash-python-sdk:6.9.1": 2}, 60),),
        ("warehouse",),
        since=120,
    ),
    App(
        "end-to-end-tests",
        (Fleet(STAGING, {"unleash-python-sdk:6.7.0": 1}, 12),),
        ("checkout",),
        since=86,
        unknown=("search.synonyms", "test-feature"),
    ),
    App(
        "newsletter",
        (Fleet(PRODUCTION, {"unleash-ruby-sdk:6.4.0": 1}, 30),),
        ("default",),
        since=300,
        seen=5,
    ),
)
SDK_KEYS = (
    SdkKey("web-shop", PRODUCTION, ("web-shop",), 411, ("default", "checkout", "catalogue")),
    SdkKey("web-shop on staging", STAGING, ("web-shop",), 411),
    SdkKey("checkout-api", PRODUCTION, ("checkout-api", "newsletter"), 391),
    SdkKey("web-shop of developers", DEVELOPMENT, ("web-shop",), 402),
    SdkKey("app-gateway", PRODUCTION, ("app-gateway",), 234, ("mobile-app",)),
    SdkKey("warehouse", PRODUCTION, ("warehouse-sync",), 121, ("warehouse",), expires=9),
    SdkKey("tests", STAGING, ("checkout-api", "end-to-end-tests"), 92),
    SdkKey("old intranet", DEVELOPMENT, (), 340),
)
STILL_IN_CODE = Forgotten("checkout", PRODUCTION, "checkout-api", 40)

STRATEGIES = sorted({*types.TYPES} - {"applicationHostname"})
"""The strategy types that the SDKs can evaluate."""
