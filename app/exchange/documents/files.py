"""Documents as text, in JSON or YAML.

Both are written sorted and one value a line, so that a diff of two files shows what changed.
"""

import json
from typing import Any

import yaml

from app.core.errors import Invalid
from app.exchange.documents.documents import Document, to_file

MAX_BYTES = 50_000_000


class _Loader(yaml.CSafeLoader):
    """Refuses duplicate keys: PyYAML would silently keep only the last one."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 - PyYAML's own
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key.value!r} is there twice", problem_mark=key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def as_json(document: Document) -> str:
    return json.dumps(to_file(document), indent=2, ensure_ascii=False) + "\n"


def as_yaml(document: Document) -> str:
    text: str = yaml.dump(
        to_file(document),
        Dumper=yaml.CSafeDumper,
        allow_unicode=True,
        sort_keys=False,
        width=1_000_000,  # never wrap: one value a line
    )
    return text


def parse(data: bytes) -> Any:
    """Parse JSON or YAML. A YAML parser could read both, but JSON’s is much faster.

    Raises:
        Invalid: when it is neither.

    """
    if len(data) > MAX_BYTES:
        raise Invalid(f"The file is larger than {MAX_BYTES // 1_000_000} MB.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(f"The file is not UTF-8 (byte {error.start}).") from None
    if text.lstrip().startswith(("{", "[")):
        return _from_json(text)
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - a kind of safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise Invalid(f"The file is not YAML: {error.problem}{where}.") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise Invalid(f"The file is neither JSON nor YAML: {error}.") from None


def _from_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise Invalid(
            f"The file is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from None
    except RecursionError:
        raise Invalid("The file is not JSON that can be read: it is nested too deeply.") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Invalid(f"The file is not valid: the key {twice!r} is there twice.")
    return found
