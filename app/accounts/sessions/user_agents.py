"""What a browser says of itself, in words."""


def in_words(user_agent: str) -> str:
    """The browser and its system, such as ``Firefox on Windows``."""
    import ua_parser  # noqa: PLC0415 - 0.1 seconds and 6 MB that most processes never need

    browser, system = ua_parser.parse_user_agent(user_agent), ua_parser.parse_os(user_agent)
    name = browser.family if browser else "Unknown browser"
    return f"{name} on {system.family}" if system else name
