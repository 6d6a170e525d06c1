"""vLLM behind the port: one LLMEngine, fed with token ids by our own add-and-step loop.

Importing this module imports vllm and torch; the role does that before `hello`, so that it overlaps with rendering.
"""

import os
import resource
from dataclasses import replace
from typing import Any

import torch
import torch._dynamo
from vllm.engine.arg_utils import EngineArgs
from vllm.exceptions import VLLMClientError
from vllm.outputs import RequestOutput
from vllm.v1.engine.llm_engine import LLMEngine
from vllm.v1.metrics.loggers import StatLoggerBase

from assay_worker.affinity import apply_affinity
from assay_worker.digests import WeightDigests
from assay_worker.engines.base import Answer, EngineLimits, EngineRequest, LoadSpec, RequestRefused, StepReport
from assay_worker.engines.vllm_effective import describe_engine
from assay_worker.engines.vllm_sampling import build_sampling_params, cut_at_stops, score_continuation
from assay_worker.memory import read_peak_bytes, reset_peak

# What must hold for every run: our own statistics, no defaults from the model's generation_config.json, facts of every rank.
FIXED_ARGUMENTS: dict[str, Any] = {"disable_log_stats": False}
DEFAULT_ARGUMENTS: dict[str, Any] = {
    "generation_config": "vllm",
    "worker_extension_cls": "assay_worker.engines.vllm_rank.RankFacts",
}


class VllmEngine:
    limits: EngineLimits

    def __init__(self) -> None:
        self._engine: LLMEngine
        self._requests: dict[str, EngineRequest] = {}
        self._statistics: dict[str, int] = {}
        self._digests: WeightDigests | None = None
        self._corrections: list[str] = []

    def load(self, spec: LoadSpec) -> None:
        arguments = {**DEFAULT_ARGUMENTS, **spec.engine_args, **FIXED_ARGUMENTS}
        ranks = int(arguments.get("tensor_parallel_size", 1)) * int(arguments.get("pipeline_parallel_size", 1))
        # In process, one rank is faster and steps are a function of the requests alone.
        os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0" if ranks == 1 else "1")
        os.environ.update(spec.env)
        if "kv_cache_memory_bytes" in arguments:
            # Whole GiB, and it would win.
            os.environ.pop("VLLM_CPU_KVCACHE_SPACE", None)
        apply_affinity(os.environ)
        if "OMP_NUM_THREADS" in spec.env:
            # The variable itself is read when torch is imported, which was before the plan was known.
            torch.set_num_threads(int(spec.env["OMP_NUM_THREADS"]))
        # So is this one; ranks in processes of their own read the variable.
        torch._dynamo.config.disable = spec.env.get("TORCH_COMPILE_DISABLE") == "1"
        self._digests = WeightDigests.start(str(arguments.get("model", "")), arguments.get("tokenizer"))
        engine_args = EngineArgs(**arguments)
        if spec.address_space_bytes is not None:
            resource.setrlimit(resource.RLIMIT_AS, (spec.address_space_bytes, spec.address_space_bytes))
        self._engine = LLMEngine.from_engine_args(engine_args, stat_loggers=[self._build_step_counter])
        self._corrections = self._engine.collective_rpc("assay_prepare_rank")[0]
        self.limits = self._read_limits()

    def add(self, request: EngineRequest) -> None:
        try:
            parameters = build_sampling_params(request)
            self._engine.add_request(request.id, {"prompt_token_ids": request.tokens}, parameters)
        except (ValueError, TypeError, VLLMClientError) as error:
            raise RequestRefused(str(error)) from error
        self._requests[request.id] = request

    def step(self) -> StepReport:
        outputs = [output for output in self._engine.step() if output.finished and output.request_id in self._requests]
        # The scheduler's count is taken after the step: what the engine core finished is gone from it, what a stop
        # string ended is still in it.
        ended_by_core = sum(1 for output in outputs if not isinstance(output.outputs[0].stop_reason, str))
        return StepReport(
            # Pooling outputs, which the type allows, come only from models that pool.
            answers=[self._read_answer(output) for output in outputs],
            running=self._statistics.get("running", 0) + ended_by_core,
            waiting=self._statistics.get("waiting", 0),
            prompt_tokens=self._statistics.pop("prompt_tokens", 0),
            new_tokens=self._statistics.pop("new_tokens", 0),
        )

    def abort(self, ids: list[str]) -> None:
        self._engine.abort_request(ids)
        for request_id in ids:
            self._requests.pop(request_id, None)

    def reset_prefix_cache(self) -> None:
        if not self._engine.reset_prefix_cache():
            raise RuntimeError("EngineDeadError: the prefix cache could not be reset, requests still hold blocks")

    def describe(self) -> dict[str, Any]:
        digests = self._digests.wait() if self._digests else {}
        return {**describe_engine(self._engine, digests), "corrections": self._corrections}

    def read_peak_bytes(self) -> int:
        device_peaks = [peak for peak in self._engine.collective_rpc("assay_read_peak_bytes") if peak]
        return max(device_peaks) if device_peaks else read_peak_bytes()

    def reset_peak(self) -> None:
        reset_peak()
        self._engine.collective_rpc("assay_reset_peak")

    def _read_limits(self) -> EngineLimits:
        config = self._engine.vllm_config
        return EngineLimits(
            vocab_size=config.model_config.get_vocab_size(),
            max_model_len=config.model_config.max_model_len,
            max_num_seqs=config.scheduler_config.max_num_seqs,
            max_num_batched_tokens=config.scheduler_config.max_num_batched_tokens,
            prefix_caching=bool(config.cache_config.enable_prefix_caching),
        )

    def _read_answer(self, output: RequestOutput) -> Answer:
        request = self._requests.pop(output.request_id)
        completion = output.outputs[0]
        answer = Answer(
            id=request.id,
            prompt_tokens=len(request.tokens),
            cached_tokens=output.num_cached_tokens or 0,
            new_tokens=sum(len(item.token_ids) for item in output.outputs),
        )
        if completion.finish_reason not in ("stop", "length"):
            return replace(answer, error=f"the engine ended it with: {completion.finish_reason}")
        if request.kind == "generate_until":
            text = cut_at_stops(completion.text, request.parameters.get("stop"))
            return replace(answer, text=text, finish=completion.finish_reason)
        logprob, greedy = score_continuation(output.prompt_logprobs, request.tokens, request.context_tokens)
        return replace(answer, logprob=logprob, greedy=greedy)

    def _build_step_counter(self, vllm_config: Any, engine_index: int = 0) -> "StepCounter":
        return StepCounter(self._statistics)


class StepCounter(StatLoggerBase):
    """Keeps the counts of the latest step."""

    def __init__(self, statistics: dict[str, int]) -> None:
        self._statistics = statistics

    def record(self, scheduler_stats: Any, iteration_stats: Any, *_: Any, **__: Any) -> None:
        if scheduler_stats is not None:
            self._statistics["running"] = scheduler_stats.num_running_reqs
            self._statistics["waiting"] = scheduler_stats.num_waiting_reqs
        if iteration_stats is not None:
            self._statistics["prompt_tokens"] = iteration_stats.num_prompt_tokens
            self._statistics["new_tokens"] = iteration_stats.num_generation_tokens

    def log_engine_initialized(self) -> None:
        """Nothing to say: `loaded` tells it."""
