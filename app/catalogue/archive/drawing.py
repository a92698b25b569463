"""A drawing of a selection's dependencies: parents with their children below."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from app.catalogue.archive.service import ArchivePlan

LINE, GAP, TOP = 26, 12, 12
"""In pixels, like all sizes here."""
MOST_LINES = 60
LETTER = 7.3
"""Width of a letter, roughly: enough to leave room for the longest name."""


@dataclass(frozen=True, slots=True)
class Node:
    """A feature at height ``y``; ``blocks``: not selected, so its parent can't be archived."""

    name: str
    y: int
    is_selected: bool
    blocks: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    parent: Node
    children: list[Node]


@dataclass(frozen=True, slots=True)
class Drawing:
    """``left_out``: the number of trees that did not fit; the table has them all."""

    trees: list[Tree]
    width: int
    height: int
    left_out: int


def draw(plan: ArchivePlan) -> Drawing:
    """Place each parent with its children; blocked parents come first."""
    families: defaultdict[str, list[str]] = defaultdict(list)
    for edge in plan.dropped:
        families[edge.parent].append(edge.child)
    trees: list[Tree] = []
    y, lines = TOP, 0
    ordered = sorted(families, key=lambda name: (name not in plan.blocked, name))
    for name in ordered:
        if lines + len(families[name]) >= MOST_LINES and trees:
            break
        parent = Node(name, y, name in plan.ids)
        children = [
            Node(child, y + LINE * place, child in plan.ids, child in plan.blocked.get(name, ()))
            for place, child in enumerate(sorted(families[name]), 1)
        ]
        trees.append(Tree(parent, children))
        lines += 1 + len(children)
        y += LINE * (1 + len(children)) + GAP
    return Drawing(trees, _width(trees), max(y - GAP, TOP), len(ordered) - len(trees))


def _width(trees: Iterable[Tree]) -> int:
    # 24 and 62: where the template begins the names of parents and of children
    names = [(24, tree.parent.name) for tree in trees]
    names += [(62, child.name) for tree in trees for child in tree.children]
    return int(max((x + len(name) * LETTER for x, name in names), default=200)) + 8
