"""Reads a running Unleash through its admin API, with a token of one of its admins."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import quote

import urllib3

from app.core.config.allowed_hosts import AllowedHost, find
from app.core.errors import Conflict
from app.core.outgoing import NotAllowed, resolve
from app.core.targets import PATTERN, parse
from app.exchange.unleash.unleash import Raw, Snapshot

T = TypeVar("T")

EXAMPLE = "https://unleash.example.com"
FIRST_VERSION = 5
AT_ONCE = 6
"""Requests at the same time: enough to be quick, and too few to disturb the other server."""
SECONDS = 60.0
MAX_ANSWER = 200_000_000
SETTING = "FLAGSTAFF_IMPORT_HOSTS"
TEMPLATES = "/api/admin/release-plan-templates"
LEAST_STRATEGIES = 2
"""Features with fewer have no order to ask for."""

Note = Callable[[str, int, int], object]
"""Called with what is being read, how many are read, and how many there are."""


class UnleashRefused(Conflict):
    """The other server can’t be read; the message says why and what to do."""

    when = "An Unleash that features are to be read from gives no answer that can be used."
    remedy = "Check the address and the token that the message names."


class TokenRefused(UnleashRefused):
    """The other server is there, and doesn’t take the token."""


class Unleash:
    """The admin API of a running Unleash. ``hosts``: where it may be; None for anywhere."""

    def __init__(self, url: str, token: str, hosts: Sequence[AllowedHost] | None = None) -> None:
        address = re.sub(r"/api(/admin)?/?$", "", url.strip().rstrip("/"))
        if not re.fullmatch(PATTERN, address):
            raise UnleashRefused(f"{url!r} is not an address like https://unleash.example.com.")
        try:
            target = parse(address)
            if hosts is not None and not find(hosts, target.scheme, target.host, target.port):
                raise UnleashRefused(
                    f"Flagstaff may not read from {target.origin} yet. Ask the people who run the "
                    f"server to add {target.origin} to {SETTING}."
                )
            found = None if hosts is None else resolve(target, hosts, SETTING)[0]
        except NotAllowed as error:
            raise UnleashRefused(str(error)) from None
        except OSError as error:
            raise UnleashRefused(f"{target.host} was not found: {error.strerror}.") from None
        except ValueError:
            raise UnleashRefused(f"{url!r} has no possible port.") from None
        self.url, self.host = address, target.host
        self._base = target.path.rstrip("/")
        self._headers = {"Authorization": token.strip(), "Host": target.authority}
        self._pool = urllib3.PoolManager(
            server_hostname=target.host,  # whose certificate is at the checked address
            timeout=SECONDS,
            maxsize=AT_ONCE,
            # Version 8 allows few searches a minute, and says how long to wait for the next.
            retries=urllib3.Retry(
                3,
                redirect=0,
                raise_on_redirect=False,
                status_forcelist=[HTTPStatus.TOO_MANY_REQUESTS],
                allowed_methods=None,
            ),
        ).connection_from_host(found or target.host, target.port, target.scheme)

    def get(self, path: str) -> Any:
        return self._ask("GET", path)

    def find(self, path: str) -> Any:
        """GET a path; None if this version doesn’t have it."""
        return self._ask("GET", path, may_be_missing=True)

    def post(self, path: str, body: Any) -> Any:
        return self._ask("POST", path, body)

    def version(self) -> str:
        """The version of the server. Refuse a server that can’t be read."""
        config = self.get("/api/admin/ui-config")
        found = config.get("versionInfo", {}).get("current", {}) if isinstance(config, dict) else {}
        version = str(found.get("enterprise") or found.get("oss") or "")
        if not re.match(r"\d+\.", version):
            raise UnleashRefused(f"{self.url} does not answer like an Unleash.")
        if int(version.partition(".")[0]) < FIRST_VERSION:
            raise UnleashRefused(
                f"{self.url} is Unleash {version}. Download its state from "
                "/api/admin/state/export, and import that file."
            )
        return version

    def _ask(
        self, method: str, path: str, body: Any = None, *, may_be_missing: bool = False
    ) -> Any:
        headers = {**self._headers, "Accept": "application/json"}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        try:
            answer = self._pool.urlopen(
                method, self._base + path, body=data, headers=headers, preload_content=False
            )
            # One byte more than is allowed, to notice what is larger.
            content = answer.read(MAX_ANSWER + 1, decode_content=True)
            answer.release_conn()
        except urllib3.exceptions.HTTPError as error:
            reason = getattr(error, "reason", None) or error
            raise UnleashRefused(f"{self.url} can’t be reached: {reason}.") from None
        if may_be_missing and answer.status in {400, 403, 404}:
            return None
        if answer.status in {401, 403}:
            raise TokenRefused(
                f"{self.url} refuses the token at {path} ({answer.status}). Use a personal access "
                "token of one of its admins."
            )
        if answer.status != HTTPStatus.OK:
            raise UnleashRefused(f"{self.url}{path} answers {answer.status}, and is of no use.")
        if len(content) > MAX_ANSWER:
            raise UnleashRefused(f"{self.url}{path} answers with more than 200 MB.")
        try:
            return json.loads(content)
        except ValueError:
            raise UnleashRefused(f"{self.url}{path} does not answer with JSON.") from None


def read(unleash: Unleash, note: Note = lambda _what, _done, _all: None) -> Snapshot:
    """Read everything from a running Unleash.

    Raises:
        UnleashRefused: when it can’t be read.

    """
    version = unleash.version()
    snapshot = Snapshot(f"Unleash {version} at {unleash.url}")
    reader = _Reader(unleash, snapshot, note)
    reader.read()
    return snapshot


class _Reader:
    def __init__(self, unleash: Unleash, snapshot: Snapshot, note: Note) -> None:
        self.unleash, self.snapshot, self.note = unleash, snapshot, note

    def read(self) -> None:
        get, find, snapshot = self.unleash.get, self.unleash.find, self.snapshot
        config = get("/api/admin/ui-config")
        snapshot.origins = config.get("frontendApiOrigins") or []
        snapshot.environments = get("/api/admin/environments")["environments"]
        snapshot.context_fields = get("/api/admin/context")
        snapshot.segments = (find("/api/admin/segments") or {}).get("segments", [])
        snapshot.tag_types = get("/api/admin/tag-types")["tagTypes"]
        snapshot.tags = get("/api/admin/tags")["tags"]
        snapshot.strategy_types = [
            type for type in get("/api/admin/strategies")["strategies"] if type.get("editable")
        ]
        people = find("/api/admin/user-admin") or {"users": []}
        snapshot.users = [u for u in people["users"] if u.get("accountType", "User") == "User"]
        snapshot.root_roles = {role["id"]: role["name"] for role in people.get("rootRoles", ())}
        snapshot.tokens = (find("/api/admin/api-tokens") or {}).get("tokens", [])
        self._projects()
        self._own_context_fields()
        self._release_templates()
        self._features()
        self._count()

    def _own_context_fields(self) -> None:
        """Add context fields of single projects (Unleash 7 on). Here they are for all projects."""
        known = {each["name"] for each in self.snapshot.context_fields}
        for project in self.snapshot.projects:
            path = f"/api/admin/projects/{quote(project['id'], safe='')}/context"
            for each in self.unleash.find(path) or ():
                if each["name"] not in known:
                    known.add(each["name"])
                    self.snapshot.context_fields.append(each)

    def _release_templates(self) -> None:
        """Read release templates, where the edition has them. A list has those of all projects."""
        listed = self._may_fail(TEMPLATES)
        if listed is None:
            return
        places = [
            f"/api/admin/projects/{quote(project['id'], safe='')}/release-templates"
            for project in self.snapshot.projects
        ]
        found = {each["id"]: (each, TEMPLATES) for each in listed}
        lists = self._each("release templates", self._may_fail, places)
        for place, of_project in zip(places, lists, strict=True):
            for each in of_project or ():
                found.setdefault(each["id"], (each, place))
        self.snapshot.release_templates = self._each(
            "release templates", self._release_template, found.values()
        )

    def _release_template(self, place: tuple[Raw, str]) -> Raw:
        """A template with its steps, which lists may leave out. ``place``: it, and its list."""
        listed, path = place
        paths = (f"{each}/{quote(listed['id'], safe='')}" for each in (TEMPLATES, path))
        whole: Raw = next(filter(None, map(self._may_fail, dict.fromkeys(paths))), {})
        return {**listed, **whole}

    def _may_fail(self, path: str) -> Any:
        """GET a path that not every edition has. None, and a note, if Unleash fails to answer."""
        try:
            return self.unleash.find(path)
        except TokenRefused:
            raise
        except UnleashRefused as error:
            self.snapshot.notes.append(f"Release templates can’t be read. {error.message}")
            return None

    def _count(self) -> None:
        """Read how much Unleash counts, of features and of release plans.

        Note if it counts more features than it lists: the open-source edition may.
        """
        statistics = self.unleash.find("/api/admin/instance-admin/statistics") or {}
        self.snapshot.release_plans = statistics.get("releasePlans") or 0
        listed = sum(not each.get("archived") for each in self.snapshot.features)
        if (counted := statistics.get("featureToggles") or 0) > listed:
            self.snapshot.notes.append(
                f"Unleash counts {counted:,} features, and gave {listed:,}. The others may be in "
                "projects that its edition does not list."
            )

    def _projects(self) -> None:
        active = self.unleash.get("/api/admin/projects")["projects"]
        known = {project["id"] for project in active}
        archived = (self.unleash.find("/api/admin/projects?archived=true") or {}).get(
            "projects", ()
        )
        listed = [*active, *(p for p in archived if p["id"] not in known and p.get("archivedAt"))]
        self.snapshot.projects = self._each("projects", self._project, listed)

    def _project(self, listed: Raw) -> Raw:
        id = quote(listed["id"], safe="")
        overview = self.unleash.find(f"/api/admin/projects/{id}/overview")
        if overview is None:
            overview = self.unleash.find(f"/api/admin/projects/{id}") or {}
        environments = overview.get("environments") or []
        if environments and isinstance(environments[0], str):
            environments = [{"environment": name} for name in environments]
        usable = {each["name"] for each in self.snapshot.environments}
        used = [each for each in environments if each["environment"] in usable]
        return {**listed, **overview, "id": listed["id"], "environments": used} | {
            "archivedAt": listed.get("archivedAt")
        }

    def _features(self) -> None:
        places = [
            (project["id"], each["environment"])
            for project in self.snapshot.projects
            for each in project["environments"]
        ]
        exports = self._each("features", self._export, places)
        seen: dict[str, Raw] = {}
        tagged: set[tuple[str, str, str]] = set()
        for (_, environment), export in zip(places, exports, strict=True):
            self._take(export, environment, seen, tagged)
        self._archived(seen, tagged)
        self.snapshot.features = list(seen.values())
        self._put_in_order()

    def _export(self, place: tuple[str, str]) -> Raw:
        project, environment = place
        body = {"environment": environment, "project": project}
        found: Raw = self.unleash.post("/api/admin/features-batch/export", body)
        return found

    def _take(
        self,
        export: Raw,
        environment: str,
        seen: dict[str, Raw],
        tagged: set[tuple[str, str, str]],
    ) -> None:
        snapshot = self.snapshot
        if "links" in export:
            found = [each for each in export["links"] if each["feature"] not in seen]
            snapshot.links = [*(snapshot.links or ()), *found]
        for feature in export["features"]:
            seen.setdefault(feature["name"], feature)
        snapshot.states += export["featureEnvironments"]
        snapshot.strategies += [
            strategy | {"environment": environment} for strategy in export["featureStrategies"]
        ]
        known = {each["feature"] for each in snapshot.dependencies}
        snapshot.dependencies += [
            each for each in export.get("dependencies") or () if each["feature"] not in known
        ]
        for tag in export["featureTags"]:
            key = tag["featureName"], tag.get("tagType") or "", tag.get("tagValue") or ""
            if key not in tagged:
                tagged.add(key)
                snapshot.feature_tags.append(tag)

    def _archived(self, seen: dict[str, Raw], tagged: set[tuple[str, str, str]]) -> None:
        """Read archived features: an export has them only if it asks for them by name."""
        listed = self._archived_list()
        for feature in listed:
            seen[feature["name"]] = feature | {"archived": True}
        names = [feature["name"] for feature in listed]
        environments = [each["name"] for each in self.snapshot.environments]
        places = [
            (environment, names[start : start + 500])
            for environment in environments
            for start in range(0, len(names), 500)
        ]
        for (environment, _), export in zip(
            places, self._each("archived features", self._named_export, places), strict=True
        ):
            self._take(export, environment, seen, tagged)

    def _named_export(self, place: tuple[str, list[str]]) -> Raw:
        environment, names = place
        body = {"environment": environment, "features": names}
        found: Raw = self.unleash.post("/api/admin/features-batch/export", body)
        return found

    def _archived_list(self) -> list[Raw]:
        old = self.unleash.find("/api/admin/archive/features")
        if old is not None:
            return list(old["features"])
        found: list[Raw] = []
        while True:
            path = f"/api/admin/search/features?archived=IS:true&limit=100&offset={len(found)}"
            page = self.unleash.get(path)["features"]
            found += page
            if not page:
                return found

    def _put_in_order(self) -> None:
        """Sort the strategies: an export has them in any order, and the first that fits decides."""
        numbers: dict[tuple[str, str], int] = {}
        for raw in self.snapshot.strategies:
            place = raw["featureName"], raw["environment"]
            numbers[place] = numbers.get(place, 0) + 1
        projects = {raw["name"]: raw.get("project") or "default" for raw in self.snapshot.features}
        several = sorted(
            (projects[name], name, environment)
            for (name, environment), number in numbers.items()
            if number >= LEAST_STRATEGIES
        )
        places: dict[str, int] = {}
        for strategies in self._each("order of strategies", self._strategies, several):
            places |= {each["id"]: place for place, each in enumerate(strategies)}
        self.snapshot.strategies.sort(key=lambda raw: places.get(raw["id"], 0))

    def _strategies(self, place: tuple[str, str, str]) -> list[Raw]:
        project, name, environment = (quote(part, safe="") for part in place)
        found: list[Raw] = self.unleash.get(
            f"/api/admin/projects/{project}/features/{name}/environments/{environment}/strategies"
        )
        return sorted(found, key=lambda each: each.get("sortOrder") or 0)

    def _each(self, what: str, ask: Callable[[T], Any], about: Iterable[T]) -> list[Any]:
        """Ask about each, several at once. Return the answers in order."""
        todo = list(about)
        answers: list[Any] = []
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for answer in pool.map(ask, todo):
                answers.append(answer)
                self.note(what, len(answers), len(todo))
        return answers
