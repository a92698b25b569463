from typing import Any

from flask import render_template
from flask.typing import ResponseReturnValue

from app.access.security_log import schemas, service
from app.access.security_log.models import SecurityEntry
from app.access.security_log.words import WORDS
from app.accounts import service as accounts
from app.core.permissions import Permission
from app.web import exports
from app.web.current import current_settings
from app.web.listing import Query, as_time, days_in_words, days_of, read_query
from app.web.routes import PageBlueprint

bp = PageBlueprint("security_log_pages", __name__)

LABELS = {"kind": "What", "account": "Account", "ip": "Address", "from": "From", "to": "Before"}
TITLES = {kind.value: words.title for kind, words in WORDS.items()}
ROW = schemas.SecurityRow()


@bp.get("/security-log", needs=Permission.ADMIN)
def index() -> ResponseReturnValue:
    """List the entries, newest first, or export all that match."""
    query = read_query(schemas.SecurityQuery, as_time)
    if exports.wanted():
        return _file(query)
    entries, _ = service.search(**query.values, count=False)
    names = _names(query, entries)
    account = names.get(query.values.get("account", 0))
    chosen = {"kind": TITLES, "account": {query.given["account"]: account} if account else {}}
    chosen |= days_in_words(query)
    return render_template(
        "access/security_log/index.html",
        query=query,
        entries=entries,
        words=WORDS,
        keeps=current_settings().security_log_days,
        names=names,
        older=entries[-1].id if len(entries) == query.values["limit"] else None,
        filters=query.in_use(LABELS, chosen),
        kinds=list(TITLES.items()),
        dates=days_of(query),
    )


def _names(query: Query, entries: list[SecurityEntry]) -> dict[int, str]:
    """The full names of the accounts in these entries, and of the one in the filter."""
    ids = {query.values.get("account"), *(entry.account_id for entry in entries)}
    return accounts.names({id for id in ids if id is not None})


def _file(query: Query) -> ResponseReturnValue:
    filters: dict[str, Any] = {
        name: value for name, value in query.values.items() if name not in {"limit", "before"}
    }
    columns = [field.data_key or key for key, field in ROW.dump_fields.items()]
    return exports.file("security-log", columns, map(ROW.dump, service.stream(**filters)))
