"""Walls inside the areas, as contracts for import-linter.

Files are recognised by the pattern of their names, so a new file can't be left out by mistake:
what no pattern names belongs to the domain.
"""

from fnmatch import fnmatch
from typing import cast

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output
from importlinter.domain.imports import ImportExpression

Chain = tuple[str, ...]


def _names() -> list[str]:
    """A field, which import-linter replaces by the list that pyproject.toml has for it."""
    return cast(list[str], fields.ListField(subfield=fields.StringField()))


class Areas(Contract):
    """What both walls are about: every folder of the application that is not ``outside``."""

    outside = _names()

    def modules(self, graph: ImportGraph) -> list[list[str]]:
        """The modules of each area."""
        areas = sorted(graph.find_children("app") - set(self.outside))
        return [sorted(graph.find_descendants(area)) for area in areas]

    def render_broken_contract(self, check: ContractCheck) -> None:
        for chain in check.metadata["chains"]:
            output.print_error(" -> ".join(chain))


class DomainWithoutWeb(Areas):
    """The domain imports no face and nothing of the web, not even through other modules.

    ``faces``: patterns of the names of files that are not of the domain.
    ``web``: packages that the domain must not know. ``known``: the imports that are allowed.
    """

    faces = _names()
    web = _names()
    known = cast(
        list[ImportExpression] | None,
        fields.ListField(subfield=fields.ImportExpressionField(), required=False),
    )

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002 - the signature is import-linter's
        for expression in self.known or []:
            graph.remove_import(
                importer=str(expression.importer), imported=str(expression.imported)
            )
        everything = [module for modules in self.modules(graph) for module in modules]
        faces = {module for module in everything if _matches(module, self.faces)}
        domain = [*sorted(set(everything) - faces), "app.core"]
        forbidden = [*sorted(faces), *(name for name in self.web if name in graph.modules)]
        chains = [
            chain
            for importer in domain
            for imported in forbidden
            for chain in graph.find_shortest_chains(importer, imported, as_packages=True)
        ]
        return ContractCheck(kept=not chains, metadata={"chains": sorted(chains)})


class LayersByPattern(Areas):
    """Inside an area a file imports files of its own layer or of lower ones only.

    ``layers``: patterns of names, the highest layer first; ``*`` is for what no other names.
    """

    layers = _names()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002 - as above
        chains: list[Chain] = [
            (importer, imported)
            for modules in self.modules(graph)
            for importer in modules
            for imported in graph.find_modules_directly_imported_by(importer)
            if imported in modules and self._height(imported) > self._height(importer)
        ]
        return ContractCheck(kept=not chains, metadata={"chains": sorted(chains)})

    def _height(self, module: str) -> int:
        named = [_matches(module, layer.split()) for layer in self.layers]
        position = named.index(True) if True in named else self.layers.index("*")
        return -position


def _matches(module: str, patterns: list[str]) -> bool:
    name = module.rpartition(".")[2]
    return any(pattern != "*" and fnmatch(name, pattern) for pattern in patterns)
