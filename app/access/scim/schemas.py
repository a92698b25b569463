"""Users and groups of SCIM 2.0 (RFC 7643), with only the attributes that are stored here."""

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any

import scim2_models
from marshmallow import ValidationError
from pydantic import Field
from scim2_models import (
    URN,
    AuthenticationScheme,
    Bulk,
    CaseExact,
    ChangePassword,
    ComplexAttribute,
    Context,
    ETag,
    Filter,
    GroupMembership,
    Meta,
    Mutability,
    Patch,
    Reference,
    Required,
    Resource,
    ScimPolicy,
    ScimProvider,
    ServiceProviderConfig,
    Sort,
    Uniqueness,
)

from app.access.groups.models import Group as StoredGroup
from app.access.scim.service import GroupFacts, UserFacts, number
from app.access.users.schemas import UserChanges
from app.accounts.models import Account
from app.core.errors import Invalid, problems
from app.web.schemas import Schema, SingleLine

MOST_RESULTS = 1_000
USUAL_RESULTS = 100

SAID = ("displayName", "name", "emails", "active")
"""Attributes that are stored as the directory sent them."""

TOLERANT = ScimPolicy(
    # Directories send attributes of their own schemas; those that aren’t stored here are ignored.
    unknown=ScimPolicy.Unknown.ignore,
    # Microsoft Entra names the members to remove in the value, and expects that a filter which
    # finds nothing adds its value.
    remove_value_as_filter=ScimPolicy.RemoveValue.apply,
    unmatched_path_filter=ScimPolicy.UnmatchedPathFilter.create,
)


class Name(ComplexAttribute):
    formatted: str | None = None
    """The full name, as it is shown."""
    family_name: str | None = None
    """The family name."""
    given_name: str | None = None
    """The given name."""


class User(Resource[Any]):
    """A person."""

    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:User")

    user_name: Annotated[str | None, Uniqueness.server, Required.true] = None
    """The name to sign in with, unique among users and service accounts."""
    name: Name | None = None
    """The parts of the name."""
    display_name: str | None = None
    """The name that others see."""
    active: bool | None = None
    """Whether they may sign in."""
    emails: list[scim2_models.Email] | None = None
    """The primary one, or else the first, is their e-mail address here."""
    groups: Annotated[list[GroupMembership] | None, Mutability.read_only] = None
    """The groups of the directory that they are in."""


class Member(ComplexAttribute):
    value: Annotated[str | None, Mutability.immutable, CaseExact.true] = None
    """The id of the user."""
    ref: Annotated[Reference[User] | None, Mutability.immutable] = Field(
        None, serialization_alias="$ref", validation_alias="$ref"
    )
    """The address of the user."""


class Group(Resource[Any]):
    """A group, which can give roles."""

    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:Group")

    display_name: Annotated[str | None, Required.true, Uniqueness.server] = None
    """The name, unique among groups."""
    members: list[Member] | None = None
    """The people in it."""


CONFIG = ServiceProviderConfig(
    patch=Patch(supported=True),
    bulk=Bulk(supported=False, max_operations=0, max_payload_size=0),
    filter=Filter(supported=True, max_results=MOST_RESULTS),
    change_password=ChangePassword(supported=False),
    sort=Sort(supported=True),
    etag=ETag(supported=True),
    authentication_schemes=[
        AuthenticationScheme(
            type=AuthenticationScheme.Type.oauthbearertoken,
            name="SCIM token",
            description="Authorization: Bearer TOKEN, which an Admin creates under Single sign-on.",
            primary=True,
        )
    ],
)
SERVICE = ScimProvider(models=[User, Group], config=CONFIG, policy=TOLERANT)


class _Texts(Schema):
    """Limits of texts, which the schemas of SCIM don’t have."""

    external_id = SingleLine(high=255, allow_none=True)
    group_name = SingleLine(high=255)


def user_of(account: Account, groups: Sequence[tuple[int, str]], root: str) -> User:
    """The account as a SCIM user. ``groups``: (id, name). ``root``: the address of all of SCIM."""
    said = account.scim_attributes
    if said is None:
        emails = [{"value": account.email, "primary": True}] if account.email else None
        said = {"displayName": account.name, "emails": emails, "active": True}
    user = User(
        id=str(account.id),
        external_id=account.external_id,
        user_name=account.label,
        name=said.get("name"),
        display_name=said.get("displayName"),
        active=account.deactivated_at is None if "active" in said else None,
        emails=said.get("emails"),
        groups=[
            GroupMembership.model_validate(
                {"value": str(id), "display": name, "$ref": f"{root}/Groups/{id}", "type": "direct"}
            )
            for id, name in groups
        ]
        or None,
    )
    user.meta = _meta(user, account.created_at, f"{root}/Users/{account.id}")
    return user


def group_of(group: StoredGroup, members: Sequence[int], root: str) -> Group:
    """The group in SCIM. ``members``: account ids. ``root``: the address of all of SCIM."""
    shown = Group(
        id=str(group.id),
        external_id=group.external_id,
        display_name=group.name,
        members=[
            Member.model_validate({"value": str(id), "$ref": f"{root}/Users/{id}"})
            for id in members
        ]
        or None,
    )
    shown.meta = _meta(shown, group.created_at, f"{root}/Groups/{group.id}")
    return shown


def user_facts(user: User) -> UserFacts:
    """The checked fields of a user that a directory sent.

    Raises:
        Invalid: for a text that isn't accepted here.

    """
    emails = user.emails or []
    email = next((each for each in emails if each.primary), emails[0] if emails else None)
    parts = user.name or Name()
    both = " ".join(part for part in (parts.given_name, parts.family_name) if part)
    said: dict[str, Any] = user.model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE)
    values = _checked(
        UserChanges(),
        username=user.user_name,
        name=user.display_name or parts.formatted or both or None,
        email=str(email.value) if email and email.value else None,
    )
    texts = _checked(_Texts(), externalId=user.external_id or None)
    return UserFacts(
        **values,
        **texts,
        active=user.active,
        attributes={key: said[key] for key in SAID if key in said},
    )


def group_facts(group: Group) -> GroupFacts:
    """The checked fields of a group that a directory sent.

    Raises:
        Invalid: for a text that isn't accepted here, or a member without a valid id.

    """
    texts = _checked(_Texts(), groupName=group.display_name, externalId=group.external_id or None)
    members = group.members
    return GroupFacts(
        texts["group_name"],
        texts["external_id"],
        None if members is None else [member_id(member.value) for member in members],
    )


def member_id(value: str | None) -> int:
    found = number(value or "")
    if not found:
        raise Invalid(f"There is no user with the id {(value or '')[:20]!r}.")
    return found


def _meta(resource: User | Group, created: datetime, location: str) -> Meta:
    """The metadata of a resource. The version is a digest of its content."""
    digest = sha256(resource.model_dump_json().encode()).hexdigest()[:20]
    return Meta(
        resource_type=type(resource).__name__,
        created=created,
        location=location,
        version=f'W/"{digest}"',
    )


def _checked(schema: Schema, **values: Any) -> dict[str, Any]:
    try:
        found: dict[str, Any] = schema.load(values)
    except ValidationError as error:
        faults = problems(error.messages_dict)
        raise Invalid.because([{"path": path, "message": text} for path, text in faults]) from None
    return found
