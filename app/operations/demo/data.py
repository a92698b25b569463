"""Names and texts of ``flagstaff demo``: Larkspur, a made-up online shop."""

from typing import NamedTuple

from app.catalogue.constraints.models import Constraint
from app.catalogue.features.models import FeatureType
from app.catalogue.projects.models import ProjectMode
from app.catalogue.strategies.models import CustomParameter
from app.core.permissions import Role

DOMAIN = "larkspur.example"


class Habit(NamedTuple):
    """How many days ago a person was created, last signed in and last used a personal token."""

    created: int
    sign_in: int | None
    token_use: int | None = None


class Plan(NamedTuple):
    """A project. ``approvals``: how many a change in production needs. ``features``: how many."""

    id: str
    name: str
    description: str
    mode: ProjectMode
    approvals: int | None
    teams: tuple[str, ...]
    features: int
    subjects: tuple[str, ...]


class Change(NamedTuple):
    """A kind of change that a feature makes. ``text``: its description, {} for the subject."""

    suffix: str
    type: FeatureType
    text: str


class Key(NamedTuple):
    """A token. ``created``, ``used``: days ago. ``expires``: days from now; can be negative."""

    description: str
    created: int
    used: int | None
    expires: int | None = None


class ServiceAccount(NamedTuple):
    name: str
    role: Role
    keys: tuple[Key, ...]


def _constraint(field: str, operator: str, *values: str) -> Constraint:
    return Constraint(
        contextName=field,
        operator=operator,
        values=[*values],
        inverted=False,
        caseInsensitive=False,
    )


LIFETIMES = {FeatureType.RELEASE: 500, FeatureType.EXPERIMENT: 180}
"""In days, by type of feature."""
CONTEXT_FIELDS: dict[str, tuple[str, bool, dict[str, str]]] = {
    "country": (
        "Where the customer lives",
        False,
        {"NO": "Norway", "SE": "Sweden", "DK": "Denmark", "FI": "Finland", "IS": "Iceland"},
    ),
    "customerId": ("The same in the shop and in the app", True, {}),
    "plan": (
        "What they pay for deliveries",
        False,
        {"free": "Pays for each", "plus": "Pays by the month", "gold": "Pays by the year"},
    ),
    "appVersion": ("The version of the app, as in 5.2.0", False, {}),
    "email": ("Their address", False, {}),
}
"""By name: (description, stickiness, legal values with their descriptions)."""

SEGMENTS: dict[str, tuple[str, list[Constraint]]] = {
    "Beta testers": (
        "Customers who signed up for early access",
        [_constraint("userId", "IN", "88", "1042", "1187", "2210", "2214", "3095")],
    ),
    "Nordic customers": ("", [_constraint("country", "IN", "NO", "SE", "DK", "FI", "IS")]),
    "Paying members": (
        "Plus and gold",
        [_constraint("plan", "IN", "plus", "gold")],
    ),
    "Staff": (
        "People who work here",
        [_constraint("email", "STR_ENDS_WITH", "@skerry.example")],
    ),
}
"""By name: (description, constraints)."""

STRATEGY_TYPES: dict[str, tuple[str, list[CustomParameter]]] = {
    "near-store": (
        "Customers who live near one of our stores",
        [
            CustomParameter(name="stores", type="list", description="Their numbers", required=True),
            CustomParameter(
                name="kilometres", type="number", description="At most as far", required=False
            ),
        ],
    ),
}
"""By name: (description, parameters)."""

PLANS = (
    Plan(
        id="default",
        name="Default",
        description="What belongs to the whole shop and to no team alone.",
        mode=ProjectMode.OPEN,
        approvals=None,
        teams=("platform", "design"),
        features=30,
        subjects=("banner", "footer", "cookie-notice", "site-search", "status-page", "dark-mode"),
    ),
    Plan(
        id="checkout",
        name="Checkout",
        description="From the basket to the order.\n\nChanges need two approvals in production.",
        mode=ProjectMode.PROTECTED,
        approvals=2,
        teams=("basket", "orders"),
        features=44,
        subjects=(
            "basket",
            "address-form",
            "delivery-slots",
            "guest-order",
            "gift-note",
            "vouchers",
        ),
    ),
    Plan(
        id="payments",
        name="Payments",
        description="Cards, invoices and refunds. Only its members see it.",
        mode=ProjectMode.PRIVATE,
        approvals=3,
        teams=("ledger", "fraud"),
        features=44,
        subjects=("card-entry", "refunds", "invoices", "wallets", "fraud-score", "settlement"),
    ),
    Plan(
        id="catalogue",
        name="Catalogue",
        description="Products, their pictures and how people find them.",
        mode=ProjectMode.OPEN,
        approvals=None,
        teams=("discovery", "content"),
        features=44,
        subjects=("product-page", "reviews", "image-zoom", "size-guide", "filters", "suggestions"),
    ),
    Plan(
        id="mobile-app",
        name="Mobile app",
        description="The shop on iOS and Android.",
        mode=ProjectMode.OPEN,
        approvals=1,
        teams=("ios", "android"),
        features=44,
        subjects=("start-screen", "push-messages", "barcode-scan", "wish-list", "widget", "login"),
    ),
    Plan(
        id="warehouse",
        name="Warehouse",
        description="Stock, picking and returns in the three warehouses.",
        mode=ProjectMode.PROTECTED,
        approvals=1,
        teams=("stock", "returns"),
        features=44,
        subjects=("stock-levels", "pick-lists", "labels", "returns-desk", "carriers", "forecast"),
    ),
)

CHANGES = (
    Change("redesign", FeatureType.RELEASE, "Shows {} in the new design."),
    Change("v2", FeatureType.RELEASE, "Moves {} to the second version of its service."),
    Change("in-background", FeatureType.RELEASE, "Does the work for {} after the answer is sent."),
    Change("ab-test", FeatureType.EXPERIMENT, "Compares two wordings of {} by what people do."),
    Change("personalised", FeatureType.EXPERIMENT, "Fits {} to what the customer viewed before."),
    Change("off", FeatureType.KILL_SWITCH, "Turns {} off at once if it harms the shop."),
    Change("rate-limit", FeatureType.OPERATIONAL, "Limits how often one client may ask for {}."),
    Change("cache", FeatureType.OPERATIONAL, "Keeps answers about {} for a minute."),
    Change("verbose-log", FeatureType.OPERATIONAL, "Logs every step of {}, for support."),
    Change("early-access", FeatureType.PERMISSION, "Opens {} to customers who asked for it."),
    Change("staff-only", FeatureType.PERMISSION, "Keeps {} to members of staff."),
)

TAG_TYPES = {
    "team": ("The team that owns the feature", 3),
    "ticket": ("Where it was asked for", 5),
    "risk": ("What can go wrong when it is switched", 7),
}
TICKETS_A_PROJECT = 5
RISKS = ("low", "medium", "high")
TOPICS = (
    "accessibility", "black-friday", "cost", "customer-request", "experiment-q3", "gdpr", "growth",
    "incident-follow-up", "legacy", "cleanup-candidate", "performance", "roadmap-2027", "security",
    "seo", "spike",
)  # fmt: skip

PEOPLE = (
    "Ada Lindqvist", "Tomás Herrera", "Priya Raman", "Jonas Weber", "Mei-Ling Chen", "Zoë Brandt",
    "Samuel Okafor", "Hana Novák", "Luca Ferrari", "Ingrid Dahl", "Yusuf Demir", "Clara Fontaine",
    "Ben Carver", "Aiko Tanaka", "Mateo Vargas", "Nina Petrova", "Oskar Nilsson", "Fatima Zahra",
    "Liam Doyle", "Sofia Marino", "Kwame Mensah", "Elif Arslan", "Pavel Horák", "Grace Kim",
    "Diego Salas", "Marta Kowalska", "Arjun Mehta", "Lena Fischer", "Omar Haddad", "Ruth Adler",
    "Viktor Szabó", "Chloé Girard", "Ian Macleod", "Amara Nwosu", "Stefan Ilić", "Julia Roth",
    "Hugo Almeida", "Noor van Dijk", "Erik Solberg", "Wanjiru Kamau", "Dana Levi", "Tariq Aziz",
    "Beatriz Lopes", "Finn Gallagher", "Maja Jensen",
)  # fmt: skip
ADMINS, EDITORS = 3, 12
"""The first so many people are Admins, the next so many Editors, the others Viewers."""

INACTIVE = (
    Habit(900, 183),
    Habit(640, 195),
    Habit(710, 214),
    Habit(1_100, 240),
    Habit(520, 275),
    Habit(800, 310),
    Habit(1_300, 402),
    Habit(1_500, 655),
    Habit(200, None),
    Habit(330, None),
    Habit(760, None),
    Habit(980, 500, token_use=230),
)
ACTIVE_BY_TOKEN = (
    Habit(900, 260, token_use=1),
    Habit(1_200, 410, token_use=9),
    Habit(420, None, token_use=30),
)
INVITED = (Habit(2, None), Habit(19, None))

SERVICE_ACCOUNTS = (
    ServiceAccount(
        "CI pipeline", Role.EDITOR, (Key("build agents", 420, 0), Key("old agents", 700, 95))
    ),
    ServiceAccount("Deploy bot", Role.EDITOR, (Key("production", 200, 0, expires=165),)),
    ServiceAccount("Terraform", Role.ADMIN, (Key("state of 2026", 300, 2, expires=65),)),
    ServiceAccount("Metrics exporter", Role.VIEWER, (Key("every minute", 510, 0),)),
    ServiceAccount("Mobile builds", Role.VIEWER, (Key("app store", 88, 3, expires=4),)),
    ServiceAccount("Nightly cleanup", Role.EDITOR, (Key("cron", 361, 1, expires=6),)),
    ServiceAccount("Support desk", Role.VIEWER, (Key("ticket system", 12, None),)),
    ServiceAccount(
        "Partner gateway", Role.VIEWER, (Key("pilot", 390, 26, -25), Key("trial", 5, None))
    ),
)
