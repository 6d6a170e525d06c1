"""What vLLM made of its arguments, read back from its configuration objects and from every rank after the load.

Fields are named once here; docs/run-directory.md lists them and the manifest carries them.
"""

from typing import Any

from vllm.v1.engine.llm_engine import LLMEngine

from assay_worker.numeric_environment import describe_environment


def describe_engine(engine: LLMEngine, digests: dict[str, Any]) -> dict[str, Any]:
    config = engine.vllm_config
    ranks = engine.collective_rpc("assay_describe_rank")
    return {
        "engine": "vllm",
        "simulated": False,
        "model": describe_model(config, digests),
        "numerics": describe_numerics(config, ranks),
        "batching": describe_batching(config),
        "cache": describe_cache(config),
        "parallel": describe_parallel(config, ranks),
        "host": describe_environment(),
    }


def describe_model(config: Any, digests: dict[str, Any]) -> dict[str, Any]:
    model = config.model_config
    return {
        "model": model.model,
        "architectures": list(getattr(model.hf_config, "architectures", None) or []),
        "revision": model.revision,
        "tokenizer": model.tokenizer,
        "tokenizerMode": str(model.tokenizer_mode),
        "trustRemoteCode": bool(model.trust_remote_code),
        "generationConfig": model.generation_config,
        "vocabSize": model.get_vocab_size(),
        "digests": digests,
    }


def describe_numerics(config: Any, ranks: list[dict[str, Any]]) -> dict[str, Any]:
    model, compilation = config.model_config, config.compilation_config
    return {
        "dtype": str(model.dtype).removeprefix("torch."),
        "quantization": model.quantization,
        "kvCacheDtype": str(config.cache_config.cache_dtype),
        "seed": model.seed,
        "enforceEager": bool(model.enforce_eager),
        "compilationMode": name_of(compilation.mode),
        "cudagraphMode": name_of(compilation.cudagraph_mode),
        "compilationBackend": compilation.backend,
        "attentionBackends": sorted({name for rank in ranks for name in rank["attentionBackends"]}),
        "modelRunner": ranks[0]["modelRunner"],
        "logprobsMode": str(model.logprobs_mode),
        "speculative": config.speculative_config is not None,
    }


def describe_batching(config: Any) -> dict[str, Any]:
    scheduler = config.scheduler_config
    return {
        "maxModelLen": config.model_config.max_model_len,
        "maxNumSeqs": scheduler.max_num_seqs,
        "maxNumBatchedTokens": scheduler.max_num_batched_tokens,
        "chunkedPrefill": bool(scheduler.enable_chunked_prefill),
        "asyncScheduling": bool(scheduler.async_scheduling),
        "policy": str(scheduler.policy),
    }


def describe_cache(config: Any) -> dict[str, Any]:
    cache = config.cache_config
    blocks = cache.num_gpu_blocks or 0
    return {
        "prefixCaching": bool(cache.enable_prefix_caching),
        "blockSize": cache.block_size,
        "blocks": blocks,
        "tokens": blocks * (cache.block_size or 0),
        "memoryBytes": cache.kv_cache_memory_bytes,
        "memoryUtilization": cache.gpu_memory_utilization,
    }


def describe_parallel(config: Any, ranks: list[dict[str, Any]]) -> dict[str, Any]:
    parallel = config.parallel_config
    return {
        "tensor": parallel.tensor_parallel_size,
        "pipeline": parallel.pipeline_parallel_size,
        "executor": str(parallel.distributed_executor_backend),
        "ranks": ranks,
    }


def name_of(value: Any) -> str:
    """Enumerations by name: their numbers move between versions."""
    return str(getattr(value, "name", value))
