"""What processes of one machine wait for. Each holder opens its own file, also within a process."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.core.locks import WriterQueue
from tests.support.servers import until

LOCKS = Path("/proc/locks")
SECONDS = 60


@pytest.mark.skipif(not LOCKS.exists(), reason="only Linux says who waits for a lock")
def test_a_process_that_has_just_written_queues_behind_one_that_waits(tmp_path):
    database = tmp_path / "flagstaff.db"
    here, there = WriterQueue(database), WriterQueue(database)
    turn = here.acquire(SECONDS)
    written: list[str] = []
    [file] = tmp_path.glob("*-writer")

    def someone_waits() -> bool:
        waiting = [line for line in LOCKS.read_text().splitlines() if "->" in line]
        return any(f":{file.stat().st_ino} " in line for line in waiting)

    def write(queue: WriterQueue, name: str) -> None:
        turn = queue.acquire(SECONDS)
        written.append(name)
        queue.release(turn)

    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(write, there, "there")
        until(someone_waits)
        here.release(turn)
        write(here, "here again")
        waiting.result()
    assert written == ["there", "here again"]
