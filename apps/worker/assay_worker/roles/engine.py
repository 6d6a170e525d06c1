"""The engine worker: loads one model under one plan, proves that it fits, then serves shards until it is told to end.

Commands are looked at between engine steps; replies are in the order of the work, not of the commands.
"""

import os
import sys
import time
from typing import Any

from assay_worker.engines.registry import import_engine
from assay_worker.failures import classify_exception, print_trace
from assay_worker.heartbeat import Activity, start_heartbeat
from assay_worker.hello import build_hello
from assay_worker.loading import LoadedModel, load_model
from assay_worker.log_tail import log_size, read_log_tail
from assay_worker.memory import read_address_space_peak_bytes
from assay_worker.probe import ProbeParts, run_probe
from assay_worker.protocol import Cancel, Exit, Failed, Failure, Load, Probe, Probed, Shard, engine_commands
from assay_worker.requests import RequestFiles
from assay_worker.serving import Serving, ServingParts
from assay_worker.transport import Channel

# Which engine to import before `hello`. Another one can still be loaded; its import is then part of the load.
EXPECTED_ENGINE_VARIABLE = "ASSAY_ENGINE"


def run(channel: Channel) -> int:
    silence_telemetry()
    import_error = import_engine(os.environ.get(EXPECTED_ENGINE_VARIABLE, "vllm"))
    if import_error:
        print(import_error, file=sys.stderr)
    channel.send(build_hello("engine"))
    worker = EngineWorker(channel, Activity())
    start_heartbeat(channel, worker.activity)
    return worker.serve()


def silence_telemetry() -> None:
    """No library reports home. Set before the first import of any of them."""
    for name in ("VLLM_NO_USAGE_STATS", "VLLM_DO_NOT_TRACK", "DO_NOT_TRACK", "HF_HUB_DISABLE_TELEMETRY"):
        os.environ.setdefault(name, "1")


class EngineWorker:
    def __init__(self, channel: Channel, activity: Activity) -> None:
        self.activity = activity
        self._channel = channel
        self._model: LoadedModel | None = None
        self._serving: Serving | None = None
        self._exiting = False
        self._log_mark = 0

    def serve(self) -> int:
        """Returns the exit code: 0 after `exit`, 1 when the engine failed under open shards."""
        while True:
            if self._exiting and not self._has_work():
                if self._serving:
                    self._serving.flush()
                return 0
            command = self._channel.receive(engine_commands, 0.0 if self._has_work() else None)
            if command is not None:
                self._obey(command)
            elif self._serving is not None and not self._take_turn(self._serving):
                return 1
            self._update_state()

    def _has_work(self) -> bool:
        return self._serving is not None and self._serving.has_work()

    def _obey(self, command: Load | Probe | Shard | Cancel | Exit) -> None:
        if isinstance(command, Exit):
            self._exiting = True
            if self._serving:
                self._serving.stop_admitting()
        elif isinstance(command, Cancel):
            if self._serving:
                self._serving.cancel(command.shard, command.attempt)
        else:
            self._reply(command)

    def _reply(self, command: Load | Probe | Shard) -> None:
        self._log_mark = log_size()
        try:
            if isinstance(command, Load):
                self._load(command)
            elif isinstance(command, Probe):
                self._probe(command)
            else:
                self._require_serving().submit(command)
        except Exception as error:
            self._channel.send(Failed(type="failed", id=command.id, failure=self._explain(error)))

    def _load(self, command: Load) -> None:
        if self._model is not None:
            raise RuntimeError("a model is loaded already; one process serves one model")
        self.activity.state = "loading"
        self._model = load_model(command)
        self.activity.advance()
        self._channel.send(self._model.reply)

    def _probe(self, command: Probe) -> None:
        if self._model is None:
            raise RuntimeError("nothing is loaded, so there is nothing to probe")
        self.activity.state = "busy"
        started_at = time.monotonic()
        parts = ProbeParts(self._model.engine, read_parameter_sets(self._model), self.activity, self._explain)
        report = run_probe(parts, command.steps)
        self._channel.send(
            Probed(
                type="probed",
                id=command.id,
                verdict=report.verdict,
                seconds=time.monotonic() - started_at,
                peak_bytes=max((step.peak_bytes for step in report.steps), default=0),
                address_space_bytes=read_address_space_peak_bytes(),
                steps=report.steps,
                failure=report.failure,
            )
        )
        if report.failure is not None:
            self._model = None

    def _require_serving(self) -> Serving:
        if self._model is None:
            raise RuntimeError("no engine is ready: load a model first, and after a failed probe start another process")
        if self._serving is None:
            files = RequestFiles(self._model.requests_folder)
            parts = ServingParts(self._model.engine, files, self._channel, self.activity, self._model.settings)
            self._serving = Serving(parts)
        return self._serving

    def _take_turn(self, serving: Serving) -> bool:
        """False after an engine failure: its state is unknown, so the process ends; results so far are sent first."""
        try:
            serving.turn()
        except Exception as error:
            failure = self._explain(error)
            serving.flush()
            self._fail_open_shards(serving, failure)
            return False
        return True

    def _explain(self, error: Exception) -> Failure:
        """Reads the log before adding the trace to it, so that only what others printed is taken as further evidence."""
        failure = classify_exception(error, read_log_tail(self._log_mark))
        print_trace(error)
        return failure

    def _fail_open_shards(self, serving: Serving, failure: Failure) -> None:
        for run in serving.open_shards:
            self._channel.send(Failed(type="failed", id=run.command.id, failure=failure))

    def _update_state(self) -> None:
        if self._exiting:
            self.activity.state = "draining"
        elif self._model is None:
            self.activity.state = "waiting"
        else:
            self.activity.state = "busy" if self._has_work() else "ready"
        if not self._has_work():
            self.activity.running_requests = self.activity.waiting_requests = 0


def read_parameter_sets(model: LoadedModel) -> list[dict[str, Any]]:
    """None are needed where a probe runs before anything was rendered."""
    try:
        return RequestFiles(model.requests_folder).parameter_sets
    except FileNotFoundError:
        return []
