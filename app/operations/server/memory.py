"""Memory of the process, where the C library is glibc."""

import ctypes
from contextlib import suppress

M_MMAP_THRESHOLD = -3
M_ARENA_MAX = -8
LARGE_BYTES = 128 * 1_024
ARENAS = 2


def return_large_buffers() -> None:
    """Return large buffers to the operating system as soon as they are free.

    By default, glibc raises its threshold for large buffers with each one that is freed, and keeps
    smaller ones in a heap per thread. Every slow download then costs 8 MB permanently.
    """
    with suppress(OSError, AttributeError):  # another C library
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)
        libc.mallopt(M_ARENA_MAX, ARENAS)
