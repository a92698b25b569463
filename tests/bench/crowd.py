"""Ten thousand programs that poll one server, as SDKs do: a process of its own.

Each keeps one connection open, asks every 15 s for what changed since, and reports every 60 s.
"""

import argparse
import asyncio
import json
import random
import resource
import time
from collections import Counter
from dataclasses import dataclass, field

POLL_SECONDS = 15.0
REPORT_SECONDS = 60.0
STARTING_SECONDS = 15.0
RETRY_SECONDS = 1.0


@dataclass(slots=True)
class Seen:
    """What all programs met: milliseconds by status, and failed connections."""

    times: dict[int, list[float]] = field(default_factory=dict)
    faults: Counter[str] = field(default_factory=Counter)

    def summary(self) -> dict[str, object]:
        every = sorted(each for times in self.times.values() for each in times)
        return {
            "requests": len(every),
            "statuses": {status: len(times) for status, times in self.times.items()},
            "faults": dict(self.faults),
            "p50": round(every[len(every) // 2], 1),
            "p99": round(every[len(every) * 99 // 100], 1),
            "max": round(every[-1], 1),
        }


async def program(number: int, port: int, token: str, until: float, seen: Seen) -> None:
    """One program, from a moment of its own on."""
    head = (
        f"Host: 127.0.0.1\r\nAuthorization: {token}\r\nUnleash-Client-Spec: 5.2.0\r\n"
        f"unleash-appname: shop-{number % 50}\r\nunleash-connection-id: {number}\r\n"
        "unleash-sdk: unleash-node-sdk:6.12.1\r\nAccept-Encoding: gzip\r\n"
    )
    counts = {"yes": 1, "no": 1}
    bucket = {"toggles": {f"feature.number-{number % 100}": counts}}
    body = json.dumps({"appName": f"shop-{number % 50}", "connectionId": number, "bucket": bucket})
    report = f"POST /api/client/metrics HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n{body}"
    etag, next_report = "", time.monotonic() + random.uniform(0, REPORT_SECONDS)
    streams = None
    await asyncio.sleep(random.uniform(0, STARTING_SECONDS))
    while (start := time.monotonic()) < until:
        try:
            if streams is None:
                streams = await asyncio.open_connection("127.0.0.1", port)
            match = f"If-None-Match: {etag}\r\n" if etag else ""
            ask = f"GET /api/client/features HTTP/1.1\r\n{head}{match}\r\n"
            etag = await _send(streams, ask, seen) or etag
            if time.monotonic() >= next_report:
                next_report += REPORT_SECONDS
                await _send(streams, report, seen)
        except (OSError, asyncio.IncompleteReadError) as error:
            seen.faults[type(error).__name__] += 1
            streams = None
            await asyncio.sleep(RETRY_SECONDS)
            continue
        await asyncio.sleep(max(start + POLL_SECONDS - time.monotonic(), 0))


async def _send(
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter], message: str, seen: Seen
) -> str:
    """Send a request and read its answer; its ETag."""
    reader, writer = streams
    start = time.perf_counter()
    writer.write(message.encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    status, etag, length = int(head[9:12]), "", 0
    for line in head.split("\r\n")[1:]:
        name, _, value = line.partition(": ")
        if name.lower() == "etag":
            etag = value
        elif name.lower() == "content-length":
            length = int(value)
    if status == 200 and length:
        await reader.readexactly(length)
    seen.times.setdefault(status, []).append((time.perf_counter() - start) * 1_000)
    return etag


async def crowd(port: int, token: str, programs: int, seconds: float) -> Seen:
    """Run so many programs for so long."""
    seen, until = Seen(), time.monotonic() + seconds
    everyone = (program(number, port, token, until, seen) for number in range(programs))
    await asyncio.gather(*everyone)
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("token")
    parser.add_argument("--programs", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=300)
    given = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    seen = asyncio.run(crowd(given.port, given.token, given.programs, given.seconds))
    print(json.dumps(seen.summary()))


if __name__ == "__main__":
    main()
