import pytest

pytest.register_assert_rewrite("tests.browser", "tests.clients", "tests.input", "tests.support")
