"""The channel to Assay: events leave on fd 3, commands come in on stdin, and fd 1 is only ever log output.

Invariant: no library can write into the events or read the commands, because both descriptors are private copies.
"""

import contextlib
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter, ValidationError

from assay_worker.lifetime import end_process_group
from assay_worker.protocol import Exit, Wire, read_message, write_message

EVENT_DESCRIPTOR = 3
END_OF_INPUT_GRACE_SECONDS = 0.5


class Channel:
    """Thread-safe. The reader thread only splits lines; a role parses them with `receive` in its own thread."""

    def __init__(self, events: int, commands: int, on_parent_gone: Callable[[], Any] = end_process_group) -> None:
        self._events = events
        self._commands = commands
        self._on_parent_gone = on_parent_gone
        self._write_lock = threading.Lock()
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._exit_seen = False

    def send(self, message: Wire) -> None:
        """Writes one event whole. A parent that no longer reads is gone, and then so are we."""
        line = memoryview(write_message(message))
        with self._write_lock:
            try:
                while line:
                    line = line[os.write(self._events, line) :]
            except BrokenPipeError:
                self._on_parent_gone()

    def start_reading(self) -> None:
        threading.Thread(target=self._read_commands, name="commands", daemon=True).start()

    def receive(self, adapter: TypeAdapter[Any], timeout_seconds: float | None = 0.0) -> Any | None:
        """The next command, or None when none came in time (0: do not wait, None: wait for ever). Exit ends the stream."""
        try:
            line = self._lines.get(block=timeout_seconds != 0, timeout=timeout_seconds or None)
        except queue.Empty:
            return None
        if line is None:
            return Exit(type="exit")
        try:
            return read_message(adapter, line)
        except ValidationError as error:
            raise ProtocolError(f"not a command of this protocol: {line[:200]!r}: {error}") from error

    def _read_commands(self) -> None:
        pending = b""
        while chunk := os.read(self._commands, 1 << 16):
            *lines, pending = (pending + chunk).split(b"\n")
            for line in filter(None, lines):
                # Looked for here, not only by the role: after `exit` the parent may close the pipe and still expects a drain.
                self._exit_seen = self._exit_seen or line.strip().replace(b" ", b"") == b'{"type":"exit"}'
                self._lines.put(line)
        self._lines.put(None)
        if not self._exit_seen:
            time.sleep(END_OF_INPUT_GRACE_SECONDS)
            self._on_parent_gone()


class ProtocolError(Exception):
    """The other side says something this build does not know."""


def open_channel() -> Channel:
    """Takes fd 3 and stdin for the channel. Call once, before anything that prints or starts a process is imported."""
    try:
        os.set_inheritable(EVENT_DESCRIPTOR, False)
    except OSError:
        print("the event channel (descriptor 3) is closed: this program is started by `assay run`", file=sys.stderr)
        raise SystemExit(2) from None
    commands = os.dup(0)  # dup'ed descriptors are not inherited
    with contextlib.closing(os.fdopen(os.open(os.devnull, os.O_RDONLY), "rb")) as nothing:
        os.dup2(nothing.fileno(), 0)
    sys.stdout.flush()
    os.dup2(2, 1)
    return Channel(EVENT_DESCRIPTOR, commands)
