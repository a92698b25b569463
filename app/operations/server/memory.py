"""Memory of the process, where the C library is glibc."""

import ctypes
from contextlib import suppress

M_MMAP_THRESHOLD = -3
M_ARENA_MAX = -8
LARGE_BYTES = 128 * 1_024
ARENAS = 2


def return_large_buffers() -> None:
    """Let the system have large buffers back as soon as they are free.

    By itself, glibc raises its limit for what is large with each such buffer, and keeps what is
    below in a heap for each thread. Every slow download then costs 8 MB for good.
    """
    with suppress(OSError, AttributeError):  # another C library
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)
        libc.mallopt(M_ARENA_MAX, ARENAS)
