"""Title and meaning of each kind of entry, for the page and the help."""

from typing import NamedTuple

from app.access.security_log.models import SecurityKind


class KindWords(NamedTuple):
    """``is_refusal``: whether something was refused or failed."""

    title: str
    description: str
    is_refusal: bool = False


WORDS = {
    SecurityKind.SIGN_IN: KindWords("Sign-in", "Someone signed in on the pages."),
    SecurityKind.SIGN_IN_FAILED: KindWords(
        "Sign-in failed",
        "The user name or the password was wrong, or there were too many attempts. The account is "
        "named if it exists. What was typed is never stored.",
        is_refusal=True,
    ),
    SecurityKind.TWO_STEP_CODE_FAILED: KindWords(
        "Two-step code failed",
        "The password was right, and the code after it was wrong.",
        is_refusal=True,
    ),
    SecurityKind.PASSWORD_REFUSED: KindWords(
        "Password refused",
        "Someone who was signed in was asked for their password, and entered a wrong one.",
        is_refusal=True,
    ),
    SecurityKind.SIGN_OUT: KindWords("Sign-out", "Someone signed out."),
    SecurityKind.OTHER_SESSIONS_ENDED: KindWords(
        "Other sessions ended", "Someone ended all their sessions except the one they used."
    ),
    SecurityKind.ACCESS_REFUSED: KindWords(
        "Access refused",
        "A known caller lacked the permission. The details have the method and the path.",
        is_refusal=True,
    ),
    SecurityKind.TOKEN_REFUSED: KindWords(
        "Token refused",
        "A request came with a token that is expired, revoked or unknown. An unknown one looks "
        "like a token of Flagstaff, and was not issued here.",
        is_refusal=True,
    ),
    SecurityKind.LIST_EXPORTED: KindWords(
        "List exported", "Someone downloaded a list. The details have the file and its rows."
    ),
    SecurityKind.TOKEN_LOOKED_UP: KindWords(
        "Token looked up",
        "Someone checked whose a leaked token is, on the pages or on the command line.",
    ),
}
