"""The packages that Flagstaff is installed with, as their metadata describes them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LONGEST_NAME = 60
"""Of a licence; some packages have the whole text where its name belongs."""
ADDRESSES = ("homepage", "website", "source", "source code", "repository", "github", "code")
"""What packages call the address to read more at, the best first."""
_has_terms = re.compile(r"(LICEN[CS]E|COPYING|NOTICE)[^/]*", re.IGNORECASE).fullmatch


@dataclass(frozen=True, slots=True)
class Package:
    """``homepage``: empty if it names none."""

    name: str
    version: str
    licence: str
    homepage: str

    def texts(self) -> list[str]:
        """Its licences and notices."""
        files = distribution(self.name).files or ()
        terms = [one for one in files if ".dist-info" in one.parts[0] and _has_terms(one.name)]
        return [Path(one.locate()).read_text("utf-8", "replace") for one in terms]


@cache
def packages() -> list[Package]:
    """Flagstaff itself, then all that it needs on this machine, by name."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement("flagstaff")]
    seen = set()
    while waiting:
        wanted = waiting.pop()
        key = canonicalize_name(wanted.name), frozenset(wanted.extras)
        if key in seen:
            continue
        seen.add(key)
        try:
            found[key[0]] = distribution(wanted.name)
        except PackageNotFoundError:  # it was removed; that shows elsewhere
            continue
        waiting.extend(_needs(found[key[0]], wanted.extras))
    first = found.pop("flagstaff")
    return [_package(one) for one in (first, *(found[name] for name in sorted(found)))]


def _needs(package: Distribution, extras: set[str]) -> Iterator[Requirement]:
    for text in package.requires or ():
        needed = Requirement(text)
        if needed.marker is None or any(
            needed.marker.evaluate({"extra": extra}) for extra in ("", *extras)
        ):
            yield needed


def _package(package: Distribution) -> Package:
    name = package.metadata["Name"]
    return Package(name, package.version, _licence(package), _homepage(package))


def _licence(package: Distribution) -> str:
    for stated in (*_all(package, "License-Expression"), *_all(package, "License")):
        if len(stated) <= LONGEST_NAME:
            return stated
    classifiers = [one.split(" :: ") for one in _all(package, "Classifier")]
    return ", ".join(parts[-1] for parts in classifiers if parts[0] == "License")


def _homepage(package: Distribution) -> str:
    labelled = [one.split(", ", 1) for one in _all(package, "Project-URL")]
    by_label = {label.lower(): address for label, address in labelled}
    stated = [*_all(package, "Home-page"), *(by_label.get(one, "") for one in ADDRESSES)]
    return next((one for one in stated if one.startswith("https://")), "")


def _all(package: Distribution, key: str) -> list[str]:
    return package.metadata.get_all(key) or []
