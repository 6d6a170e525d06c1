"""What the agent says to an engine worker, and what it hears. The meaning of each is stated in engine-messages.ts."""

from typing import Annotated, Literal

from pydantic import Field

from .base import Count, Mapping, Positive, Seconds, Wire
from .effective import Determinism, Effective
from .failure import Failure
from .result import RequestKind, Result

WorkerState = Literal["waiting", "loading", "ready", "busy", "draining"]


class Load(Wire):
    type: Literal["load"]
    id: Count
    engine: Literal["vllm", "simulated"]
    requests_dir: str
    engine_args: Mapping
    env: dict[str, str]
    address_space_bytes: Count | None = None
    scoring: Literal["exact"]
    determinism: Determinism
    request_timeout_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    seed: int


class ProbeStep(Wire):
    kind: RequestKind
    context_tokens: Count
    continuation_tokens: Count
    new_tokens: Count
    sequences: Positive


class Probe(Wire):
    type: Literal["probe"]
    id: Count
    steps: list[ProbeStep]


class Shard(Wire):
    type: Literal["shard"]
    id: Count
    shard: str
    epoch: Positive
    attempt: Positive
    order_file: str
    begin: Count
    end: Count
    skip: list[Count]


class Cancel(Wire):
    type: Literal["cancel"]
    shard: str
    attempt: Positive


class Exit(Wire):
    type: Literal["exit"]


EngineCommand = Annotated[Load | Probe | Shard | Cancel | Exit, Field(discriminator="type")]


class Hello(Wire):
    type: Literal["hello"]
    protocol: int
    role: Literal["engine", "harness"]
    pid: int
    python: str
    packages: dict[str, str]


class Heartbeat(Wire):
    type: Literal["heartbeat"]
    state: WorkerState
    progress: Count
    rss_bytes: Count
    peak_bytes: Count
    steps: Count
    busy_seconds: Seconds
    prompt_tokens: Count
    new_tokens: Count
    running_requests: Count
    waiting_requests: Count


class Loaded(Wire):
    type: Literal["loaded"]
    id: Count
    seconds: Seconds
    peak_bytes: Count
    effective: Effective


class ProbedStep(Wire):
    kind: RequestKind
    seconds: Seconds
    peak_bytes: Count


class Probed(Wire):
    type: Literal["probed"]
    id: Count
    verdict: Literal["fits", "oom", "failed"]
    seconds: Seconds
    peak_bytes: Count
    address_space_bytes: Count | None = None
    steps: list[ProbedStep]
    failure: Failure | None = None


class Results(Wire):
    type: Literal["results"]
    shard: str
    epoch: Positive
    attempt: Positive
    results: list[Result]


class Batch(Wire):
    median: Seconds
    max: Count


class ShardDone(Wire):
    type: Literal["shard_done"]
    id: Count
    shard: str
    epoch: Positive
    attempt: Positive
    requests: Count
    seconds: Seconds
    first_step_at: Seconds
    prompt_tokens: Count
    cached_tokens: Count
    new_tokens: Count
    steps: Count
    batch: Batch
    peak_bytes: Count


class Failed(Wire):
    type: Literal["failed"]
    id: Count
    failure: Failure
