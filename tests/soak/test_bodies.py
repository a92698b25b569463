"""Bodies without measure: refused early, and kept neither in memory nor on the disk."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.support.servers import TOKEN, Server

MEBIBYTE = 1 << 20
AT_ONCE, GROWTH, TAKEN, ON_DISK = 0.1, 20 * MEBIBYTE, 5_000_000, 2_000_000
"""Seconds until a refusal that the header decides; bytes that the server may grow by, take of a
body without end, and leave in files.
"""
AUTHORIZED = f"Authorization: {TOKEN}\r\nContent-Type: application/json\r\n"
POST = f"POST /api/admin/projects HTTP/1.1\r\nHost: x\r\n{AUTHORIZED}"
FORM = "POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: "


def memory(server: Server) -> int:
    """Bytes that are the process's own."""
    pages = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def on_disk(server: Server) -> int:
    """Bytes of the files without a name that it has open, once it had time to close them."""
    deadline = time.monotonic() + 2
    while (total := _unnamed(server)) > ON_DISK and time.monotonic() < deadline:
        time.sleep(0.05)
    return total


def _unnamed(server: Server) -> int:
    total = 0
    for file in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with suppress(OSError):
            total += file.stat().st_size if "(deleted)" in str(file.readlink()) else 0
    return total


def chunks(size: int = 65_536) -> Iterator[bytes]:
    while True:
        yield b"%x\r\n%s\r\n" % (size, b" " * size)


def exchange(server: Server, head: str, body: Iterator[bytes]) -> tuple[bytes, int, float]:
    """What comes back, how much was taken, and how long it took from the end of the header."""
    taken = 0
    with closing(socket.create_connection(("127.0.0.1", server.port), 30)) as client:
        client.sendall(head.encode() + b"\r\n")
        began = time.monotonic()
        client.settimeout(0.001)
        answer = b""
        for piece in body:
            with suppress(TimeoutError):
                answer = client.recv(65_536)
            if answer:
                break
            client.settimeout(30)
            try:
                client.sendall(piece)
            except ConnectionError:
                break
            taken += len(piece)
            client.settimeout(0.001)
        client.settimeout(30)
        with suppress(ConnectionError):
            answer = answer or client.recv(65_536)
    return answer, taken, time.monotonic() - began


DECLARED = {
    "a length of 10 GB": (f"{POST}Content-Length: 10000000000\r\n", b"HTTP/1.1 413"),
    "a header of 20 kB": (f"{POST}X-Reason: {'x' * 20_000}\r\n", b"HTTP/1.1 431"),
    "a thousand headers": (f"{POST}{'X-A: b' * 3_000}\r\n", b"HTTP/1.1 431"),
    "a line without end": ("GET /" + "x" * 40_000, b"HTTP/1.1 431"),
}


@pytest.mark.parametrize("name", DECLARED)
def test_what_the_header_decides_is_refused_at_once(start, name):
    server = start()
    head, expected = DECLARED[name]
    before = memory(server)
    answer, _, seconds = exchange(server, head, iter([]))
    assert answer[:12].replace(b"HTTP/1.0", b"HTTP/1.1") == expected
    assert seconds < AT_ONCE
    assert memory(server) - before < GROWTH


def multipart(parts: int) -> bytes:
    part = b'--x\r\nContent-Disposition: form-data; name="a%d"; filename="b"\r\n\r\nc\r\n'
    return b"".join(part % number for number in range(parts)) + b"--x--\r\n"


URLENCODED = FORM + "application/x-www-form-urlencoded\r\n"
BODIES = {
    "2 MB and a byte": (POST, b" " * (2 * MEBIBYTE + 1)),
    "100,000 levels": (POST, b'{"id":' * 100_000),
    "60,000 fields": (URLENCODED, b"&".join(b"a%d=b" % n for n in range(60_000))),
    "one field of 2 MB": (URLENCODED, b"name=" + b"x" * (2 * MEBIBYTE - 100)),
    "1,000 parts": (f"{FORM}multipart/form-data; boundary=x\r\n", multipart(1_000)),
    "parts without end": (f"{FORM}multipart/form-data; boundary=x\r\n", b"--x\r\n" * 300_000),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_of_strange_form_is_refused_and_forgotten(start, name):
    server = start()
    head, body = BODIES[name]
    exchange(server, f"{head}Content-Length: {len(body)}\r\n", iter([body]))  # to warm up
    before = memory(server)
    for _ in range(5):
        answer, _, seconds = exchange(
            server, f"{head}Content-Length: {len(body)}\r\n", iter([body])
        )
        assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 413")), answer[:200]
        assert seconds < 2
    growth = memory(server) - before
    print(f"\n{name}: {growth / MEBIBYTE:.1f} MiB more, last {seconds:.3f} s")
    assert growth < GROWTH
    assert on_disk(server) < ON_DISK
    assert server.call("GET", "/health", token=None).status == 200


@pytest.mark.parametrize("head", [POST, URLENCODED, "POST / HTTP/1.1\r\nHost: x\r\n"])
def test_a_body_without_end_is_cut_off(start, head):
    server = start()
    before = memory(server)
    answer, taken, seconds = exchange(server, f"{head}Transfer-Encoding: chunked\r\n", chunks())
    print(f"\n{taken / MEBIBYTE:.1f} MiB taken in {seconds:.2f} s: {answer[:12]!r}")
    assert taken < TAKEN
    assert memory(server) - before < GROWTH
    assert on_disk(server) < ON_DISK
    assert server.call("GET", "/health", token=None).status == 200
