"""What was done, told on the page that comes next."""

from flask import flash
from markupsafe import Markup

DONE = "done"
"""The id of the note, for the address of that page: it is in sight then, and has the focus."""


def tell_with_undo(done: Markup, *, action: str, what: str) -> None:
    """Tell what was done, with a button that posts to ``action`` to undo it.

    ``what`` completes the name of the button: “Undo switching on in production”.
    """
    note = {"done": done, "action": action, "what": what}
    flash(note, "ok")  # type: ignore[arg-type] # the session keeps more than strings
