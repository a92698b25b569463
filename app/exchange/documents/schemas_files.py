"""Reads the content of a file in Flagstaff’s own format."""

from typing import Any

from app.core.errors import Detail, Invalid
from app.exchange.documents import schemas
from app.exchange.documents.documents import VERSION, Fault, Item, Kind, empty, name_of
from app.exchange.documents.plans import Wanted


def wanted(content: Any) -> Wanted:
    """Read the content of a file.

    Raises:
        Invalid: with every problem, since the people who write the file can correct them.

    """
    require_document(content)
    document, problems = empty(), list(_unknown(content))
    for kind in Kind:
        raws = content.get(kind.value, [])
        if kind is Kind.BROWSER_ORIGINS and kind.value in content:
            raws = [{"origins": raws}]
        if not isinstance(raws, list):
            problems.append({"path": f"/{kind}", "message": "Must be a list."})
            continue
        for place, raw in enumerate(raws):
            item, faults = schemas.checked(kind, raw)
            problems += _problems(kind, place, raw, faults)
            if item is None:
                continue
            name = name_of(kind, item)
            if name in document[kind]:
                message = f"{name!r} is there twice."
                problems.append({"path": f"/{kind}/{place}", "message": message})
            document[kind][name] = item
    if problems:
        raise Invalid.because(problems)
    return Wanted(document)


def require_document(content: Any) -> None:
    """Refuse what can’t be a document of Flagstaff."""
    if not isinstance(content, dict) or content.get("version") != VERSION:
        raise Invalid(
            f"This is not a document of Flagstaff: it must be an object with version: {VERSION}. "
            "To bring in what Unleash exported, use flagstaff import file."
        )


def _unknown(content: dict[str, Any]) -> list[Detail]:
    known = {"version", *(kind.value for kind in Kind)} - {Kind.SDK_TOKENS.value}
    return [
        {"path": f"/{key}", "message": "Unknown kind of thing."}
        for key in content
        if key not in known
    ]


def _problems(kind: Kind, place: int, raw: Any, faults: list[Fault]) -> list[Detail]:
    return [
        {
            "path": f"/{kind}/{place}/{fault.path}".rstrip("/"),
            "message": f"{_called(kind, raw)}{fault.message}",
        }
        for fault in faults
    ]


def _called(kind: Kind, raw: Any) -> str:
    """The name of the thing, which people find sooner than its number in the path."""
    try:
        item: Item = {"username": None, "email": None, **raw}
        return f"({name_of(kind, item)}) "
    except (KeyError, TypeError):
        return ""
