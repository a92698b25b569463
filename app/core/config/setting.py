"""One setting, and what can be wrong with it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from app.core.config.kinds import Kind


class WrongSetting(Exception):
    """One line for the operator: which variable, what it holds, what is allowed."""

    def __init__(self, source: str, found: str, allowed: str) -> None:
        super().__init__(f"{source} is {found!r}. It must be {allowed}.")


class Given(NamedTuple):
    """What an operator set: the variable and its text, or the text of the file that it names."""

    source: str
    text: str


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
    default that is not a constant. ``usual``: what platforms call the variable, for when its own
    is not set.
    """

    meaning: str
    kind: Kind
    default: str | Callable[[Mapping[str, Any]], str]
    default_words: str | None = None
    usual: str | None = None

    def given(self, name: str, environ: Mapping[str, str]) -> Given:
        """What is set in the environment: NAME, the contents of the file NAME_FILE, or the usual.

        Raises:
            WrongSetting: if two contradict each other, or the file can't be read.

        """
        own, of_file = variable(name), f"{variable(name)}_FILE"
        text, file = (environ.get(each, "").strip() for each in (own, of_file))
        if text and file:
            raise WrongSetting(of_file, file, f"empty, because {own} is set")
        if file:
            try:
                return Given(of_file, Path(file).read_text("utf-8").strip())
            except (OSError, UnicodeError):
                allowed = "a text file that this user can read"
                raise WrongSetting(of_file, file, allowed) from None
        if self.usual and not text:
            return Given(self.usual, environ.get(self.usual, "").strip())
        return Given(own, text)

    def read(self, given: Given, before: Mapping[str, Any]) -> Any:
        """The value of what is given; the default if that is empty.

        Raises:
            WrongSetting: if the value is not allowed.

        """
        default = self.default if isinstance(self.default, str) else self.default(before)
        try:
            return self.kind.read(given.text or default)
        except ValueError:
            found = self.kind.redact(given.text)
            raise WrongSetting(given.source, found, self.kind.allowed) from None

    @property
    def shown_default(self) -> str:
        return self.default_words or str(self.default) or "none"


def setting(
    meaning: str,
    kind: Kind,
    default: str | Callable[[Mapping[str, Any]], str] = "",
    default_words: str | None = None,
    usual: str | None = None,
) -> Any:
    return field(metadata={"setting": Setting(meaning, kind, default, default_words, usual)})


def variable(name: str) -> str:
    return f"FLAGSTAFF_{name.upper()}"
