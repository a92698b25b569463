"""The load generator, a process of its own: a job as JSON on standard input, its ``Load`` out."""

import asyncio
import json
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain
from subprocess import PIPE, TimeoutExpired, run
from urllib.parse import SplitResult, urlsplit

CONNECTIONS = 8
TIMEOUT = 120


@dataclass(frozen=True, slots=True)
class Job:
    """One kind of request, sent until ``seconds`` have passed or ``requests`` are answered.

    The connections are spread evenly over ``servers``, addresses like http://127.0.0.1:4242.
    ``bodies`` are sent by turns; in each, ``@N@`` becomes the number of the request.
    """

    servers: tuple[str, ...]
    method: str = "GET"
    path: str = "/"
    token: str = ""
    bodies: tuple[str, ...] = ("",)
    first: int = 0
    seconds: float = TIMEOUT
    requests: int = 1_000_000
    connections: int = CONNECTIONS
    headers: tuple[tuple[str, str], ...] = ()

    def body(self, number: int) -> str:
        return self.bodies[number % len(self.bodies)].replace("@N@", str(number))


@dataclass(frozen=True, slots=True)
class Load:
    """What was borne: requests/s, and the ms in which half and 99 % of them were answered."""

    rate: float
    p50: float
    p99: float


class Refused(Exception):
    """A request was not answered with success; ``status`` is 0 when it was not answered at all."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status or 'no answer'}: {text}")
        self.status = status
        self.text = text


def drive(job: Job) -> Load:
    """Do the job in a process of its own: it takes no time from a server's threads.

    Raises:
        Refused: at the first request that was not answered with success.

    """
    command = [sys.executable, "-m", __name__]
    sent = json.dumps(asdict(job))
    limit = job.seconds + TIMEOUT
    try:
        done = run(command, input=sent, text=True, stdout=PIPE, check=True, timeout=limit)
    except TimeoutExpired:
        raise Refused(0, f"{job.method} {job.path} took more than {TIMEOUT} s") from None
    found = json.loads(done.stdout)
    if "status" in found:
        raise Refused(**found)
    return Load(**found)


def _main() -> None:
    job = Job(**json.load(sys.stdin))
    try:
        found = asdict(asyncio.run(_run(job)))
    except Refused as refused:
        found = {"status": refused.status, "text": refused.text}
    except (OSError, EOFError) as error:
        found = {"status": 0, "text": str(error)}
    json.dump(found, sys.stdout)


async def _run(job: Job) -> Load:
    numbers = iter(range(job.first, job.first + job.requests))
    servers = [urlsplit(address) for address in job.servers]
    start = time.perf_counter()
    parts = [
        _connection(job, servers[index % len(servers)], numbers, start + job.seconds)
        for index in range(job.connections)
    ]
    times = sorted(chain.from_iterable(await asyncio.gather(*parts)))
    rate = len(times) / (time.perf_counter() - start)
    return Load(rate, _percentile(times, 50), _percentile(times, 99))


def _percentile(times: list[float], percent: int) -> float:
    return times[math.ceil(len(times) * percent / 100) - 1]


async def _connection(
    job: Job, server: SplitResult, numbers: Iterator[int], deadline: float
) -> list[float]:
    """The milliseconds that each request of one connection took."""
    secure = server.scheme == "https"
    port = server.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(server.hostname, port, ssl=secure or None)
    times = []
    while time.perf_counter() < deadline and (number := next(numbers, None)) is not None:
        message = _message(job, server, number)
        start = time.perf_counter()
        writer.write(message)
        status, body = await _answer(reader)
        times.append((time.perf_counter() - start) * 1_000)
        if not 200 <= status < 300:
            raise Refused(status, f"{job.method} {job.path}: {body[:500].decode(errors='replace')}")
    writer.close()
    return times


def _message(job: Job, server: SplitResult, number: int) -> bytes:
    body = job.body(number)
    head = (
        f"{job.method} {server.path.rstrip('/')}{job.path} HTTP/1.1\r\n"
        f"Host: {server.netloc}\r\nAuthorization: {job.token}\r\n"
    )
    head += "".join(f"{name}: {value}\r\n" for name, value in job.headers)
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"{head}\r\n{body}".encode()


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    status = int(head.split(maxsplit=2)[1])
    if b"transfer-encoding: chunked" in head:
        return status, await _chunks(reader)
    length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
    return status, await reader.readexactly(length)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


if __name__ == "__main__":
    _main()
