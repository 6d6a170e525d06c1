"""One table from what engines print and raise to the closed list of failure classes. The first matching row wins.

In multi-process mode the parent sees only "engine core failed", so the tail of stderr is classified along with the exception.
"""

import re
import sys
import traceback
from dataclasses import dataclass

from assay_worker.protocol import Failure, FailureClass, MemoryTerm
from assay_worker.secrets import redact_text


@dataclass(frozen=True)
class Rule:
    failure_class: FailureClass
    pattern: re.Pattern[str]


def _rules(table: list[tuple[FailureClass, list[str]]]) -> list[Rule]:
    return [Rule(name, re.compile(pattern)) for name, patterns in table for pattern in patterns]


# Specific causes first: a dead engine core is reported with the cause above it.
RULES = _rules([
    ("oom", [
        r"OutOfMemoryError", r"CUDA out of memory", r"DefaultCPUAllocator: can't allocate memory",
        r"DefaultCPUAllocator: not enough memory", r"std::bad_alloc", r"\bMemoryError\b", r"Cannot allocate memory",
        r"HIP out of memory", r"can't allocate memory",
    ]),
    ("startup_mem", [
        r"Free memory on device .* is less than desired GPU memory utilization", r"Error in memory profiling\. Initial free memory",
        r"is less than (desired CPU memory utilization|requested memory for kv)",
    ]),
    ("kv_zero", [r"No available memory for the cache blocks"]),
    ("kv_small", [
        r"To serve at least one request with the model's max seq len", r"is larger than the maximum number of tokens that can be stored in KV cache",
        r"Cannot auto-fit max_model_len",
    ]),
    ("heads", [
        r"Total number of attention heads \(\d+\) must be divisible by tensor parallel size",
        r"input size is not aligned with the quantized weight shape", r"AssertionError: \d+ is not divisible by \d+",
        r"Consider reducing `?tensor_parallel_size",
    ]),
    ("quant", [
        r"(Unknown|Invalid) quantization method", r"Quantization method specified in the model config",
        r"is not supported for the current GPU\. Minimum capability", r"quantization is currently not supported in",
        r"is not supported for quantization method", r"has no attribute 'cpu_gemm_wna16'", r"weight quantization block_[nk]",
    ]),
    # After quant: "bfloat16 is not supported for quantization method".
    ("dtype", [r"Bfloat16 is only supported on GPUs with compute capability", r"float16 .*is not supported"]),
    ("arch", [
        r"Model architectures .* (are not supported|failed to be inspected)", r"failed to be inspected", r"was supported in vLLM until v",
        r"is not supported in-tree anymore", r"is not compatible with vLLM", r"does not recognize this architecture",
    ]),
    ("tokenizer", [
        r"Failed to load the tokenizer", r"ChatTemplateResolutionError", r"default chat template is no longer allowed",
        r"Can't load tokenizer", r"Couldn't instantiate the backend tokenizer",
    ]),
    ("driver", [
        r"PTX was compiled with an unsupported toolchain", r"Failed to infer device type",
        r"Cannot re-initialize CUDA in forked subprocess",
        r"NVIDIA driver on your system is too old", r"CUDA driver version is insufficient", r"no kernel image is available",
    ]),
    ("port", [r"(?i:address already in use)", r"EADDRINUSE", r"Could not find open port after"]),
    ("device", [
        r"Watchdog caught collective operation timeout", r"NCCL error", r"an illegal memory access was encountered", r"device-side assert",
        r"unspecified launch failure", r"GPU is lost", r"fallen off the bus", r"uncorrectable ECC", r"CUDA error",
    ]),
    ("hang", [
        r"RPC call to \w+ timed out", r"Timed out waiting for engine core processes", r"No available shared memory broadcast block found",
    ]),
    ("request", [
        r"longer than the maximum model length", r"is longer than the maximum model length of", r"This model's maximum context length is",
        r"Requested prompt logprobs of", r"VLLMValidationError", r"is out of vocabulary",
    ]),
    ("usage", [
        r"User-specified max_model_len", r"EngineArgs.* got an unexpected keyword argument", r"Invalid repository ID or local directory",
        r"ValidationError: .* for \w*Config", r"is not a local folder and is not a valid model identifier", r"No such file or directory",
        r"World size \(\d+\) is larger than the number of available GPUs", r"Pipeline parallelism is not supported for this model",
        r"(partitions|VLLM_PP_LAYER_PARTITION).* does not match (pp_size|num_hidden_layers)", r"Offline data parallel mode is not supported",
    ]),
    ("engine", [
        r"EngineDeadError", r"EngineGenerateError", r"Worker proc .* died unexpectedly", r"WorkerProc initialization failed",
        r"Engine core initialization failed", r"EngineCore encountered an issue",
    ]),
])  # fmt: skip

# Where an allocation failed, told from the innermost frames or words that name it. First match wins.
MEMORY_TERMS: list[tuple[MemoryTerm, re.Pattern[str]]] = [
    ("logits", re.compile(r"log_softmax|compute_logits|compute_logprobs|gather_logprobs|prompt_logprobs|logits_processor|sampler")),
    ("kv", re.compile(r"kv_cache|initialize_kv|cache blocks")),
    ("graph", re.compile(r"capture_model|cuda_?graph|torch/_inductor")),
    ("weights", re.compile(r"load_weights|load_model|weight_loader|weight_utils|model_loader|create_weights|safetensors")),
]

_ALLOCATION = re.compile(r"[Tt]ried to allocate ([\d.]+) ?(bytes|B|[KMGT]iB)")
_UNITS = {"bytes": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
MESSAGE_CHARACTERS = 2000


def classify_exception(error: BaseException, stderr_tail: str = "") -> Failure:
    """The exception, its causes and their stack traces first, then what the process printed."""
    text = "".join(traceback.format_exception(error))
    summary = f"{type(error).__name__}: {error}"[:MESSAGE_CHARACTERS]
    return classify_text([text, stderr_tail], summary)


def print_trace(error: BaseException) -> None:
    """To the log, without secrets: a message may quote an argument."""
    print(redact_text("".join(traceback.format_exception(error))), end="", file=sys.stderr, flush=True)


def classify_text(texts: list[str], summary: str) -> Failure:
    for text in texts:
        rule = next((rule for rule in RULES if rule.pattern.search(text)), None)
        # "the engine core died" is what remains to say when nothing more precise was printed.
        if rule and (rule.failure_class != "engine" or text is texts[-1] or not texts[-1]):
            return _build_failure(rule.failure_class, text, summary)
    if any(rule.failure_class == "engine" and rule.pattern.search(texts[0]) for rule in RULES):
        return _build_failure("engine", texts[0], summary)
    return Failure(class_="unknown", message=summary)


def _build_failure(failure_class: FailureClass, text: str, summary: str) -> Failure:
    if failure_class != "oom":
        return Failure(class_=failure_class, message=summary)
    return Failure(class_="oom", message=summary, where=find_memory_term(text), allocation_bytes=find_allocation_bytes(text))


def find_memory_term(trace: str) -> MemoryTerm:
    """The innermost frame that names a term decides; a trace that names none failed in the layers."""
    for line in reversed(trace.splitlines()):
        for term, pattern in MEMORY_TERMS:
            if pattern.search(line):
                return term
    return "activation"


def find_allocation_bytes(text: str) -> int | None:
    match = _ALLOCATION.search(text)
    return int(float(match[1]) * _UNITS[match[2]]) if match else None
