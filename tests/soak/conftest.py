from tests.cli.conftest import empty_postgresql, machine

__all__ = ["empty_postgresql", "machine"]  # fixtures
