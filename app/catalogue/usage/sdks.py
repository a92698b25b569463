"""SDKs by the names that they report, and the newest known major version of each."""

import re
from collections.abc import Iterable
from typing import NamedTuple


class _Known(NamedTuple):
    label: str
    newest: int
    is_frontend: bool = False


_KNOWN = {
    "unleash-dotnet-sdk": _Known(".NET", 5),
    "unleash-go-sdk": _Known("Go", 6),
    "unleash-java-sdk": _Known("Java", 12),
    "unleash-nextjs-sdk": _Known("Next.js", 1),
    "unleash-node-sdk": _Known("Node", 6),
    "unleash-php-sdk": _Known("PHP", 2),
    "unleash-python-sdk": _Known("Python", 6),
    "unleash-ruby-sdk": _Known("Ruby", 6),
    "unleash-rust-sdk": _Known("Rust", 0),
    "unleash-edge": _Known("Edge", 19),
    "unleash-android-sdk": _Known("Android", 3, is_frontend=True),
    "unleash-ios-sdk": _Known("iOS", 2, is_frontend=True),
    "unleash-js-sdk": _Known("Browser", 3, is_frontend=True),
    "unleash-react-sdk": _Known("React", 5, is_frontend=True),
}
_FORMER = {
    "unleash-client-android": "unleash-android-sdk",
    "unleash-client-dotnet": "unleash-dotnet-sdk",
    "unleash-client-go": "unleash-go-sdk",
    "unleash-client-java": "unleash-java-sdk",
    "unleash-client-js": "unleash-js-sdk",
    "unleash-client-nextjs": "unleash-nextjs-sdk",
    "unleash-client-node": "unleash-node-sdk",
    "unleash-client-php": "unleash-php-sdk",
    "unleash-client-python": "unleash-python-sdk",
    "unleash-client-react": "unleash-react-sdk",
    "unleash-client-ruby": "unleash-ruby-sdk",
    "unleash-proxy-client": "unleash-js-sdk",
}
_major = re.compile(r"v?(\d{1,6})(?:\D|$)").match


class Sdk:
    """An SDK as an instance reports it, such as ``unleash-node-sdk:6.12.1``."""

    def __init__(self, reported: str) -> None:
        self.reported = reported
        name, _, self.version = reported.partition(":")
        self._known = _KNOWN.get(_FORMER.get(name, name))
        self._name = name

    def __str__(self) -> str:
        """``Node 6.12.1``."""
        return f"{self._known.label if self._known else self._name} {self.version}".strip()

    @property
    def is_frontend(self) -> bool:
        """Whether it runs in browsers and on phones."""
        return self._known is not None and self._known.is_frontend

    @property
    def newest(self) -> int | None:
        """The major version to update to; None if this one is new enough or unknown."""
        major = _major(self.version)
        if self._known is None or major is None or int(major[1]) >= self._known.newest:
            return None
        return self._known.newest


def read(reported: Iterable[str | None]) -> list[Sdk]:
    """Each SDK once, by name."""
    return [Sdk(one) for one in sorted({one for one in reported if one})]
