"""One setting, and what can be wrong with it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.core.config.kinds import Kind


class WrongSetting(Exception):
    """One line for the operator: which variable, what it holds, what is allowed."""

    def __init__(self, name: str, found: str, allowed: str) -> None:
        super().__init__(f"{variable(name)} is {found!r}. It must be {allowed}.")


class WrongKeyFile(Exception):
    """The file of the secret key is damaged."""

    def __init__(self, file: Path) -> None:
        super().__init__(
            f"{file} is damaged. Restore it from a backup. If you delete it, a new key is created: "
            "everyone must sign in again and set up two-step sign-in again, and all webhooks need "
            "new secrets."
        )


@dataclass(frozen=True, slots=True)
class Setting:
    """``default``: text as in the environment, or a function that computes it.

    The function gets the values of the settings before this one. ``default_words`` describe a
    default that is not a constant.
    """

    meaning: str
    kind: Kind
    default: str | Callable[[Mapping[str, Any]], str]
    default_words: str | None = None

    def read(self, name: str, text: str, before: Mapping[str, Any]) -> Any:
        """The value of the variable; its default if it is empty.

        Raises:
            WrongSetting: if the value is not allowed.

        """
        default = self.default if isinstance(self.default, str) else self.default(before)
        try:
            return self.kind.read(text or default)
        except ValueError:
            raise WrongSetting(name, self.kind.redact(text), self.kind.allowed) from None

    @property
    def shown_default(self) -> str:
        return self.default_words or str(self.default) or "none"


def setting(
    meaning: str,
    kind: Kind,
    default: str | Callable[[Mapping[str, Any]], str] = "",
    default_words: str | None = None,
) -> Any:
    return field(metadata={"setting": Setting(meaning, kind, default, default_words)})


def variable(name: str) -> str:
    return f"FLAGSTAFF_{name.upper()}"
