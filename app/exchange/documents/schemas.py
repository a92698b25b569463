"""Schemas for each kind of thing in a document, with the rules of the API."""

from collections.abc import Iterator, Mapping
from typing import Any

from marshmallow import ValidationError, fields, post_load, pre_load, validate

from app.accounts.schemas import email, username
from app.catalogue.context.models import MAX_ORDER
from app.catalogue.context.schemas import NewContextField
from app.catalogue.environments.models import EnvironmentType
from app.catalogue.features.models import LINKS, CompletedStatus
from app.catalogue.features.schemas import Link, NamedFeature, Parent
from app.catalogue.projects.models import ProjectMode
from app.catalogue.projects.schemas import MAX_APPROVALS, environment_name
from app.catalogue.releases.models import MAX_DESCRIPTION, MAX_NAME, MAX_STEPS
from app.catalogue.sdk_tokens.models import SdkTokenType
from app.catalogue.segments.schemas import NewSegment
from app.catalogue.strategies.models import MAX_STRATEGIES
from app.catalogue.strategies.schemas import MAX_SEGMENTS, NewStrategy
from app.catalogue.strategies.schemas_types import NewStrategyType
from app.catalogue.strategies.schemas_variants import FeatureVariant, Variants
from app.catalogue.tags.models import TagName
from app.catalogue.tags.schemas import NewTagType, TagRef
from app.core.clock import in_text
from app.core.permissions import PROJECT_ROLES, ROOT_ROLES, Role
from app.delivery.origins.schemas import Origins
from app.exchange.documents.documents import BLANKS, STATE, STEP, STRATEGY, Fault, Item, Kind
from app.releases.templates.schemas import TransitionCondition
from app.web.schemas import (
    Key,
    Multiline,
    Schema,
    SingleLine,
    StrictBoolean,
    StrictList,
    Timestamp,
    WholeNumber,
)


class _Names(StrictList):
    """Unique texts, sorted."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> list[Any]:
        return sorted(set(super()._deserialize(value, *args, **kwargs)))


class _RoleName(fields.String):
    """A role by its name, like ``Admin``."""

    def __init__(self, roles: tuple[Role, ...], **kwargs: Any) -> None:
        super().__init__(validate=validate.OneOf([role.title for role in roles]), **kwargs)


class _Strategy(NewStrategy):
    """A strategy, with the names of its segments instead of their ids."""

    class Meta:
        exclude = ("sort_order",)

    segments = _Names(  # type: ignore[assignment]
        SingleLine(high=100), validate=validate.Length(max=MAX_SEGMENTS)
    )
    variants = Variants(keeps_weights=True)


class _DefaultStrategy(_Strategy):
    class Meta:
        exclude = ("sort_order", "disabled")

    project = Key(required=True)
    environment = environment_name(required=True)


class _Transition(TransitionCondition):
    class Meta:
        exclude = ("type",)

    @post_load
    def _store(self, data: dict[str, Any], **_: Any) -> Item:
        return _named_as_sent(self, data)


class _Step(Schema):
    """A step of a release template, as the API reads it, without ids and times."""

    name = SingleLine(high=MAX_NAME, required=True)
    strategies = StrictList(
        fields.Nested(_Strategy),
        required=True,
        validate=validate.Length(
            min=1, max=MAX_STRATEGIES, error=f"A step needs 1 to {MAX_STRATEGIES} strategies."
        ),
    )
    transition_condition = fields.Nested(_Transition, allow_none=True)

    @post_load
    def _store(self, data: dict[str, Any], **_: Any) -> Item:
        whole = {"strategies": [{**STRATEGY, **each} for each in data["strategies"]]}
        return {**STEP, **_named_as_sent(self, data), **whole}


class _ReleaseTemplate(Schema):
    name = SingleLine(high=MAX_NAME, required=True)
    description = SingleLine(low=0, high=MAX_DESCRIPTION, allow_none=True)
    project = Key(allow_none=True)
    milestones = StrictList(
        fields.Nested(_Step),
        required=True,
        validate=validate.Length(min=1, max=MAX_STEPS, error=f"Give it 1 to {MAX_STEPS} steps."),
    )


class _Environment(Schema):
    name = Key(required=True)
    type = fields.Enum(EnvironmentType, by_value=True, required=True)
    sort_order = WholeNumber(low=0, high=MAX_ORDER)
    deprecated = StrictBoolean()


class _StrategyType(NewStrategyType):
    deprecated = StrictBoolean()


class _User(Schema):
    username = username(allow_none=True)
    email = email(allow_none=True)
    name = SingleLine(high=255, allow_none=True)
    root_role = _RoleName(ROOT_ROLES, required=True)

    @pre_load
    def _refuse_nameless(self, data: Any, **_: Any) -> Any:
        if isinstance(data, dict) and not (data.get("username") or data.get("email")):
            raise ValidationError("Give a username, an email, or both.", "username")
        return data


class _ServiceAccount(Schema):
    username = username(required=True)
    name = SingleLine(high=255, allow_none=True)
    root_role = _RoleName(ROOT_ROLES, required=True)


class _Project(Schema):
    id = Key(required=True)
    name = SingleLine(high=255, required=True)
    description = Multiline(low=0, high=5_000, allow_none=True)
    mode = fields.Enum(ProjectMode, by_value=True)
    default_stickiness = SingleLine(high=100)
    environments = _Names(
        environment_name(),
        required=True,
        validate=validate.Length(min=1, error="Name at least one environment."),
    )
    approvals = fields.Dict(environment_name(), WholeNumber(low=1, high=MAX_APPROVALS))
    members = fields.Dict(SingleLine(high=255), _RoleName(PROJECT_ROLES))
    archived = StrictBoolean()


class _Completed(Schema):
    status = fields.Enum(CompletedStatus, by_value=True, required=True)
    value = SingleLine(low=0, high=255, allow_none=True, load_default=None)


class _Tag(SingleLine):
    """``type:value``; a value alone is a simple tag."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        tag = TagName.read(super()._deserialize(value, *args, **kwargs))
        TagRef().load(tag._asdict())
        return str(tag)


class _Link(Link):
    title = SingleLine(low=0, high=255, allow_none=True, load_default=None)


class _Feature(NamedFeature):
    project = Key(required=True)
    archived = StrictBoolean()
    completed = fields.Nested(_Completed, allow_none=True)
    tags = _Names(_Tag(high=101))
    links = StrictList(fields.Nested(_Link), validate=validate.Length(max=LINKS.rows))
    parent = fields.Nested(Parent, allow_none=True)
    environments = fields.Dict(environment_name(), fields.Dict())


class _SdkToken(Schema):
    """A token that another server issued: the digest of its secret, never the secret."""

    name = SingleLine(high=255, required=True)
    type = fields.Enum(SdkTokenType, by_value=True, required=True)
    environment = environment_name(required=True)
    projects = _Names(SingleLine(high=100), required=True)
    digest = fields.String(required=True, validate=validate.Regexp(r"[0-9a-f]{64}\Z"))
    hint = SingleLine(high=12, required=True)
    expires_at = Timestamp(allow_none=True, load_default=None)


class _BrowserOrigins(Schema):
    origins = Origins(required=True)


_SCHEMAS: Mapping[Kind, Schema] = {
    Kind.ENVIRONMENTS: _Environment(),
    Kind.CONTEXT_FIELDS: NewContextField(),
    Kind.STRATEGY_TYPES: _StrategyType(),
    Kind.TAG_TYPES: NewTagType(),
    Kind.TAGS: TagRef(),
    Kind.USERS: _User(),
    Kind.SERVICE_ACCOUNTS: _ServiceAccount(),
    Kind.PROJECTS: _Project(),
    Kind.SEGMENTS: NewSegment(),
    Kind.DEFAULT_STRATEGIES: _DefaultStrategy(),
    Kind.RELEASE_TEMPLATES: _ReleaseTemplate(),
    Kind.FEATURES: _Feature(),
    Kind.SDK_TOKENS: _SdkToken(),
    Kind.BROWSER_ORIGINS: _BrowserOrigins(),
}
_STRATEGY = _Strategy()
_VARIANTS = Variants(FeatureVariant, keeps_weights=True)
_IN_TEXT: Mapping[Kind, tuple[str, ...]] = {
    Kind.ENVIRONMENTS: ("type",),
    Kind.PROJECTS: ("mode",),
    Kind.FEATURES: ("type",),
    Kind.SDK_TOKENS: ("type",),
}
"""Fields that a schema reads as an enumeration, and a document has as its text."""


def checked(kind: Kind, raw: Any) -> tuple[Item | None, list[Fault]]:
    """The thing with all its fields, and its errors.

    A feature loses its faulty strategies and states, so that the rest can be used. Any other thing
    is None if it has an error.
    """
    try:
        loaded = _SCHEMAS[kind].load(raw)
    except ValidationError as error:
        return None, list(_faults(error.messages_dict))
    item = {**BLANKS[kind], **_named_as_sent(_SCHEMAS[kind], loaded)}
    for field in _IN_TEXT.get(kind, ()):
        item[field] = str(item[field])
    if kind is Kind.SDK_TOKENS and item["expiresAt"]:
        item["expiresAt"] = in_text(item["expiresAt"])
    if kind is not Kind.FEATURES:
        return item, []
    if item["completed"]:
        item["completed"]["status"] = str(item["completed"]["status"])
    faults: list[Fault] = []
    item["environments"] = {
        name: state
        for name, raw_state in sorted(item["environments"].items())
        if (state := _state(raw_state, f"environments/{name}", faults)) != STATE
    }
    return item, faults


def _named_as_sent(schema: Schema, loaded: Mapping[str, Any]) -> Item:
    return {schema.load_fields[key].data_key or key: value for key, value in loaded.items()}


def _state(raw: Mapping[str, Any], path: str, faults: list[Fault]) -> Item:
    """The state of a feature in an environment, with its valid strategies."""
    state: Item = {"enabled": raw.get("enabled", False), "strategies": [], "variants": []}
    if unknown := sorted(raw.keys() - STATE.keys()):
        faults += [Fault(f"{path}/{key}", "Unknown field.") for key in unknown]
    if not isinstance(state["enabled"], bool):
        faults.append(Fault(f"{path}/enabled", "Must be true or false."))
        state["enabled"] = False
    strategies = raw.get("strategies", [])
    if not isinstance(strategies, list) or len(strategies) > MAX_STRATEGIES:
        message = f"Must be a list of at most {MAX_STRATEGIES} strategies."
        faults.append(Fault(f"{path}/strategies", message))
        strategies = []
    for place, each in enumerate(strategies):
        try:
            loaded = _STRATEGY.load(each)
        except ValidationError as error:
            faults += _faults(error.messages_dict, f"{path}/strategies/{place}")
        else:
            state["strategies"].append({**STRATEGY, **_named_as_sent(_STRATEGY, loaded)})
    try:
        state["variants"] = _VARIANTS.deserialize(raw.get("variants", []))
    except ValidationError as error:
        faults += _faults({"variants": error.messages}, path)
    return state


def _faults(messages: Any, path: str = "") -> Iterator[Fault]:
    """All messages with their paths."""
    if isinstance(messages, dict):
        for key, found in messages.items():
            yield from _faults(found, path if key == "_schema" else f"{path}/{key}".lstrip("/"))
    else:
        for message in messages if isinstance(messages, list) else [messages]:
            yield Fault(path, str(message))
