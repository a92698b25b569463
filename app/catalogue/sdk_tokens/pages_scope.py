"""The scope of a page of SDK tokens: all of them or one project's, with its addresses."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from flask import url_for

from app.catalogue.environments import service as environments
from app.catalogue.projects import service as projects
from app.catalogue.projects.models import Project
from app.catalogue.sdk_tokens import service
from app.catalogue.sdk_tokens.models import SdkToken
from app.web.current import current_actor


@dataclass(frozen=True)
class Scope:
    """All SDK tokens, for Admins; or those for one project alone, for its Owners."""

    project: Project | None = None

    @classmethod
    def of(cls, project_id: str) -> Self:
        """The scope of a project that the reader can see."""
        return cls(projects.get(current_actor, project_id))

    @property
    def project_id(self) -> str | None:
        return self.project.id if self.project else None

    @property
    def api(self) -> str:
        """Path of these tokens in the API."""
        place = f"/projects/{self.project_id}" if self.project else ""
        return f"/api/admin{place}/api-tokens"

    @property
    def crumbs(self) -> list[tuple[str, str]]:
        """The pages above the list, (title, address)."""
        if self.project is None:
            return []
        settings = url_for("project_pages.settings", project_id=self.project.id)
        all_projects = url_for("project_pages.index")
        return [("Projects", all_projects), (self.project.name, settings)]

    @cached_property
    def environments(self) -> list[str]:
        """Environments that a new token can be for."""
        found = environments.all_names(with_deprecated=False)
        readable = [name for name in found if service.is_readable(name)]
        own = self.project.environments if self.project else readable
        return [name for name in readable if name in own]

    def url(self, endpoint: str, **values: Any) -> str:
        """Address of a page in this scope: endpoints come in pairs, with and without a project."""
        if self.project is None:
            return url_for(endpoint, **values)
        return url_for(f"{endpoint}_in_project", project_id=self.project.id, **values)

    def token(self, token_id: int, *, for_change: bool = False) -> SdkToken:
        return service.get(str(token_id), project_id=self.project_id, for_change=for_change)
