import pytest

pytest.register_assert_rewrite("tests.input", "tests.support")
