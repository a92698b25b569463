"""The load generator, a process of its own: a job as JSON on standard input, requests/s out."""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from subprocess import PIPE, run

CONNECTIONS = 8
TIMEOUT = 120


@dataclass(frozen=True, slots=True)
class Job:
    """One kind of request, sent until ``seconds`` have passed or ``requests`` are answered.

    ``bodies`` are sent by turns; in each, ``@N@`` becomes the number of the request.
    """

    port: int
    method: str
    path: str
    token: str = ""
    bodies: tuple[str, ...] = ("",)
    first: int = 0
    seconds: float = TIMEOUT
    requests: int = 1_000_000


def drive(job: Job) -> float:
    """Requests/s, sent by a process of its own: it takes no time from a server's threads."""
    command = [sys.executable, "-m", __name__]
    sent = json.dumps(asdict(job))
    done = run(command, input=sent, text=True, stdout=PIPE, check=True, timeout=2 * TIMEOUT)
    return float(done.stdout)


def _message(job: Job, number: int) -> bytes:
    body = job.bodies[number % len(job.bodies)].replace("@N@", str(number))
    head = f"{job.method} {job.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {job.token}\r\n"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"{head}\r\n{body}".encode()


async def _connection(job: Job, numbers: Iterator[int], deadline: float) -> int:
    """How many requests this connection had answered."""
    reader, writer = await asyncio.open_connection("127.0.0.1", job.port)
    answered = 0
    while time.perf_counter() < deadline and (number := next(numbers, None)) is not None:
        writer.write(_message(job, number))
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        body = await reader.readexactly(length)
        if not head.startswith(b"http/1.1 2"):
            raise RuntimeError(f"{job.method} {job.path}: {head[:40]!r} {body[:500]!r}")
        answered += 1
    writer.close()
    return answered


async def _run(job: Job) -> float:
    numbers = iter(range(job.first, job.first + job.requests))
    start = time.perf_counter()
    connections = min(CONNECTIONS, job.requests)
    parts = [_connection(job, numbers, start + job.seconds) for _ in range(connections)]
    answered = sum(await asyncio.gather(*parts))
    return answered / (time.perf_counter() - start)


if __name__ == "__main__":
    sys.stdout.write(str(asyncio.run(_run(Job(**json.load(sys.stdin))))))
