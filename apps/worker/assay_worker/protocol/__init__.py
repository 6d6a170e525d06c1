"""Everything that crosses the process boundary, and how it is read and written."""

import json
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from .base import FROM_WIRE, PROTOCOL_VERSION, Wire, encode_float
from .effective import Determinism, Effective, check_effective
from .engine_messages import (
    Batch,
    Cancel,
    EngineCommand,
    Exit,
    Failed,
    Heartbeat,
    Hello,
    Load,
    Loaded,
    Probe,
    Probed,
    ProbedStep,
    ProbeStep,
    Results,
    Shard,
    ShardDone,
    WorkerState,
)
from .failure import FAILURE_CLASSES, Failure, FailureClass, MemoryTerm
from .harness_messages import (
    Aggregate,
    Aggregated,
    AnswerTally,
    HarnessCommand,
    MetricRow,
    Partial,
    Render,
    Rendered,
    RenderedTask,
    Score,
    Scored,
    Seeds,
)
from .result import ANSWERED_OUTCOMES, FINAL_OUTCOMES, REQUEST_KINDS, Outcome, RequestKind, Result

WorkerEvent = Annotated[
    Hello | Heartbeat | Loaded | Probed | Results | ShardDone | Failed | Rendered | Scored | Aggregated,
    Field(discriminator="type"),
]

engine_commands: TypeAdapter[Any] = TypeAdapter(EngineCommand)
harness_commands: TypeAdapter[Any] = TypeAdapter(HarnessCommand)
worker_events: TypeAdapter[Any] = TypeAdapter(WorkerEvent)


def read_message(adapter: TypeAdapter[Any], line: str | bytes) -> Any:
    """Parses one line. Only the wire's names count, so that what one language refuses the other refuses too."""
    return adapter.validate_json(line, by_alias=True, by_name=False, context=FROM_WIRE)


def write_message(message: Wire) -> bytes:
    """One line. ASCII only, so that no character inside a string can be taken for the end of a line."""
    return json.dumps(to_wire(message.model_dump(by_alias=True)), allow_nan=False).encode("ascii") + b"\n"


def to_wire(value: Any) -> Any:
    """Encodes non-finite floats wherever they stand, since free mappings (`groups`, `extra`) hold them too."""
    if isinstance(value, float):
        return encode_float(value)
    if isinstance(value, dict):
        return {str(key): to_wire(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_wire(item) for item in value]
    return value


__all__ = [
    "ANSWERED_OUTCOMES", "FAILURE_CLASSES", "FINAL_OUTCOMES", "PROTOCOL_VERSION", "REQUEST_KINDS", "Aggregate", "Aggregated", "AnswerTally", "Batch", "Cancel",
    "Determinism", "Effective", "EngineCommand", "Exit", "Failed", "Failure", "FailureClass", "HarnessCommand", "Heartbeat", "Hello",
    "Load", "Loaded", "MemoryTerm", "MetricRow", "Outcome", "Partial", "Probe", "ProbeStep", "Probed", "ProbedStep", "Render",
    "Rendered", "RenderedTask", "RequestKind", "Result", "Results", "Score", "Scored", "Seeds", "Shard", "ShardDone",
    "Wire", "WorkerEvent", "WorkerState", "check_effective", "encode_float", "engine_commands", "harness_commands",
    "read_message", "worker_events", "write_message",
]  # fmt: skip
