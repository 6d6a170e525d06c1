"""What is freed under a threshold goes back, in a process of its own: the setting cannot be undone."""

import subprocess
import sys
from pathlib import Path

WORKER = Path(__file__).parents[1]

MEASURE = """
import ctypes, sys
from assay_worker.allocator import apply_allocator
from assay_worker.memory import read_resident_bytes
if sys.argv[1]:
    assert apply_allocator({"MALLOC_MMAP_THRESHOLD_": sys.argv[1]})
else:
    assert not apply_allocator({})
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
def fill(size):
    buffer = libc.malloc(size)
    libc.memset(buffer, 1, size)
    return buffer
# Freeing one of 31 MiB lets glibc keep what is smaller.
libc.free(fill(31 << 20))
before = read_resident_bytes()
buffers = [fill(20 << 20) for _ in range(10)]
# Something small above them holds the heap where it is.
pin = fill(1000)
for buffer in buffers:
    libc.free(buffer)
print((read_resident_bytes() - before) >> 20)
"""


def measure_kept_mib(threshold: str) -> int:
    done = subprocess.run([sys.executable, "-c", MEASURE, threshold], capture_output=True, text=True, check=True, cwd=WORKER)
    return int(done.stdout)


def test_freed_buffers_go_back_at_once_under_the_threshold_and_are_kept_without_it() -> None:
    assert measure_kept_mib("") > 150
    assert measure_kept_mib(str(16 << 20)) < 20
