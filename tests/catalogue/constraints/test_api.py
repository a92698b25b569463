"""Constraints: what every operator can be compared with, and what the engine would misread."""

from tests.support.clients import problems_of

PATH = "/constraints/validate"


def constraint(operator, *values, **more):
    given = {"values": list(values)} if operator in LISTS else {"value": values[0]}
    return {"contextName": "userId", "operator": operator, **given, **more}


LISTS = {"IN", "NOT_IN", "STR_STARTS_WITH", "STR_ENDS_WITH", "STR_CONTAINS", "IN_CIDR"}
GOOD = [
    constraint("IN", "1", 'a"b', "a\\b", "é😀"),
    constraint("NOT_IN", "1", inverted=True),
    constraint("STR_CONTAINS", "@", caseInsensitive=True),
    constraint("NUM_GT", "-0.5"),
    constraint("NUM_LTE", 18),
    constraint("NUM_EQ", 0.1),
    constraint("DATE_AFTER", "2026-11-24T07:00:00+01:00"),
    constraint("SEMVER_GTE", "5.2.0-beta.1+7"),
    constraint("REGEX", "^a[0-9]+$", caseInsensitive=True),
    constraint("IN_CIDR", "10.0.0.0/8", "192.168.7.7", "2001:db8::/32"),
    {**constraint("IN", "1"), "value": ""},
    {**constraint("NUM_EQ", "1"), "values": []},
]
BAD = [
    (constraint("IN"), "/values"),
    (constraint("IN", ""), "/values/0"),
    (constraint("IN", "x" * 101), "/values/0"),
    (constraint("IN", "fine", "ends with \\"), "/values/1"),
    (constraint("IN", *map(str, range(251))), "/values"),
    (constraint("IN", "1", value="1"), "/value"),
    (constraint("IN", "1", caseInsensitive=True), "/caseInsensitive"),
    (constraint("IN", True), "/values/0"),
    (constraint("NUM_GT", "1 or true"), "/value"),
    (constraint("NUM_GT", ".5"), "/value"),
    (constraint("NUM_GT", "1e3"), "/value"),
    (constraint("NUM_GT", "1", values=["1"]), "/values"),
    (constraint("NUM_GT", None), "/value"),
    (constraint("DATE_AFTER", "2026-11-24"), "/value"),
    (constraint("DATE_AFTER", "2026-11-24T07:00:00"), "/value"),
    (constraint("SEMVER_EQ", "v1.2.3"), "/value"),
    (constraint("SEMVER_EQ", "1.2"), "/value"),
    (constraint("SEMVER_EQ", "1.02.3"), "/value"),
    (constraint("REGEX", "("), "/value"),
    (constraint("REGEX", "(?=a)"), "/value"),
    (constraint("REGEX", "a", inverted=True), "/inverted"),
    (constraint("IN_CIDR", "10.0.0.0/33"), "/values/0"),
    (constraint("IN_CIDR", "10.0.0.0/255.0.0.0"), "/values/0"),
    (constraint("IN_CIDR", "fe80::1%eth0"), "/values/0"),
    (constraint("BETWEEN", "1"), "/operator"),
    (constraint("IN", "1", inverted="yes"), "/inverted"),
    ({**constraint("IN", "1"), "contextName": 'a"b'}, "/contextName"),
    ({**constraint("IN", "1"), "contextName": "plan"}, "/contextName"),
    ({**constraint("IN", "1"), "weight": 1}, "/weight"),
]


def test_a_constraint_that_sdks_can_read_is_accepted(viewer, subtests):
    for good in GOOD:
        with subtests.test(good=good):
            answer = viewer.post(PATH, good)
            assert (answer.status_code, answer.data) == (204, b""), answer.text


def test_a_constraint_that_would_be_misread_is_refused(viewer, subtests):
    for bad, path in BAD:
        with subtests.test(bad=bad, path=path):
            assert list(problems_of(viewer.post(PATH, bad))) == [path]


def test_only_legal_values_are_accepted_but_any_part_of_one(viewer, admin):
    admin.ok("PUT", "/context/userId", {"legalValues": [{"value": "alpha"}, {"value": "beta"}]})
    assert viewer.post(PATH, constraint("IN", "alpha", "beta")).status_code == 204
    assert viewer.post(PATH, constraint("STR_STARTS_WITH", "al")).status_code == 204
    refused = problems_of(viewer.post(PATH, constraint("IN", "alpha", "gamma")))
    assert refused == {"/values": "userId can’t be 'gamma'. Choose from: alpha and beta."}
