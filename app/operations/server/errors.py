"""Why a server or a command can't start, each with a message for the operator."""


class DatabaseMissing(Exception):
    """An instance was served from this folder, but its database is empty."""


class CantListen(Exception):
    """Something else listens there, or the address is not this machine's."""
