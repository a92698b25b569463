"""Slow clients, a process of their own: ``python -m tests.soak.slow PORT SECONDS`` drips.

Connects again when it is cut off; prints as JSON for how long each kind of connection lived.
"""

import asyncio
import json
import sys
import time
from contextlib import suppress
from itertools import chain

HEAD = b"POST /api/admin/projects HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n"
KINDS = {"headers": (500, HEAD + b"X-Slow: "), "body": (300, HEAD + b"\r\n"), "idle": (300, b"")}
"""How many of each kind, and what they send at once; the rest comes byte by byte."""
PAUSE = 1.0


async def _drip(port: int, first: bytes, deadline: float) -> list[float]:
    lives = []
    while time.monotonic() < deadline:
        began = time.monotonic()
        with suppress(OSError, asyncio.TimeoutError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(first)
            while time.monotonic() < deadline:
                with suppress(asyncio.TimeoutError):
                    if await asyncio.wait_for(reader.read(65_536), PAUSE) == b"":
                        break
                if first:
                    writer.write(b"x")
            writer.close()
        lives.append(time.monotonic() - began)
        await asyncio.sleep(0.05)
    return lives


async def _main(port: int, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    kinds = [
        asyncio.gather(*(_drip(port, first, deadline) for _ in range(number)))
        for number, first in KINDS.values()
    ]
    found = await asyncio.gather(*kinds)
    lives = {kind: list(chain(*lists)) for kind, lists in zip(KINDS, found, strict=True)}
    json.dump(lives, sys.stdout)


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), float(sys.argv[2])))
