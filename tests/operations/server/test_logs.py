"""The log of the server, which must not be able to take the server down."""

from tests.support.machines import EXECUTABLE


def test_a_log_that_can_not_be_written_costs_no_answer(start):
    command = ["sh", "-c", f"exec '{EXECUTABLE}' serve 2>/dev/full"]
    server = start(command=command, PROCESSES="1")
    answers = [server.call("GET", "/no/such/page", token=None).status for _ in range(50)]
    assert answers == [404] * 50
    assert server.call("GET", "/api/admin/user").status == 200
    assert server.end() == 0
