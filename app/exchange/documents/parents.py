"""Dependencies of features as they will be once a plan is written."""

from collections import defaultdict
from collections.abc import Iterator

import sqlalchemy as sa

from app.catalogue.features.dependencies import unknown_variants
from app.catalogue.features.models import Dependency, Feature
from app.core.db import db
from app.exchange.documents import reading_features
from app.exchange.documents.documents import Fault, Item


class Parents:
    """Checks dependencies. ``add`` each feature that a plan takes, before the next is checked.

    ``is_exact``: whether to keep variants that a parent doesn't have, as its source does.
    """

    def __init__(self, *, is_exact: bool) -> None:
        self.is_exact = is_exact
        child, parent = sa.alias(Feature.__table__), sa.alias(Feature.__table__)
        query = (
            sa.select(child.c.name, parent.c.name)
            .select_from(Dependency)
            .join(child, child.c.id == Dependency.child_id)
            .join(parent, parent.c.id == Dependency.parent_id)
        )
        self.of = dict(db.session.execute(query).all())
        self.children: defaultdict[str, set[str]] = defaultdict(set)
        for name, parent_name in self.of.items():
            self.children[parent_name].add(name)
        self.planned: dict[str, Item] = {}

    def add(self, item: Item) -> None:
        name = item["name"]
        self.planned[name] = item
        self.children[self.of.pop(name, "")].discard(name)
        if item["parent"]:
            self.of[name] = item["parent"]["feature"]
            self.children[item["parent"]["feature"]].add(name)

    def faults(self, item: Item, current: Item | None) -> Iterator[Fault]:
        name, parent = item["name"], item["parent"]
        children = sorted(self.children[name])
        if item["archived"] and children and current is not None and not current["archived"]:
            yield Fault("archived", f"Other features depend on it: {', '.join(children[:5])}.")
        if parent is None:
            return
        if item["archived"]:
            yield Fault("parent", "An archived feature depends on nothing.")
        elif children:
            yield Fault("parent", f"Other features depend on {name}, so it cannot depend on one.")
        elif message := self._obstacle(item, parent["feature"]):
            yield Fault("parent", message)
        elif parent["variants"] and not parent["enabled"]:
            yield Fault("parent", "A parent that must be off has no variant.")
        elif not self.is_exact and parent != (current or {}).get("parent"):
            states = self.planned[parent["feature"]]["environments"].values()
            own = (each["variants"] for state in states for each in state["strategies"])
            lists = (*own, *(state["variants"] for state in states))
            for message in unknown_variants(parent["feature"], parent["variants"], lists).values():
                yield Fault("parent", message)

    def _obstacle(self, item: Item, name: str) -> str | None:
        if name == item["name"]:
            return f"{name} cannot depend on itself."
        found = self.planned.get(name) or dict(reading_features.features(names=[name])).get(name)
        if found is None or found["project"] != item["project"]:
            return f"There is no feature named {name} in project {item['project']}."
        if found["archived"]:
            return f"{name} is archived. Only active features can have dependencies."
        if name in self.of:
            return f"{name} depends on another feature, so nothing can depend on it."
        self.planned[name] = found
        return None
