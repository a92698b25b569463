"""The user of the operating system who runs this process."""

import getpass
import os
import re

_is_name = re.compile(r"[A-Za-z0-9_.@\\-]{1,64}").fullmatch


def system_user() -> str:
    """``root``, or ``ada as root`` when ada ran it with sudo.

    The process's own user is asked of the system. Who ran sudo is known from the environment only.
    """
    name, caller = _process_user(), os.environ.get("SUDO_USER", "")
    return f"{caller} as {name}" if _is_name(caller) and caller != name else name


def _process_user() -> str:
    try:
        import pwd  # noqa: PLC0415 - not on Windows
    except ImportError:
        return getpass.getuser()
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # in a container with a user id of its own
        return f"uid {os.getuid()}"
