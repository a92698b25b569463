"""Compares a document with this instance, and decides what to do about each thing.

Making a plan changes nothing. Two plans are equal as long as nothing changes here.
"""

from collections.abc import Iterator, Mapping, Sequence

import sqlalchemy as sa

from app.accounts.models import key_of
from app.accounts.tokens.models import HINT_LENGTH
from app.catalogue.projects import service as projects
from app.catalogue.releases.models import Release
from app.catalogue.segments import queries as segments
from app.catalogue.segments.models import Segment
from app.catalogue.strategies import custom, types
from app.core.db import chunks, db
from app.core.words import is_key
from app.exchange.documents import reading, reading_features, releases, renaming
from app.exchange.documents.documents import STATE, Fault, Item, Kind, digest
from app.exchange.documents.known import Known
from app.exchange.documents.parents import Parents
from app.exchange.documents.plans import Choice, Decisions, Entry, Plan, Side, Status, Wanted

CHUNK = 500


def make(wanted: Wanted, decisions: Decisions) -> Plan:
    """Make a plan. Call it in a transaction, so that all it reads is from one moment."""
    return Plan(list(_Planner(wanted, decisions).entries()))


class _Planner:
    def __init__(self, wanted: Wanted, decisions: Decisions) -> None:
        self.wanted, self.decisions = wanted, decisions
        self.here = reading.smaller()
        # By digest, since a token can have another name here.
        self.here[Kind.SDK_TOKENS] = {item["digest"]: item for item in reading.sdk_tokens()}
        self.known = Known(self.here)
        self.guarded = {id: set(item["approvals"]) for id, item in self.here[Kind.PROJECTS].items()}
        self.labels = {
            key_of(name): label
            for kind in (Kind.USERS, Kind.SERVICE_ACCOUNTS)
            for label, item in self.here[kind].items()
            for name in filter(None, (item["username"], item.get("email")))
        }
        self.revoked = reading.revoked_tokens()
        self.token_names = {item["name"] for item in self.here[Kind.SDK_TOKENS].values()}
        self.renamed = {
            (kind, name): new
            for kind in (Kind.ENVIRONMENTS, Kind.FEATURES)
            for name in [*wanted.document[kind], *(n for k, n in wanted.faults if k is kind)]
            if (new := decisions.new_name(f"{kind}:{name}"))
        }
        self.under_way: Mapping[str, Sequence[Release]] = {}
        """Releases of the features that are planned now, by name."""
        self.left_out: set[str] = set()
        """Environments that are left out, with everything in them."""
        self._settle_dots()

    def _settle_dots(self) -> None:
        """Rename new environments with a dot in the name, unless someone decided otherwise."""
        for name in self.wanted.document[Kind.ENVIRONMENTS]:
            key = f"{Kind.ENVIRONMENTS}:{name}"
            is_new = name not in self.here[Kind.ENVIRONMENTS]
            if is_new and self.decisions.by_key.get(key) == Choice.LEAVE_OUT:
                self.left_out.add(name)
            elif is_new and "." in name and key not in self.decisions.by_key:
                self.renamed[Kind.ENVIRONMENTS, name] = renaming.fitting_name(name)

    def entries(self) -> Iterator[Entry]:
        for kind in Kind:
            items = self.wanted.document[kind]
            lost = [name for k, name in self.wanted.faults if k is kind and name not in items]
            yield from (self._lost(kind, name) for name in lost)
            if kind is Kind.FEATURES:
                yield from self._features(items)
            else:
                for name, raw in items.items():
                    item = self._completed(kind, self._with_new_names(kind, raw))
                    current = self._current(kind, name, item)
                    yield self._entry(kind, name, item, current)

    def _lost(self, kind: Kind, name: str) -> Entry:
        faults = self.wanted.faults[kind, name]
        return Entry(
            kind,
            name,
            name,
            Status.IMPOSSIBLE,
            Choice.LEAVE_OUT,
            (Choice.LEAVE_OUT,),
            faults=faults,
        )

    def _current(self, kind: Kind, name: str, item: Item) -> Item | None:
        here = self.here[kind]
        if kind in {Kind.USERS, Kind.SERVICE_ACCOUNTS}:
            names = filter(None, (item["username"], item.get("email")))
            label = next(filter(None, (self.labels.get(key_of(name)) for name in names)), "")
            return here.get(label)
        if kind is Kind.SDK_TOKENS:
            return here.get(item["digest"])
        return here.get(self.renamed.get((kind, name), name))

    def _entry(self, kind: Kind, was: str, item: Item, current: Item | None) -> Entry:
        name = self.renamed.get((kind, was), was)
        fields = self.wanted.fields
        given = fields.get((kind, was), fields.get(kind))
        if current is not None and given is not None:
            item = current | {key: value for key, value in item.items() if key in given}
            if kind is Kind.PROJECTS:  # environments that are in use here stay in use
                both = {*current["environments"], *item["environments"]}
                item["environments"] = sorted(both)
        entry = Entry(kind, name, was, Status.NEW, Choice.TAKE, current=current, there=item)
        entry.since = self._since(entry, item)
        if item == current:
            entry.status, entry.choice = Status.SAME, Choice.KEEP
            return entry
        own = self._own_faults(kind, item, current)
        entry.faults = [*self.wanted.faults.get((kind, was), ()), *own]
        if name != was:
            entry.faults = [fault for fault in entry.faults if fault.path != "name"]
            if not is_key(name) or (kind is Kind.ENVIRONMENTS and "." in name):
                entry.faults.append(Fault("name", f"{name!r} is not a possible name."))
        entry.faults += self.known.faults(kind, item)
        self._decide(entry, item)
        if entry.item is not None:
            self.known.add(kind, entry.item)
            if kind is Kind.PROJECTS and current is not None:
                entry.proposed = [*projects.lowered(current, entry.item)]
        return entry

    def _since(self, entry: Entry, item: Item) -> Side | None:
        base = self.wanted.base.get(entry.key)
        if base is None or entry.current is None:
            return None
        there, here = digest(item) != base[0], digest(entry.current) != base[1]
        if there and here:
            return Side.BOTH
        return Side.THERE if there else Side.HERE if here else None

    def _decide(self, entry: Entry, item: Item) -> None:
        """Set the status, the choices, the choice and the item of an entry."""
        entry.item, rest = None, self._switched_off(entry, item)
        if entry.faults:
            out = Choice.LEAVE_OUT if entry.current is None else Choice.KEEP
            can_rename = entry.current is None and self._is_about_name(entry)
            entry.status, entry.choices = (
                Status.IMPOSSIBLE,
                (
                    out,
                    *([Choice.SWITCHED_OFF] if rest else []),
                    *([Choice.RENAME] if can_rename else []),
                ),
            )
        elif entry.current is None:
            out = Choice.LEAVE_OUT
            entry.choices = (Choice.TAKE, out)
            if entry.name != entry.was:
                entry.choices = (Choice.RENAME, out)
        else:
            out = Choice.KEEP
            entry.status, entry.choices = Status.DIFFERENT, (Choice.KEEP, Choice.TAKE)
        default = out if entry.faults else self.decisions.different
        if entry.status is Status.NEW:
            default = entry.choices[0]
        elif entry.status is Status.DIFFERENT and (_opens_to_all(entry) or _only_adds(entry)):
            default = Choice.TAKE
        chosen = self.decisions.of(entry.key, default, entry.choices)
        entry.choice = out if entry.kind in self.decisions.left_out else chosen
        if entry.choice is Choice.TAKE or (entry.choice is Choice.RENAME and not entry.faults):
            entry.item = item
        elif entry.choice is Choice.SWITCHED_OFF:
            entry.item = rest
        elif entry.status is Status.DIFFERENT and self._is_wider(entry):
            environments = item["environments"]  # its features need them
            entry.item = {**(entry.current or {}), "environments": environments}

    def _is_wider(self, entry: Entry) -> bool:
        """Whether a source that knows some fields of projects adds environments to one."""
        if entry.kind is not Kind.PROJECTS or Kind.PROJECTS not in self.wanted.fields:
            return False
        there, here = entry.there or {}, entry.current or {}
        return set(there["environments"]) > set(here["environments"])

    def _is_about_name(self, entry: Entry) -> bool:
        kinds = Kind.ENVIRONMENTS, Kind.FEATURES
        return entry.kind in kinds and all(fault.path == "name" for fault in entry.faults)

    def _switched_off(self, entry: Entry, item: Item) -> Item | None:
        """A feature without its faulty parts, off where it had them; None if faults remain."""
        if entry.kind is not Kind.FEATURES or not entry.faults or entry.current is not None:
            return None
        if any(f.environment is None and f.path not in {"parent", "tags"} for f in entry.faults):
            return None
        states = dict(item["environments"])
        parent, tags = item["parent"], item["tags"]
        for fault in entry.faults:
            if fault.environment is not None:
                states.pop(fault.environment, None)
            elif fault.path == "tags":
                tags = []
            else:
                parent = None
                states = {name: {**state, "enabled": False} for name, state in states.items()}
        states = {name: state for name, state in states.items() if state != STATE}
        return {**item, "environments": states, "parent": parent, "tags": tags}

    def _own_faults(self, kind: Kind, item: Item, current: Item | None) -> Iterator[Fault]:
        """Errors in the change itself, apart from references."""
        if kind in {Kind.USERS, Kind.SERVICE_ACCOUNTS}:
            yield from self._faults_of_account(item, current)
        elif current is None:
            yield from self._faults_of_new(kind, item)
        else:
            yield from self._faults_of_change(kind, item, current)

    def _faults_of_new(self, kind: Kind, item: Item) -> Iterator[Fault]:
        if kind is Kind.ENVIRONMENTS and "." in item["name"]:
            yield Fault(
                "name", "SDKs read the environment out of their token, up to the first dot."
            )
        elif kind is Kind.STRATEGY_TYPES and item["name"] in self.known.types:
            yield Fault("name", "Every SDK knows a strategy type with this name.")
        elif kind is Kind.SDK_TOKENS:
            if item["digest"] in self.revoked:
                yield Fault("", "It was revoked here. Create a new token.")
            if item["name"] in self.token_names:
                self._give_free_name(item)
        elif kind is Kind.RELEASE_TEMPLATES and item["project"] is not None:
            here = self.here[Kind.PROJECTS].get(item["project"])
            if here and here["archived"] and self.known.projects[item["project"]].is_archived:
                yield Fault("project", f"Project {item['project']} is archived. Revive it first.")

    def _faults_of_change(self, kind: Kind, item: Item, current: Item) -> Iterator[Fault]:
        if kind is Kind.STRATEGY_TYPES:
            if item["parameters"] != current["parameters"] and custom.uses(item["name"]):
                yield Fault("parameters", "Strategies have this type with other parameters here.")
        elif kind is Kind.PROJECTS:
            yield from self._faults_of_project(item, current)
        elif kind is Kind.SEGMENTS and item["constraints"] != current["constraints"]:
            for project_id, name in self._guarded_uses(item["name"]):
                message = f"It is in use in {name} of project {project_id}, where changes need "
                yield Fault("constraints", f"{message}approvals. Propose this change there.")
        elif kind is Kind.RELEASE_TEMPLATES and item["project"] != current["project"]:
            own = current["project"]
            where = f"only for project {own}" if own else "for all projects"
            yield Fault("project", f"It is {where} here, and release templates can’t move.")
        elif kind is Kind.FEATURES:
            if item["project"] != current["project"]:
                yield Fault("project", "It is in another project here, and features can’t move.")
            yield from releases.faults(item, current, self.under_way.get(item["name"], ()))

    def _faults_of_project(self, item: Item, current: Item) -> Iterator[Fault]:
        """What ends the need for approvals, and can’t be proposed in a plan."""
        for name, number in projects.lowered(current, item).items():
            if number is None:
                message = f"Changes in {name} need approvals, so it must stay in use."
                yield Fault("environments", message)
            elif name not in item["environments"]:
                message = f"To lower the approvals of {name}, use the environment first."
                yield Fault("approvals", message)
        is_guarded = not self.guarded[item["id"]].isdisjoint(current["environments"])
        if is_guarded and item["archived"] and not current["archived"]:
            yield Fault("archived", "Its changes need approvals. Propose this in its settings.")

    def _guarded_uses(self, segment: str) -> list[tuple[str, str]]:
        """The projects and environments with approvals in which features use a segment."""
        id = db.session.scalar(sa.select(Segment.id).where(Segment.name == segment)) or 0
        found = {
            (use.project_id, use.environment)
            for use in segments.uses(id)
            if use.is_on and use.environment in self.guarded[use.project_id]
        }
        return sorted(found)

    def _faults_of_account(self, item: Item, current: Item | None) -> Iterator[Fault]:
        own = current and (current["username"] or current.get("email"))
        for name in filter(None, (item["username"], item.get("email"))):
            label = self.known.accounts.get(key_of(name))
            if label is not None and label != own:
                yield Fault("username", f"{name!r} belongs to another account here.")
                return

    def _give_free_name(self, item: Item) -> None:
        """Make the name of a token unique, which other servers don’t require.

        It is cut so that it has at most 255 characters with the hint.
        """
        item["name"] = f"{item['name'][:240]} ({item['hint'][-HINT_LENGTH:]})"
        self.token_names.add(item["name"])

    def _with_new_names(self, kind: Kind, item: Item) -> Item:
        """The thing with everything renamed, and without environments that are left out."""
        if self.left_out:
            item = renaming.without_environments(kind, item, self.left_out)
        return renaming.renamed(kind, item, self.renamed) if self.renamed else item

    def _completed(self, kind: Kind, item: Item) -> Item:
        """The thing with defaults of project and type in its strategies."""
        if kind is Kind.DEFAULT_STRATEGIES:
            return item | self._completed_strategy(item, self._defaults(item["project"]))
        if kind is Kind.RELEASE_TEMPLATES:  # whose strategies are always stored in full
            return item | {
                "milestones": [
                    step
                    | {"strategies": [self._completed_strategy(s, {}) for s in step["strategies"]]}
                    for step in item["milestones"]
                ]
            }
        if kind is not Kind.FEATURES:
            return item
        defaults, states = self._defaults(item["project"], item["name"]), item["environments"]
        # An import that was planned or applied by an older version has no links.
        return {"links": [], **item} | {
            "environments": {
                name: state
                | {
                    "strategies": [
                        self._completed_strategy(strategy, defaults)
                        for strategy in state["strategies"]
                    ]
                }
                for name, state in states.items()
            }
        }

    def _defaults(self, project: str, feature: str | None = None) -> Mapping[str, str] | None:
        """What parameters are where the source has none; None: they stay missing."""
        if self.wanted.is_exact:
            return None
        group = {} if feature is None else {"groupId": feature}
        return {"stickiness": self.known.stickiness(project), **group}

    def _completed_strategy(self, strategy: Item, defaults: Mapping[str, str] | None) -> Item:
        parameters = strategy["parameters"]
        known = self.known.types.get(strategy["name"], {})
        if defaults is not None:
            parameters = types.in_full(known, parameters, defaults) | parameters
        sticky = parameters.get("stickiness", "default")
        variants = [
            variant | {"stickiness": variant["stickiness"] or sticky}
            for variant in strategy["variants"]
        ]
        return strategy | {"parameters": parameters, "variants": variants}

    def _features(self, items: Mapping[str, Item]) -> Iterator[Entry]:
        """Entries of features: those with a parent last, since it has to be checked first."""
        parents = Parents(is_exact=self.wanted.is_exact)
        for has_parent in (False, True):
            names = [name for name, item in items.items() if bool(item["parent"]) is has_parent]
            for chunk in chunks(names, CHUNK):
                here = [self.renamed.get((Kind.FEATURES, name), name) for name in chunk]
                current = dict(reading_features.features(names=here))
                self.under_way = releases.under_way(current)
                for was, name in zip(chunk, here, strict=True):
                    named = self._with_new_names(Kind.FEATURES, items[was])
                    item = self._completed(Kind.FEATURES, named)
                    yield self._feature(was, item, current.get(name), parents)

    def _feature(self, was: str, item: Item, current: Item | None, parents: Parents) -> Entry:
        if current is not None and self.wanted.environments is not None:
            known = {self.renamed.get((Kind.ENVIRONMENTS, n), n) for n in self.wanted.environments}
            others = {n: s for n, s in current["environments"].items() if n not in known}
            item = item | {"environments": item["environments"] | others}
        entry = self._entry(Kind.FEATURES, was, item, current)
        if not entry.is_written or entry.item is None:
            return entry
        if faults := list(parents.faults(entry.item, current)):
            entry.faults += faults
            self._decide(entry, item)
        if entry.item is not None:
            parents.add(entry.item)
            if fault := self._guard(entry):
                entry.faults.append(fault)
                entry.status, entry.choice, entry.item = Status.IMPOSSIBLE, Choice.KEEP, None
                entry.choices = (Choice.KEEP,)
        return entry

    def _guard(self, entry: Entry) -> Fault | None:
        """Set the environments that need approvals. Return a fault if that can’t be proposed."""
        item, current = entry.item, entry.current
        guarded = self.guarded.get(item["project"], set()) if item else set()
        if item is None or not guarded:
            return None
        was_archived = current is not None and current["archived"]
        if item["archived"] and (current is None or was_archived):
            return None  # applications never see it
        before = current["environments"] if current else {}
        if was_archived:  # reviving switches it off everywhere
            before = {name: state | {"enabled": False} for name, state in before.items()}
        after = item["environments"]
        on = {name for name in guarded if before.get(name, STATE)["enabled"]}
        changed = {
            name
            for name in guarded
            if before.get(name, STATE) != after.get(name, STATE)
            # Applications get nothing of a feature that is off, and stays off.
            and (name in on or after.get(name, STATE)["enabled"])
        }
        if item["archived"] and not on:
            return None
        if current is not None and on and item["impressionData"] != current["impressionData"]:
            where = ", ".join(sorted(on))
            message = (
                f"It is on in {where}, where changes need approvals. Switch it off there first."
            )
            return Fault("impressionData", message)
        if current is not None and on and (item["archived"] or item["parent"] != current["parent"]):
            changed |= on
            if len(changed) > 1:
                names = ", ".join(sorted(changed))
                message = f"This change needs approvals in several environments at once: {names}."
                return Fault("environments", message)
        entry.proposed = sorted(changed)
        return None


def _opens_to_all(entry: Entry) -> bool:
    """Whether all sites may read features, as in a new instance: no one chose that list."""
    return entry.kind is Kind.BROWSER_ORIGINS and entry.current == {"origins": ["*"]}


def _only_adds(entry: Entry) -> bool:
    """Whether the only change to a project is that it uses more environments."""
    here, there = entry.current or {}, entry.there or {}
    if entry.kind is not Kind.PROJECTS or {**there, "environments": []} != {
        **here,
        "environments": [],
    }:
        return False
    return set(there["environments"]) > set(here["environments"])
