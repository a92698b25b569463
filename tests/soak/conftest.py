from tests.cli.conftest import empty_postgresql, machine, start

__all__ = ["empty_postgresql", "machine", "start"]  # fixtures
