"""Chooses what comes of a source: some of its features, with everything that they need."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypedDict

from app.catalogue.sdk_tokens.models import ALL
from app.core.errors import Detail, Invalid
from app.core.words import similar_names, spoken
from app.exchange.documents import reading
from app.exchange.documents.documents import Item, Kind
from app.exchange.documents.plans import Wanted


class Chosen(TypedDict, total=False):
    """Which features come: those that all of this holds for. Without any of it, everything does."""

    projects: list[str]
    prefix: str
    names: list[str]


class Unknown(TypedDict):
    """A name that is not in the source, and one there that is spelled like it."""

    name: str
    similar: str | None


class Part(NamedTuple):
    """``parents``: features that come only because others depend on them."""

    wanted: Wanted
    parents: list[str]


def choose(wanted: Wanted, chosen: Chosen) -> Part:
    """The part of a source that comes.

    What the features need comes too. A project that was named comes whole: with its segments, its
    default strategies, its release templates and the SDK tokens that read nothing else.
    """
    if not chosen:
        return Part(wanted, [])
    whole = {*chosen.get("projects", ())}
    fitting = set(_features(wanted, chosen))
    parents = _parents(wanted, fitting)
    features = fitting | parents
    kept: dict[Kind, Collection[str]] = {
        Kind.PROJECTS: whole.union(*(_places(wanted, Kind.FEATURES, name) for name in features)),
        Kind.FEATURES: features,
        Kind.BROWSER_ORIGINS: (),
    }
    for kind in (Kind.DEFAULT_STRATEGIES, Kind.RELEASE_TEMPLATES, Kind.SDK_TOKENS):
        kept[kind] = {
            name
            for name in _names(wanted, kind)
            if whole and whole.issuperset(_places(wanted, kind, name))
        }
    document = {kind: dict(items) for kind, items in wanted.document.items()}
    for kind, names in kept.items():
        document[kind] = {name: i for name, i in document[kind].items() if name in names}
    kept |= (used := reading.used(document, whole))
    used[Kind.ENVIRONMENTS].update(i["environment"] for i in document[Kind.SDK_TOKENS].values())
    for kind, names in used.items():
        document[kind] = {name: i for name, i in document[kind].items() if name in names}
    faults = {key: found for key, found in wanted.faults.items() if key[1] in kept[key[0]]}
    return Part(replace(wanted, document=document, faults=faults), sorted(parents))


def projects(wanted: Wanted) -> Counter[str]:
    """The projects of a source, with the number of their features."""
    found: Counter[str] = Counter(dict.fromkeys(_names(wanted, Kind.PROJECTS), 0))
    for name in _names(wanted, Kind.FEATURES):
        found.update(_places(wanted, Kind.FEATURES, name))
    return found


def unknown(wanted: Wanted, chosen: Chosen) -> list[Unknown]:
    """The names that are not in the source, the first of them with a similar one."""
    known = _names(wanted, Kind.FEATURES)
    missing = [name for name in chosen.get("names", ()) if name not in known]
    similar = similar_names(missing, list(known))
    return [{"name": name, "similar": similar.get(name)} for name in missing]


def check(wanted: Wanted, chosen: Chosen) -> None:
    """Refuse a choice that names what isn’t there, or that nothing fits.

    Raises:
        Invalid: with the place of the choice that is at fault.

    """
    known = projects(wanted)
    asked = chosen.get("projects", [])
    missing = [(place, id) for place, id in enumerate(asked) if id not in known]
    similar = similar_names([id for _, id in missing], list(known))
    faults: list[Detail] = [
        {
            "path": f"/chosen/projects/{place}",
            "message": f"There is no project {id!r} in what was read."
            + _did_you_mean(similar.get(id)),
        }
        for place, id in missing
    ]
    if faults:
        raise Invalid.because(faults)
    is_narrow = "prefix" in chosen or "names" in chosen
    if not is_narrow or any(_features(wanted, chosen)):
        return
    where = f"in {spoken(asked)}" if asked else "there"
    if "names" not in chosen:
        message = f"No feature {where} has a name that begins with {chosen['prefix']!r}."
        raise Invalid.at("/chosen/prefix", message)
    near = next((each["similar"] for each in unknown(wanted, chosen)), None)
    begins = f" and begins with {chosen['prefix']!r}" if "prefix" in chosen else ""
    names = spoken([repr(name) for name in chosen["names"]])
    message = f"No feature {where} is named {names}{begins}.{_did_you_mean(near)}"
    raise Invalid.at("/chosen/names", message)


def _did_you_mean(similar: str | None) -> str:
    return f" Did you mean {similar!r}?" if similar else ""


def _features(wanted: Wanted, chosen: Chosen) -> Iterator[str]:
    """The names of the features that fit a choice."""
    listed = {*chosen["names"]} if "names" in chosen else None
    whole = {*chosen["projects"]} if "projects" in chosen else None
    for name in _names(wanted, Kind.FEATURES):
        if (
            (listed is None or name in listed)
            and name.startswith(chosen.get("prefix", ""))
            and (whole is None or whole.issuperset(_places(wanted, Kind.FEATURES, name)))
        ):
            yield name


def _parents(wanted: Wanted, names: set[str]) -> set[str]:
    """Features of the source that others depend on, and that are not among them."""
    items, known = wanted.document[Kind.FEATURES], _names(wanted, Kind.FEATURES).keys()
    found: set[str] = set()
    new = names
    while new:
        parents = (items[name]["parent"] for name in new & items.keys())
        new = ({parent["feature"] for parent in parents if parent} & known) - names - found
        found |= new
    return found


def _names(wanted: Wanted, kind: Kind) -> dict[str, None]:
    """The names of all things of a kind, also of those that can’t be read."""
    lost = (name for of, name in wanted.faults if of is kind)
    return dict.fromkeys([*wanted.document[kind], *lost])


def _places(wanted: Wanted, kind: Kind, name: str) -> Sequence[str]:
    """The projects that a thing belongs to; see ``places``."""
    item = wanted.document[kind].get(name)
    return wanted.lost.get(f"{kind}:{name}", []) if item is None else places(item)


def places(item: Item) -> list[str]:
    """The projects of a feature, default strategy, SDK token or release template, or ALL."""
    return item.get("projects") or [item["project"] or ALL]
