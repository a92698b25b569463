"""Checks what was understood of an Unleash by the rules of this instance."""

from app.exchange.documents import schemas
from app.exchange.documents.documents import Document, Fault, Kind, empty
from app.exchange.documents.plans import Wanted
from app.exchange.documents.renaming import fitting_name
from app.exchange.unleash.unleash import Translation


def wanted(translation: Translation, environments: list[str] | None = None) -> Wanted:
    """What the source says, with what is wrong with it by kind and name; uses up what it is given.

    ``environments``: those whose states it knows; without them, those that it has.
    """
    document: Document = empty()
    faults: dict[tuple[Kind, str], list[Fault]] = {
        key: found for key, found in translation.faults.items() if found
    }
    known = environments or list(translation.raws[Kind.ENVIRONMENTS])
    for kind, raws in translation.raws.items():
        for name in list(raws):
            raw = raws.pop(name)
            has_odd_name = any(f.path == "name" for f in faults.get((kind, name), ()))
            checked = raw | {"name": fitting_name(name)} if has_odd_name else raw
            item, problems = schemas.checked(kind, checked)
            if problems:
                faults.setdefault((kind, name), []).extend(problems)
            if item is not None:
                document[kind][name] = item | {"name": raw["name"]} if has_odd_name else item
    return Wanted(document, faults, translation.fields, known, is_exact=True)
