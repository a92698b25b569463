"""JSON that other programs stumbled over: read or refused, on every route, and never a fault."""

from itertools import product

import pytest

from tests.input.bodies import ROUTES
from tests.input.corpora import json_texts
from tests.support.clients import ApiClient, problems_of

pytestmark = pytest.mark.slow

INSIDE = b'{"name": "Default", "featureCount": %b}'
"""A field that takes whatever JSON there is, since it is ignored."""
AMBIGUOUS = {
    "y_object_duplicated_key",
    "y_object_duplicated_key_and_value",
    "y_object_escaped_null_in_key",
    "y_string_null_escape",
}
"""JSON that is refused on purpose, since two programs could read it differently."""
WORST = [
    *("n_structure_100000_opening_arrays", "n_structure_open_array_object", "n_structure_no_data"),
    *("i_structure_500_nested_arrays", "i_string_UTF-16LE_with_BOM", "i_string_invalid_utf-8"),
    *("n_structure_null-byte-outside-string", "y_object_duplicated_key", "y_structure_lonely_null"),
]


def texts(kind: str) -> list[str]:
    return [name for name in json_texts() if name.startswith(kind)]


def put(client: ApiClient, text: bytes):
    path = "/projects/default?dryRun=true"
    return client.put(path, data=text, content_type="application/json")


def test_the_collection_is_whole():
    assert [len(texts(kind)) for kind in ("y_", "n_", "i_")] == [95, 188, 35]


def test_what_is_no_json_is_refused_as_such(admin):
    for name in texts("n_"):
        for text in (json_texts()[name], INSIDE % json_texts()[name]):
            assert list(problems_of(put(admin, text))) == [""], name


def test_what_is_json_is_read_unless_programs_could_differ_in_it(admin):
    for name in texts("y_"):
        answer = put(admin, INSIDE % json_texts()[name])
        assert answer.status_code == (400 if name in AMBIGUOUS else 200), (name, answer.text)
        alone = put(admin, json_texts()[name])
        assert alone.status_code == 400, name  # no project has such fields


def test_what_may_be_either_is_read_or_refused(admin):
    for name in texts("i_"):
        for text in (json_texts()[name], INSIDE % json_texts()[name]):
            answer = put(admin, text)
            assert answer.status_code == 200 or list(problems_of(answer)) == [""], name


@pytest.mark.one_in(2)
def test_no_route_stumbles_over_a_text(root, world):
    for (method, path, body), name in product(ROUTES, WORST):
        answer = root.request(
            method,
            f"{path.format_map(world)}?dryRun=true",
            data=json_texts()[name],
            content_type="application/json",
        )
        if body is None:  # no one reads it
            assert answer.status_code < 300, path
        else:
            assert list(problems_of(answer)) == [""], path
