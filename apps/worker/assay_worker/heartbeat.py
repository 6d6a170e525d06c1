"""Tells Assay once a second that this worker lives and what it has done so far.

`progress` rises only where work is done, so a worker that lives but does nothing can be told from one that works.
"""

import contextlib
import threading
import time
from dataclasses import dataclass

from assay_worker.load_watch import LoadWatch
from assay_worker.memory import read_peak_bytes, read_resident_bytes
from assay_worker.protocol import Heartbeat, WorkerState
from assay_worker.transport import Channel

INTERVAL_SECONDS = 1.0


@dataclass
class Activity:
    """Counters of one worker. Written by the role's thread, read by the heartbeat's; a stale value does no harm."""

    state: WorkerState = "waiting"
    progress: int = 0
    steps: int = 0
    busy_seconds: float = 0.0
    prompt_tokens: int = 0
    new_tokens: int = 0
    running_requests: int = 0
    waiting_requests: int = 0
    peak_bytes: int = 0

    def advance(self, amount: int = 1) -> None:
        self.progress += amount

    def note_peak(self) -> int:
        """The highest peak seen, which also covers the time before a reset of the kernel's mark."""
        self.peak_bytes = max(self.peak_bytes, read_peak_bytes())
        return self.peak_bytes


def start_heartbeat(channel: Channel, activity: Activity, interval_seconds: float = INTERVAL_SECONDS) -> threading.Thread:
    """Call after `hello`, which is the first message."""
    thread = threading.Thread(target=_beat, args=(channel, activity, interval_seconds), name="heartbeat", daemon=True)
    thread.start()
    return thread


def _beat(channel: Channel, activity: Activity, interval_seconds: float) -> None:
    watch = LoadWatch()
    while True:
        # Short of memory is no reason to look dead; the next beat may find some.
        with contextlib.suppress(MemoryError):
            if activity.state == "loading" and watch.has_moved():
                activity.advance()
            channel.send(read_heartbeat(activity))
        time.sleep(interval_seconds)


def read_heartbeat(activity: Activity) -> Heartbeat:
    return Heartbeat(
        type="heartbeat",
        state=activity.state,
        progress=activity.progress,
        rss_bytes=read_resident_bytes(),
        peak_bytes=activity.note_peak(),
        steps=activity.steps,
        busy_seconds=activity.busy_seconds,
        prompt_tokens=activity.prompt_tokens,
        new_tokens=activity.new_tokens,
        running_requests=activity.running_requests,
        waiting_requests=activity.waiting_requests,
    )
