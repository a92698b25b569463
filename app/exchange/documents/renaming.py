"""Renames things whose names are not possible here, and every reference to them."""

from collections.abc import Collection, Mapping
from hashlib import sha256

from app.core.words import is_key
from app.exchange.documents.documents import Item, Kind

MAX_RENAMED = 80
"""Longer names are cut, with room for a digest: names have at most 100 characters."""


def fitting_name(name: str) -> str:
    """A similar name that is possible here. A digest keeps long names different."""
    plain = "".join(sign if is_key(f"x{sign}") and sign != "." else "-" for sign in name)
    if len(plain) <= MAX_RENAMED:
        return plain
    return f"{plain[:MAX_RENAMED]}-{sha256(name.encode()).hexdigest()[:6]}"


def renamed(kind: Kind, item: Item, names: Mapping[tuple[Kind, str], str]) -> Item:
    """The thing with new names for itself and its references. ``names``: by kind and old name."""

    def environment(name: str) -> str:
        return names.get((Kind.ENVIRONMENTS, name), name)

    match kind:
        case Kind.ENVIRONMENTS:
            return item | {"name": environment(item["name"])}
        case Kind.PROJECTS:
            return item | {
                "environments": sorted(map(environment, item["environments"])),
                "approvals": {environment(n): most for n, most in item["approvals"].items()},
            }
        case Kind.DEFAULT_STRATEGIES | Kind.SDK_TOKENS:
            return item | {"environment": environment(item["environment"])}
        case Kind.FEATURES:
            parent = item["parent"]
            if parent:
                feature = parent["feature"]
                parent = parent | {"feature": names.get((Kind.FEATURES, feature), feature)}
            return item | {
                "name": names.get((Kind.FEATURES, item["name"]), item["name"]),
                "parent": parent,
                "environments": {environment(n): s for n, s in item["environments"].items()},
            }
    return item


def without_environments(kind: Kind, item: Item, gone: Collection[str]) -> Item:
    """The thing without its parts in these environments."""
    if kind is Kind.PROJECTS:
        return item | {"environments": [n for n in item["environments"] if n not in gone]}
    if kind is Kind.FEATURES:
        return item | {
            "environments": {n: s for n, s in item["environments"].items() if n not in gone}
        }
    return item
