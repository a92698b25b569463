"""The words of each type of event: in the help, and as sentences."""

from itertools import product
from string import Formatter

import pytest

from app.core.actor import FIRST_LINK
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.events.words import (
    Mention,
    Naming,
    ValueChange,
    account_ids,
    actor,
    differences,
    parts,
    sentence,
)

KIM, ADA = 7, 8
NAMES = {KIM: "Kim Osei", ADA: "Ada Lund"}
PERSON = {"id": KIM, "name": "kim"}
TOKEN = {"id": 3, "userId": KIM, "description": "laptop"}


def event(type, by=ADA, *, data=None, before=None):
    return Event(
        type=type,
        created_by="ada",
        created_by_user_id=by,
        project="web",
        feature_name="pay",
        data=data,
        pre_data=before,
    )


def said(*args, reader=None, count=1, **kwargs):
    return sentence(event(*args, **kwargs), count, Naming(NAMES, reader))


def test_every_type_has_its_words():
    for type in EventType:
        assert type.declared.description[0].isupper()
        assert type.declared.description.endswith(".")


def test_every_sentence_can_be_said_of_any_facts():
    facts = {"id": 1, "parent": "base", "description": "laptop", "userId": KIM}
    all_facts = (
        (facts | {"name": "new", "mode": "private"}, facts | {"name": "old", "mode": "open"}),
        (facts, None),
        (None, facts),
        (None, None),
    )
    for type, count, (data, before) in product(EventType, (1, 3), all_facts):
        words = said(type, data=data, before=before, count=count)
        assert words[0].islower(), type
        assert "None" not in words, type


def test_every_slot_is_used_by_a_type():
    slots = {
        name
        for type in EventType
        for template in (type.declared.sentence, type.declared.batch or "")
        for _, name, _, _ in Formatter().parse(template)
        if name
    }
    assert {"feature", "whose", "changes", "members"} <= slots


@pytest.mark.parametrize(
    ("type", "by", "reader", "words"),
    [
        (EventType.PASSWORD_CHANGED, KIM, None, "changed their password"),
        (EventType.PASSWORD_CHANGED, ADA, None, "changed Kim Osei’s password"),
        (EventType.PASSWORD_CHANGED, KIM, KIM, "changed your password"),
        (EventType.PASSWORD_CHANGED, ADA, KIM, "changed your password"),
        (EventType.PASSWORD_CHANGED, None, None, "changed Kim Osei’s password"),
        (EventType.SECOND_FACTOR_TURNED_ON, KIM, None, "turned on two-step sign-in"),
        (EventType.SECOND_FACTOR_TURNED_OFF, ADA, None, "turned off two-step sign-in for Kim Osei"),
        (EventType.SECOND_FACTOR_TURNED_OFF, ADA, KIM, "turned off two-step sign-in for you"),
        (EventType.USER_SIGNED_OUT, ADA, None, "signed Kim Osei out everywhere"),
        (EventType.USER_SIGNED_OUT, KIM, None, "signed themselves out everywhere"),
        (EventType.USER_SIGNED_OUT, KIM, KIM, "signed yourself out everywhere"),
        (EventType.USER_CREATED, ADA, None, "created user Kim Osei"),
    ],
)
def test_an_account_is_named_by_its_relation_to_the_actor_and_the_reader(type, by, reader, words):
    assert said(type, by=by, data=PERSON, reader=reader) == words


def test_the_actor_has_their_full_name_and_the_reader_is_you():
    by_ada = event(EventType.PROJECT_CREATED)
    assert actor(by_ada).text == "ada"
    assert actor(by_ada, Naming(NAMES)).text == "Ada Lund"
    assert actor(by_ada, Naming(NAMES, ADA)).text == "You"
    by_command = event(EventType.PROJECT_CREATED, by=None)
    assert actor(by_command, Naming(NAMES, None)).text == "ada"


@pytest.mark.parametrize(
    ("reader", "words"),
    [
        (KIM, "You created this account with the set-up link"),
        (ADA, "Kim Osei created their account with the set-up link"),
    ],
)
def test_the_first_admin_created_their_own_account(reader, words):
    created = event(EventType.USER_CREATED, by=None, data=PERSON)
    created.created_by = FIRST_LINK
    naming = Naming(NAMES, reader)
    assert f"{actor(created, naming)} {sentence(created, naming=naming)}" == words


@pytest.mark.parametrize(
    ("type", "by", "words"),
    [
        (EventType.TOKEN_CREATED, KIM, "created token laptop"),
        (EventType.TOKEN_CREATED, ADA, "created token laptop for Kim Osei"),
        (EventType.TOKEN_REVOKED, ADA, "revoked token laptop of Kim Osei"),
    ],
)
def test_a_token_is_named_with_its_owner_unless_the_owner_acted(type, by, words):
    assert said(type, by=by, data=TOKEN) == words


def test_a_token_that_was_rotated_has_the_description_from_before():
    after = TOKEN | {"description": "laptop (until rotation 2026-11-21)"}
    words = said(EventType.TOKEN_ROTATED, by=KIM, before=TOKEN, data=after)
    assert words == "rotated token laptop"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"mode": "open"}, {"mode": "private"}, "mode open → private"),
        ({"stale": False}, {"stale": True}, "stale no → yes"),
        ({"rootRole": 3}, {"rootRole": 1}, "role Viewer → Admin"),
        ({"description": None}, {"description": "New"}, "description"),
        ({"description": "x" * 41}, {"description": "New"}, "description"),
        ({"environments": ["a"]}, {"environments": ["b"]}, "environments"),
        (
            {"a": 1, "impressionData": False},
            {"a": 2, "impressionData": True},
            "a 1 → 2 and impression data no → yes",
        ),
    ],
)
def test_short_changes_are_shown_with_both_values(before, after, words):
    assert (
        said(EventType.FEATURE_UPDATED, before=before, data=after)
        == f"changed feature pay: {words}"
    )


def test_members_are_named_with_what_became_of_them():
    before = {"members": {"7": "Member", "8": "Owner", "9": "Member"}}
    after = {"members": {"7": "Owner", "8": "Owner", "10": "Member"}}
    words = said(EventType.PROJECT_ACCESS_UPDATED, before=before, data=after)
    assert words == (
        "changed the members of project web: made Kim Osei Owner, added account 10 as Member "
        "and removed account 9"
    )


def test_many_members_are_counted():
    after = {"members": {str(id): "Member" for id in range(20, 30)}}
    words = said(EventType.PROJECT_ACCESS_UPDATED, before={"members": {}}, data=after)
    assert words.endswith("added account 24 as Member and 5 more")


def test_people_who_were_deleted_are_named_and_others_counted():
    people = [{"id": KIM, "name": "kim"}, {"id": ADA, "name": "ada"}]
    facts = {"deleted": people, "skippedCount": 2}
    words = said(EventType.INACTIVE_USERS_DELETED, by=None, data=facts)
    assert words == "deleted 2 inactive users: Kim Osei and Ada Lund; 2 skipped"


@pytest.mark.parametrize(
    ("type", "words"),
    [
        (EventType.FEATURE_ARCHIVED, "archived 3 features in project web"),
        (EventType.FEATURE_TAGS_CHANGED, "changed the tags of 3 features in project web"),
        (EventType.USER_DELETED, "deleted 3 users"),
    ],
)
def test_a_batch_is_one_sentence(type, words):
    assert said(type, data=PERSON, count=3) == words


def test_what_a_sentence_names_can_be_found_apart():
    found = parts(event(EventType.FEATURE_CREATED), naming=Naming(NAMES))
    assert [part for part in found if isinstance(part, Mention)] == [
        Mention("feature", ("web", "pay"), "pay"),
        Mention("project", "web", "web"),
    ]


def test_all_accounts_of_a_sentence_are_known_beforehand():
    assert account_ids(event(EventType.PASSWORD_CHANGED, data=PERSON)) == {KIM, ADA}
    assert account_ids(event(EventType.TOKEN_REVOKED, before=TOKEN)) == {KIM, ADA}
    roles = {"members": {"7": "Owner", "10": "Member"}}
    changed = event(EventType.PROJECT_ACCESS_UPDATED, before={"members": {}}, data=roles)
    assert account_ids(changed) == {7, ADA, 10}
    assert account_ids(event(EventType.PROJECT_CREATED, by=None, data={"id": "web"})) == set()


def test_only_what_differs_is_a_difference():
    changed = event(EventType.USER_UPDATED, before={"a": 1, "b": 2}, data={"a": 1, "b": 3, "c": 4})
    assert differences(changed) == [ValueChange("b", 2, 3), ValueChange("c", None, 4)]


def test_of_an_object_in_a_field_only_what_differs_is_a_difference():
    before = {"parameters": {"rollout": "10", "stickiness": "userId"}}
    after = {"parameters": {"rollout": "40", "stickiness": "userId"}}
    where = {"environment": "production"}
    words = said(EventType.FEATURE_STRATEGY_UPDATED, before=before | where, data=after | where)
    assert words == "changed a strategy of feature pay in production: rollout 10% → 40%"
    rules = ({"changeRequestEnvironments": {"production": number}} for number in (1, 2))
    words = said(EventType.PROJECT_ENVIRONMENTS_UPDATED, before=next(rules), data=next(rules))
    assert words == "changed project web: approvals in production 1 → 2"
