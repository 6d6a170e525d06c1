"""Methods that vLLM adds to the worker of every rank (`worker_extension_cls`), so that facts come from where they hold."""

import os
from typing import Any

import torch

from assay_worker.engines.vllm_corrections import correct_cpu_rank


class RankFacts:
    # Of the worker that vLLM mixes this class into; declared, never set here.
    model_runner: Any
    vllm_config: Any
    rank: int
    device: Any

    def assay_prepare_rank(self) -> list[str]:
        """Applies what this version needs. Returns the names, which stand in `effective`."""
        return [] if _has_cuda(self) else correct_cpu_rank(self.model_runner)

    def assay_describe_rank(self) -> dict[str, Any]:
        runner = self.model_runner
        return {
            "rank": self.rank,
            "pid": os.getpid(),
            **_describe_share(self.vllm_config),
            "device": str(self.device),
            "deviceName": torch.cuda.get_device_name(self.device) if _has_cuda(self) else None,
            # What this process may see of it: of a slice, the slice's.
            "deviceBytes": torch.cuda.get_device_properties(self.device).total_memory if _has_cuda(self) else None,
            "runtime": (torch.version.cuda or torch.version.hip) if _has_cuda(self) else None,
            "attentionBackends": _read_attention_backends(runner),
            "modelRunner": f"{type(runner).__module__}.{type(runner).__name__}",
            "threads": torch.get_num_threads(),
            "affinity": sorted(os.sched_getaffinity(0)),
        }

    def assay_read_peak_bytes(self) -> int:
        return int(torch.cuda.max_memory_allocated(self.device)) if _has_cuda(self) else 0

    def assay_reset_peak(self) -> None:
        if _has_cuda(self):
            torch.cuda.reset_peak_memory_stats(self.device)


def _has_cuda(worker: Any) -> bool:
    return getattr(worker.device, "type", "") == "cuda"


def _describe_share(vllm_config: Any) -> dict[str, Any]:
    """What of the model lies on this rank: numbers of its attention layers, and the heads of each."""
    context = vllm_config.compilation_config.static_forward_context
    attention = {name: layer for name, layer in context.items() if hasattr(layer, "num_heads")}
    return {
        "layers": sorted(number for name in attention if (number := _read_layer_number(name)) is not None),
        "heads": sorted({layer.num_heads for layer in attention.values()}),
        "kvHeads": sorted({layer.num_kv_heads for layer in attention.values() if hasattr(layer, "num_kv_heads")}),
    }


def _read_layer_number(name: str) -> int | None:
    """17 of "model.layers.17.self_attn.attn"."""
    return next((int(part) for part in name.split(".") if part.isdigit()), None)


def _read_attention_backends(runner: Any) -> list[str]:
    groups = [group for per_cache in getattr(runner, "attn_groups", []) for group in per_cache]
    return sorted({group.backend.get_name() for group in groups})
