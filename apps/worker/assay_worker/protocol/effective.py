"""What an engine says of itself after the load. The meaning of each field is stated in effective.ts."""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from .base import Count, Wire

Texts = dict[str, str]
Determinism = Literal["fast", "strict", "isolated"]


class Digests(Wire):
    model_path: str | None = None
    problem: str | None = None
    revision: str | None = None
    weights: Texts | None = None
    config_digest: str | None = None
    generation_config_digest: str | None = None
    tokenizer_files: Texts | None = None


class SimulatedModel(Wire):
    model: str | None
    vocab_size: Count
    digests: Digests


class Model(SimulatedModel):
    architectures: list[str]
    revision: str | None
    tokenizer: str | None
    tokenizer_mode: str
    trust_remote_code: bool
    generation_config: str | None


class SimulatedNumerics(Wire):
    dtype: str
    seed: int | None


class Numerics(SimulatedNumerics):
    quantization: str | None
    kv_cache_dtype: str
    enforce_eager: bool
    compilation_mode: str
    cudagraph_mode: str
    compilation_backend: str | None
    attention_backends: list[str]
    model_runner: str
    logprobs_mode: str
    speculative: bool


class SimulatedBatching(Wire):
    max_model_len: Count
    max_num_seqs: Count
    max_num_batched_tokens: Count


class Batching(SimulatedBatching):
    chunked_prefill: bool
    async_scheduling: bool
    policy: str


class SimulatedCache(Wire):
    prefix_caching: bool


class Cache(SimulatedCache):
    block_size: Count | None
    blocks: Count
    tokens: Count
    memory_bytes: Count | None
    memory_utilization: float | None


class Rank(Wire):
    rank: Count
    pid: Count
    layers: list[Count]
    heads: list[Count]
    kv_heads: list[Count]
    device: str
    device_name: str | None
    device_bytes: Count | None
    runtime: str | None
    attention_backends: list[str]
    model_runner: str
    threads: Count
    affinity: list[Count]


class SimulatedParallel(Wire):
    tensor: Count
    pipeline: Count
    ranks: list[Rank]


class Parallel(SimulatedParallel):
    executor: str
    ranks: Annotated[list[Rank], Field(min_length=1)]


class Processor(Wire):
    model: str
    machine: str
    count: Count | None
    flags: list[str]


class Host(Wire):
    python: str
    platform: str
    libraries: Texts
    processor: Processor
    affinity: list[Count]
    devices: list[Texts]
    environment: Texts


class RunSettings(Wire):
    """What the load was asked for and applied beside the engine."""

    host: Host
    determinism: Determinism
    scoring: Literal["exact"]
    run_seed: int


class VllmEffective(RunSettings):
    engine: Literal["vllm"]
    simulated: Literal[False]
    model: Model
    numerics: Numerics
    batching: Batching
    cache: Cache
    parallel: Parallel
    corrections: list[str]


class SimulatedEffective(RunSettings):
    engine: Literal["simulated"]
    simulated: Literal[True]
    model: SimulatedModel
    numerics: SimulatedNumerics
    batching: SimulatedBatching
    cache: SimulatedCache
    parallel: SimulatedParallel


Effective = Annotated[VllmEffective | SimulatedEffective, Field(discriminator="engine")]

_adapter: TypeAdapter[Any] = TypeAdapter(Effective)


def check_effective(described: dict[str, Any]) -> Effective:
    """Raises ValidationError where an engine leaves out what it must say, or says more."""
    effective: Effective = _adapter.validate_python(described)
    return effective
