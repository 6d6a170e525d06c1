"""Keeps a worker on its own cores. The plan is known only after the process has started, so `taskset` would come too early."""

import contextlib
import os
from collections.abc import Mapping

AFFINITY_VARIABLE = "ASSAY_CPU_AFFINITY"


def apply_affinity(environment: Mapping[str, str]) -> None:
    """ASSAY_CPU_AFFINITY="0,2-3" binds every thread there is, and so every thread to come. Unset: nothing changes."""
    cores = parse_cores(environment.get(AFFINITY_VARIABLE, ""))
    if not cores:
        return
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread), cores)


def parse_cores(text: str) -> set[int]:
    cores: set[int] = set()
    for part in filter(None, text.replace(" ", "").split(",")):
        first, _, last = part.partition("-")
        cores.update(range(int(first), int(last or first) + 1))
    return cores
