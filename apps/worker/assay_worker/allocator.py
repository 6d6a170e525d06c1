"""glibc's allocator in a process that runs already: its variables are read at a program's start, and the plan comes later."""

import ctypes
from collections.abc import Mapping

THRESHOLD_VARIABLE = "MALLOC_MMAP_THRESHOLD_"
# M_MMAP_THRESHOLD of malloc.h.
_MMAP_THRESHOLD = -3


def apply_allocator(environment: Mapping[str, str]) -> bool:
    """Buffers of at least MALLOC_MMAP_THRESHOLD_ bytes go back to the kernel when they are freed. False where the variable is
    not set, or the C library is not glibc."""
    size = environment.get(THRESHOLD_VARIABLE, "")
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    return bool(size and set_option and set_option(_MMAP_THRESHOLD, int(size)) == 1)
