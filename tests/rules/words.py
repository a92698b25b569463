"""Words that Flagstaff does not use: ``python -m tests.rules.words [PATH …]`` says where they are.

Only what is written for people is read: all of templates, pages and style sheets, and of Python the
strings, the comments and the names of functions and classes.
"""

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
READ = {
    "app": {".py"},
    ".github": {".md", ".yml"},
    "docker": {".example", ".yaml"},
    "docs": {".md"},
    "migrations": {".py"},
    "static": {".css", ".js"},
    "templates": {
        *(".conf", ".env", ".html", ".json", ".ps1", ".service", ".timer", ".yaml"),
    },
    "tests": {".py"},
}
FILES = (
    "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
    "Makefile", "docker/Dockerfile", "pyproject.toml", ".pre-commit-config.yaml",
)  # fmt: skip
PIECES = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)}


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern in words; ``instead``: what to write; ``below``: the folders it holds for."""

    pattern: str
    instead: str
    below: tuple[str, ...] = ("",)
    except_in: dict[str, str] = field(default_factory=dict)
    """Why these files may: by path, or the beginning of one."""

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        return _whole_words(self.pattern).finditer(text)

    def holds_for(self, path: str) -> bool:
        return path.startswith(self.below) and not path.startswith(tuple(self.except_in))


@cache
def _whole_words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b".replace(" ", r"\s+"), re.IGNORECASE)


PAGES = ("app/", "templates/")
RULES = (
    Rule(
        "he|she|him|his|hers?|himself|herself|oneself|one[’'](?:s own|s way)",
        "they, their, you, your",
    ),
    Rule("whoever|whomever", "anyone who, the person who"),
    Rule("somebody", "someone"),
    Rule("anybody", "anyone"),
    Rule("everybody", "everyone"),
    Rule("nobody", "no one"),
    Rule("(?<!someone\\s)(?<!anyone\\s)(?<!everyone\\s)who has", "people with, anyone with"),
    Rule("for who|to who(?!\\sdid)", "for people who, for anyone who"),
    Rule("meanwhile", "in the meantime, since then, or nothing"),
    Rule("anew", "again"),
    Rule("com(?:es?|ing) into being|came into being", "is created"),
    Rule("com(?:es?|ing) to nothing|came to nothing", "is no longer valid"),
    Rule("stands? in(?! for)|stands (?:beside|below|above)|stood in", "is in, is next to"),
    Rule("stands in for", "replaces, represents"),
    Rule("as (?:it|things) stands?|things stand", "now, in its current state"),
    Rule("(?:is|are|was|were|be|been) told", "is recorded, is shown, is reported"),
    Rule("it so happens|by chance|lest|thereof|thrice|hitherto|whence|nought", "plain words"),
    Rule("put(?:s|ting)? away", "archive"),
    Rule("(?:tak(?:es?|en|ing)|took) (?:(?:it|them|this|that|tags) )?back", "undo"),
    Rule("(?:tak(?:es?|en|ing)|took) (?:it|them|this|that) (?:away|out)", "remove"),
    Rule("look(?:s|ed|ing)? after", "manage, take care of"),
    Rule("upon", "on"),
    Rule("mend(?:s|ed|ing)?", "fix, correct"),
    Rule("for ever", "forever, permanently"),
    Rule("lives? on|lived on", "keeps working, stays valid"),
    Rule("of (?:ours|theirs|yours|mine)", "our, their, your"),
    Rule("begins? again|begun again", "starts again"),
    Rule("brings? (?:him|them) back|made known", "restores"),
    Rule(r"robots?(?!\.txt)", "service account", PAGES),
    Rule("programs?", "application (asks for features), script (calls the admin API)", PAGES),
    Rule("(?<!feature\\s)(?:flags?|toggles?)(?!\\.)", "feature", ("templates/",)),
)
ANY_RULE = _whole_words("|".join(rule.pattern for rule in RULES))
ITSELF = {"tests/rules/words.py"}


@dataclass(frozen=True, slots=True)
class Found:
    path: str
    line: int
    words: str
    instead: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: “{self.words}”; write: {self.instead}"


def found(only: tuple[str, ...] = ("",)) -> list[Found]:
    """All of it, or what is in paths that begin with one of ``only``."""
    return [
        Found(path, line + text.count("\n", 0, match.start()), match[0], rule.instead)
        for path in _paths()
        if path.startswith(only) and path not in ITSELF
        for line, text in pieces(path)
        for rule in RULES
        if rule.holds_for(path)
        for match in rule.matches(text)
    ]


def pieces(path: str) -> Iterator[tuple[int, str]]:
    """What a file says to people, each piece with the line that it begins in."""
    text = ROOT.joinpath(path).read_text("utf-8")
    if not path.endswith(".py"):
        return iter([(1, text)])
    # Telling what is a comment and what is code takes several times as long as one look at all.
    return of_python(text) if ANY_RULE.search(_spaced(text)) else iter(())


def of_python(text: str) -> Iterator[tuple[int, str]]:
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for token in tokens:
        if token.type in PIECES:
            yield token.start[0], token.string
    for before, token in pairwise(tokens):
        if before.string in {"def", "class"} and before.type == tokenize.NAME:
            yield token.start[0], _spaced(token.string).strip()


def _spaced(names: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_+", " ", names)


def _paths() -> list[str]:
    below = [
        path
        for folder, suffixes in READ.items()
        for path in sorted((ROOT / folder).rglob("*"))
        if path.is_file() and path.suffix in suffixes and "__pycache__" not in path.parts
    ]
    return [str(path.relative_to(ROOT)) for path in below] + [
        name for name in FILES if (ROOT / name).exists()
    ]


def main() -> None:
    problems = found(tuple(sys.argv[1:]) or ("",))
    for problem in problems:
        sys.stdout.write(f"{problem}\n")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
