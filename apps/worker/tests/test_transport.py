"""The channel keeps events apart from prints, and nothing outlives the parent."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay_worker.protocol import Exit, Failed, Failure, engine_commands, read_message, worker_events
from assay_worker.transport import Channel, ProtocolError
from engine_kit import PACKAGE_ROOT, WorkerProcess, load_command, scoring_row, shard_command, wait_until, write_requests


@pytest.fixture
def pipes() -> Iterator[tuple[Channel, int, int, list[str]]]:
    events_read, events_write = os.pipe()
    commands_read, commands_write = os.pipe()
    gone: list[str] = []
    yield Channel(events_write, commands_read, on_parent_gone=lambda: gone.append("gone")), events_read, commands_write, gone
    for descriptor in (events_read, events_write, commands_write):
        try:
            os.close(descriptor)
        except OSError:
            continue


def test_events_of_many_threads_do_not_mix(pipes: tuple[Channel, int, int, list[str]]) -> None:
    channel, events, _, _ = pipes
    received: list[bytes] = []

    def read() -> None:
        with open(events, "rb", closefd=False) as stream:
            received.extend(stream.readline() for _ in range(200))

    reader = threading.Thread(target=read)
    reader.start()
    message = "x" * 20_000  # larger than a pipe's atomic write

    def send(number: int) -> None:
        for _ in range(50):
            channel.send(Failed(type="failed", id=number, failure=Failure(class_="unknown", message=message)))

    senders = [threading.Thread(target=send, args=(number,)) for number in range(4)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    reader.join()
    assert sorted(read_message(worker_events, line).id for line in received) == sorted(list(range(4)) * 50)


def test_commands_come_in_order_and_the_end_of_input_is_an_exit(pipes: tuple[Channel, int, int, list[str]]) -> None:
    channel, _, commands, gone = pipes
    channel.start_reading()
    assert channel.receive(engine_commands, 0.0) is None
    os.write(commands, b'{"type":"cancel","shard":"a","attempt":1}\n{"type":"cancel",')
    assert channel.receive(engine_commands, 5.0).shard == "a"
    os.write(commands, b'"shard":"b","attempt":2}\nnonsense\n')
    assert channel.receive(engine_commands, 5.0).shard == "b"
    with pytest.raises(ProtocolError):
        channel.receive(engine_commands, 5.0)
    os.close(commands)
    assert channel.receive(engine_commands, 5.0) == Exit(type="exit")
    assert wait_until(lambda: gone == ["gone"])


def test_after_exit_the_end_of_input_is_expected(pipes: tuple[Channel, int, int, list[str]]) -> None:
    channel, _, commands, gone = pipes
    os.write(commands, b'{"type": "exit"}\n')
    os.close(commands)
    channel.start_reading()
    assert channel.receive(engine_commands, 5.0) == Exit(type="exit")
    assert channel.receive(engine_commands, 5.0) == Exit(type="exit")
    assert not wait_until(lambda: gone, timeout_seconds=0.8)


def test_a_parent_that_does_not_read_is_gone(pipes: tuple[Channel, int, int, list[str]]) -> None:
    channel, events, _, gone = pipes
    os.close(events)
    channel.send(Failed(type="failed", id=1, failure=Failure(class_="unknown", message="")))
    assert gone == ["gone"]


def test_prints_go_to_the_log_and_hello_comes_first(tmp_path: Path) -> None:
    folder = write_requests(tmp_path, [scoring_row([1], [2]), scoring_row([3], [4])])
    noise = '{"type":"exit"} and\nother noise'
    arguments = {"faults": [{"at": "row", "row": 1, "do": "print", "text": noise}, {"at": "row", "row": 0, "do": "stderr", "text": "grumble"}]}
    with WorkerProcess(ASSAY_ENGINE="simulated") as worker:
        worker.send(load_command(folder, engineArgs=arguments))
        worker.send(shard_command(2))
        worker.expect("shard_done")
        worker.send({"type": "exit"})
        assert worker.wait() == 0
        assert worker.events[0].type == "hello" and worker.events[0].pid == worker.process.pid
        assert noise in worker.read_log() and "grumble" in worker.read_log()


def test_without_an_event_channel_it_says_who_starts_it() -> None:
    command = [sys.executable, "-m", "assay_worker", "engine"]
    ended = subprocess.run(command, cwd=PACKAGE_ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert ended.returncode == 2 and "assay run" in ended.stderr


def test_an_unknown_role_is_refused() -> None:
    ended = subprocess.run([sys.executable, "-m", "assay_worker", "cook"], cwd=PACKAGE_ROOT, capture_output=True, text=True)
    assert ended.returncode == 2 and "engine|harness" in ended.stderr


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def find_descendants(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        try:
            with open(f"/proc/{parent}/task/{parent}/children") as children:
                found.extend(int(child) for child in children.read().split())
        except OSError:
            continue
    return found[1:]


def start_family(tmp_path: Path, grandchild: str) -> tuple[subprocess.Popen[str], int, list[int]]:
    """A parent, its worker, and below the worker a process that ignores SIGTERM. Returns the worker and its descendants."""
    folder = write_requests(tmp_path, [scoring_row([1], [2])])
    script = tmp_path / "parent.py"
    script.write_text(
        "import sys, time, json\n"
        "from pathlib import Path\n"
        "import engine_kit as kit\n"
        "worker = kit.WorkerProcess(ASSAY_ENGINE='simulated')\n"
        "worker.expect('hello')\n"
        f"fault = {{'at': 'row', 'row': 0, 'do': 'spawn', 'command': json.loads({grandchild!r})}}\n"
        f"worker.send(kit.load_command(Path({str(folder)!r}), engineArgs={{'faults': [fault]}}))\n"
        "worker.send(kit.shard_command(1))\n"
        "worker.expect('shard_done')\n"
        "print(worker.process.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": f"{PACKAGE_ROOT}:{Path(__file__).parent}"}
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    return parent, worker, find_descendants(worker)


@pytest.mark.parametrize("victim", ["parent", "worker"])
@pytest.mark.parametrize("detached", [False, True], ids=["in its group", "in a session of its own"])
def test_a_kill_leaves_no_descendant_even_one_that_ignores_sigterm(tmp_path: Path, victim: str, detached: bool) -> None:
    shell = "trap '' TERM; while :; do sleep 600; done"
    command = (["setsid"] if detached else []) + ["sh", "-c", shell]
    parent, worker, descendants = start_family(tmp_path, json.dumps(command))
    try:
        assert len(descendants) >= 2, "the guardian and the stubborn process"
        os.kill(parent.pid if victim == "parent" else worker, signal.SIGKILL)
        assert wait_until(lambda: not any(is_alive(pid) for pid in [worker, *descendants]))
        assert not [path for path in tmp_path.glob("assay-worker-*") if path.is_dir()], "the temporary folder is gone too"
    finally:
        parent.kill()
        parent.wait()
        if parent.stdout:
            parent.stdout.close()
        for pid in [worker, *descendants]:
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)


def test_interrupts_are_the_parents_business(tmp_path: Path) -> None:
    folder = write_requests(tmp_path, [scoring_row([1], [2])])
    with WorkerProcess(ASSAY_ENGINE="simulated") as worker:
        worker.expect("hello")
        os.killpg(worker.process.pid, signal.SIGINT)
        worker.send(load_command(folder))
        assert worker.expect("loaded", "failed").type == "loaded"
