"""Filters and globals of all templates."""

import json
import re
from datetime import UTC, datetime, timedelta, tzinfo
from math import inf
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from flask import Flask, g, request
from flask.templating import Environment
from markupsafe import Markup, escape

from app.core.clock import utcnow
from app.core.maintenance import service as maintenance
from app.core.permissions import Permission, who_can_grant
from app.core.words import counted, initials, lasting, spoken
from app.web.current import current_zone
from app.web.navigation import navigation

MINUTE, HOUR, DAY = 60, 3_600, 86_400
THEME_COOKIE = "flagstaff-theme"
THEMES = ("light", "dark")
_joints = re.compile(r"[._:/]")


class TemplateEnvironment(Environment):
    """In templates, ``some_dict[name]`` is an entry or undefined.

    Jinja alone would return the method of a dict without an entry called ``keys`` or ``update``,
    and features, environments and projects can have such names.
    """

    def getitem(self, obj: Any, argument: Any) -> Any:
        if not isinstance(obj, dict):
            return super().getitem(obj, argument)
        try:
            return obj[argument]
        except KeyError:
            return self.undefined(obj=obj, name=argument)


def init_app(app: Flask) -> None:
    app.jinja_environment = TemplateEnvironment
    env = app.jinja_env
    env.trim_blocks = env.lstrip_blocks = True
    env.filters |= {
        "age": age,
        "ago": ago,
        "both": both,
        "clock": clock,
        "local": local,
        "lasting": lasting,
        "moment": moment,
        "breakable": breakable,
        "capitalize_first": lambda text: text[:1].upper() + text[1:],
        "spoken": spoken,
        "counted": counted,
        "initials": initials,
    }
    env.globals |= {
        "address": address,
        "page_path": page_path,
        "api_curl": api_curl,
        "api_python": api_python,
        "Permission": Permission,
        "navigation": navigation,
        "maintenance": maintenance.current,
        "who_can_grant": who_can_grant,
        "now": utcnow,
        "zone_name": zone_name,
    }
    env.globals |= {
        "version": app.config["API_VERSION"],
        "instance": urlsplit(app.config["SETTINGS"].base_url).hostname,
    }
    app.context_processor(
        lambda: {"actor": g.get("actor"), "theme": theme(), "root": request.script_root}
    )


def ago(at: datetime) -> Markup:
    """``3 hours ago`` as a <time> whose title has the moment itself."""
    return _time(at, _relative(at, utcnow()))


def theme() -> str | None:
    """``light`` or ``dark`` if that was chosen in this browser; None leaves it to the system."""
    chosen = request.cookies.get(THEME_COOKIE)
    return chosen if chosen in THEMES else None


def age(since: datetime) -> Markup:
    """``12 days``, ``5 months``, ``2 years``, as a <time>."""
    days = (utcnow() - since).days
    steps = ((60, 1, "day"), (730, 30, "month"), (inf, 365, "year"))
    length, unit = next((length, unit) for limit, length, unit in steps if days < limit)
    return _time(since, counted(days // length, unit) if days > 0 else "today")


def moment(at: datetime) -> Markup:
    """``21 Nov 2026, 15:03`` in the reader's time zone, or with ``UTC`` after it, as a <time>."""
    return _time(at, _absolute(at, current_zone()))


def both(at: datetime) -> Markup:
    """``21 Nov 2026, 15:03 (14:03 UTC)`` as a <time>, for when something will happen."""
    return _time(at, _in_both(at))


def clock(at: datetime, *, seconds: bool = False) -> Markup:
    """``15:03``, or ``15:03:09``, in the reader's time zone, as a <time>."""
    return _time(at, f"{local(at):{'%H:%M:%S' if seconds else '%H:%M'}}")


def local(at: datetime) -> datetime:
    """The same moment in the reader's time zone."""
    return at.astimezone(current_zone())


def zone_name() -> str:
    """The reader's time zone with its distance from UTC now: ``the time of Stockholm (UTC+1)``."""
    zone, now = current_zone(), utcnow()
    if zone is UTC:
        return "UTC"
    hours = (now.astimezone(zone).utcoffset() or timedelta()) / timedelta(hours=1)
    return f"the time of {_place(zone)} (UTC{hours:+g})"


def breakable(name: str) -> Markup:
    """A long name, path or IPv6 address, which may break after ``.``, ``_``, ``:`` and ``/``."""
    return Markup(_joints.sub(r"\g<0><wbr>", str(escape(name))))  # noqa: S704 - escaped here


def address(**changes: Any) -> str:
    """The address of the page itself with some parameters changed; None removes one."""
    gone = {*changes, "kept"}
    given = [(k, v) for k, v in request.args.items(multi=True) if v and k not in gone]
    given += [(k, v) for k, v in changes.items() if v is not None]
    return f"?{urlencode(given)}" if given else page_path()


def page_path() -> str:
    """The path of the page itself, without filters."""
    return request.script_root + quote(request.path)


def api_curl(method: str, path: str, body: Any = None, *, if_match: bool = False) -> str:
    """The shell command that does the same as a page."""
    lines = [f'curl{"" if method == "GET" else f" -X {method}"} "$FLAGSTAFF_URL{path}"']
    lines.append('-H "Authorization: $FLAGSTAFF_TOKEN"')
    if if_match:
        lines.append('-H "If-Match: $ETAG"')
    if body is not None:
        lines.append('-H "Content-Type: application/json"')
        quoted = json.dumps(body, ensure_ascii=False, indent=1).replace("'", "'\\''")
        lines.append(f"-d '{quoted}'")
    return " \\\n  ".join(lines)


def api_python(method: str, path: str, body: Any = None, *, if_match: bool = False) -> str:
    """The Python script that does the same as a page."""
    headers = '{"Authorization": os.environ["FLAGSTAFF_TOKEN"]'
    headers += ', "If-Match": etag}' if if_match else "}"
    lines = [
        "import os, requests",
        "",
        f"answer = requests.{method.lower()}(",
        f'    os.environ["FLAGSTAFF_URL"] + {json.dumps(path)},',
        f"    headers={headers},",
    ]
    if body is not None:
        lines.append(f"    json={_indented(_python(body))},")
    lines += [")", "answer.raise_for_status()"]
    if method == "GET":
        lines.append("print(answer.json())")
    return "\n".join(lines)


def _python(body: Any) -> str:
    if isinstance(body, dict):
        inner = "".join(f" {key!r}: {_indented(_python(v), 1)},\n" for key, v in body.items())
        return f"{{\n{inner}}}" if body else "{}"
    if isinstance(body, list) and body:
        inner = "".join(f" {_indented(_python(v), 1)},\n" for v in body)
        return f"[\n{inner}]"
    return repr(body)


def _indented(text: str, by: int = 4) -> str:
    return text.replace("\n", "\n" + " " * by)


def _time(at: datetime, words: str) -> Markup:
    iso = at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    title = _in_both(at, with_place=True)
    return Markup('<time datetime="%s" title="%s">%s</time>') % (iso, title, words)


def _absolute(at: datetime, zone: tzinfo) -> str:
    there = at.astimezone(zone)
    return f"{there.day} {there:%b %Y, %H:%M}{' UTC' if zone is UTC else ''}"


def _in_both(at: datetime, *, with_place: bool = False) -> str:
    """A moment in the reader's time zone and in UTC."""
    zone, utc = current_zone(), at.astimezone(UTC)
    if zone is UTC:
        return _absolute(at, UTC)
    there = _absolute(at, zone) + (f" in {_place(zone)}" if with_place else "")
    same_day = utc.date() == at.astimezone(zone).date()
    return f"{there} ({f'{utc:%H:%M} UTC' if same_day else _absolute(at, UTC)})"


def _place(zone: tzinfo) -> str:
    """``Stockholm``, of ``Europe/Stockholm``."""
    return str(zone).rpartition("/")[2].replace("_", " ")


def _relative(at: datetime, now: datetime) -> str:
    """How long ago, in the largest fitting unit; a date from 14 days on, and in the future."""
    seconds = (now - at).total_seconds()
    steps = (
        (MINUTE, "just now"),
        (HOUR, counted(int(seconds // MINUTE), "minute") + " ago"),
        (DAY, counted(int(seconds // HOUR), "hour") + " ago"),
        (2 * DAY, "yesterday"),
        (14 * DAY, counted(int(seconds // DAY), "day") + " ago"),
    )
    for limit, words in steps:
        if 0 <= seconds < limit:
            return words
    at, now = local(at), local(now)
    same_year = at.year == now.year
    return f"{at.day} {at:%b}" if same_year else f"{at.day} {at:%b %Y}"
