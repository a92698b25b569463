"""Walls inside the rooms, as contracts for import-linter.

Files are recognised by the pattern of their names, so a new file can't be left out by mistake:
what no pattern names belongs to the domain.
"""

from fnmatch import fnmatch
from typing import cast

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output
from importlinter.domain.imports import ImportExpression

Import = tuple[str, str]


def _names() -> list[str]:
    """A field, which import-linter replaces by the list that pyproject.toml has for it."""
    return cast(list[str], fields.ListField(subfield=fields.StringField()))


class Wall(Contract):
    """A contract about single imports. What isn't imported directly isn't reached indirectly."""

    def forbidden(self, graph: ImportGraph) -> list[Import]:
        """Pairs of (importer, imported) that break the contract."""
        raise NotImplementedError

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002 - the signature is import-linter's
        found = self.forbidden(graph)
        return ContractCheck(kept=not found, metadata={"imports": sorted(found)})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for importer, imported in check.metadata["imports"]:
            output.print_error(f"{importer} -> {imported}")


class DomainWithoutWeb(Wall):
    """The domain imports neither a face nor the web.

    ``web``: packages that the domain must not know; those of ``app`` are not of the domain.
    ``faces``: patterns of the names of other files that are not of the domain.
    ``known``: imports that are allowed.
    """

    web = _names()
    faces = _names()
    known = cast(list[ImportExpression], fields.ListField(subfield=fields.ImportExpressionField()))

    def forbidden(self, graph: ImportGraph) -> list[Import]:
        known = {(str(one.importer), str(one.imported)) for one in self.known}
        return [
            (importer, imported)
            for importer in graph.find_descendants("app")
            if self._is_domain(importer)
            for imported in graph.find_modules_directly_imported_by(importer)
            if not self._is_domain(imported) and (importer, imported) not in known
        ]

    def _is_domain(self, module: str) -> bool:
        """Whether it is of the domain, or a library that the domain can import."""
        packages = module.split(".")
        is_web = any(".".join(packages[:end]) in self.web for end in range(1, len(packages) + 1))
        return not is_web and not (packages[0] == "app" and _matches(module, self.faces))


class Roles(Wall):
    """In a room, a file imports files of its own role or of lower ones only, in all areas.

    ``kernels``: rooms whose own files have no roles; there it holds inside each area. ``roles``:
    patterns of names, the highest role first; ``*`` is for what no other names.
    """

    kernels = _names()
    roles = _names()

    def forbidden(self, graph: ImportGraph) -> list[Import]:
        return [
            (importer, imported)
            for package in self._packages(graph)
            for importer in graph.find_descendants(package)
            for imported in graph.find_modules_directly_imported_by(importer)
            if imported.startswith(f"{package}.")
            and self._height(imported) > self._height(importer)
        ]

    def _packages(self, graph: ImportGraph) -> set[str]:
        """All rooms, but of the kernels their areas."""
        areas = (graph.find_children(kernel) for kernel in self.kernels)
        return (graph.find_children("app") - set(self.kernels)).union(*areas)

    def _height(self, module: str) -> int:
        named = [_matches(module, role.split()) for role in self.roles]
        position = named.index(True) if True in named else self.roles.index("*")
        return -position


def _matches(module: str, patterns: list[str]) -> bool:
    name = module.rpartition(".")[2]
    return any(pattern != "*" and fnmatch(name, pattern) for pattern in patterns)
