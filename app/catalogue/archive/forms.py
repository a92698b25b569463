from typing import Any

from app.catalogue.features.forms import cut


def archive_body(names: list[str], detach: list[str]) -> dict[str, Any]:
    """The plan as a body of the API; a long list of features is cut."""
    body: dict[str, Any] = {"features": cut(names)}
    return body | {"removeDependenciesOn": detach} if detach else body
