"""What engines print and raise, as quoted in their sources and issues, and what we call it."""

from pathlib import Path

import pytest

from assay_worker.failures import RULES, classify_exception, classify_text, find_memory_term
from assay_worker.protocol import FAILURE_CLASSES

SAID = [
    ("oom", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.05 GiB. GPU 0 has a total capacity of 79.10 GiB"),
    ("oom", "RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests."),
    ("oom", "RuntimeError: [enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: you tried to allocate 805306368 bytes"),
    ("oom", "terminate called after throwing an instance of 'std::bad_alloc'"),
    ("oom", "OSError: [Errno 12] Cannot allocate memory"),
    ("startup_mem", "ValueError: Free memory on device cuda:0 (3.1/79.1 GiB) on startup is less than desired GPU memory utilization (0.92, 72 GiB)."),
    ("startup_mem", "AssertionError: Error in memory profiling. Initial free memory 70.1 GiB, current free memory 71.0 GiB."),
    ("startup_mem", "ValueError: Available memory on node 0 (11.76/12.96 GiB) on kv cache allocation is less than requested memory for kv (60.0 GiB)"),
    ("kv_zero", "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`"),
    ("kv_small", "ValueError: To serve at least one request with the model's max seq len (131072), 16.00 GiB KV cache is needed"),
    ("arch", "ValueError: Model architectures ['FooForCausalLM'] are not supported for now."),
    ("arch", "ValueError: The checkpoint you are trying to load has model type `foo` but Transformers does not recognize this architecture."),
    ("quant", "ValueError: Unknown quantization method: q9. Must be one of ['awq']"),
    ("quant", "ValueError: The quantization method fp8 is not supported for the current GPU. Minimum capability: 89. Current capability: 75."),
    ("dtype", "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0."),
    ("tokenizer", "RuntimeError: Failed to load the tokenizer. If the tokenizer is a custom tokenizer not yet available"),
    ("tokenizer", "ChatTemplateResolutionError: As of transformers v4.44, default chat template is no longer allowed"),
    ("heads", "Value error, Total number of attention heads (9) must be divisible by tensor parallel size (2)."),
    ("request", "VLLMValidationError: The decoder prompt (length 9000) is longer than the maximum model length of 4096."),
    ("engine", "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause."),
    ("hang", "TimeoutError: RPC call to execute_model timed out."),
    ("device", "RuntimeError: CUDA error: an illegal memory access was encountered"),
    ("device", "RuntimeError: NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details)"),
    ("driver", "RuntimeError: Cannot re-initialize CUDA in forked subprocess."),
    ("port", "torch.distributed.DistNetworkError: The server socket has failed to listen. code: -98, name: EADDRINUSE, message: address already in use"),
    ("port", "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:94, unhandled system error\nsocketStartConnect: bind failed: Address already in use"),
    ("port", "OSError: [Errno 98] Address already in use"),
    ("port", "zmq.error.ZMQError: Address already in use (addr='tcp://127.0.0.1:5570')"),
    ("port", "RuntimeError: Could not find open port after 1000 attempts starting from port 20000"),
    ("usage", "TypeError: EngineArgs.__init__() got an unexpected keyword argument 'max_modle_len'"),
    ("usage", "ValueError: User-specified max_model_len (99999) is greater than the derived max_model_len (8192)"),
    ("oom", "RuntimeError: [enforce fail at alloc_cpu.cpp:83] DefaultCPUAllocator: not enough memory: you tried to allocate 4831838208 bytes"),
    ("oom", "MemoryError: Unable to allocate 2.00 GiB"),
    ("oom", "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 63.98 GiB"),
    ("dtype", "RuntimeError: torch.float16 on this CPU is not supported, use bfloat16 or float32"),
    ("heads", "ValueError: The input size is not aligned with the quantized weight shape. This can be caused by too large tensor parallel size."),
    ("heads", "AssertionError: 49152 is not divisible by 5"),
    ("quant", "AttributeError: '_OpNamespace' '_C' object has no attribute 'cpu_gemm_wna16'"),
    ("quant", "ValueError: Weight input_size_per_partition = 5504 is not divisible by weight quantization block_k = 128."),
    ("tokenizer", "OSError: Can't load tokenizer for './model'. Make sure the folder holds all relevant files"),
    ("tokenizer", "ValueError: Couldn't instantiate the backend tokenizer from one of: (1) a `tokenizers` library serialization file"),
    ("driver", "RuntimeError: The NVIDIA driver on your system is too old (found version 11040)."),
    ("driver", "RuntimeError: CUDA driver version is insufficient for CUDA runtime version"),
    ("driver", "torch.AcceleratorError: CUDA error: no kernel image is available for execution on the device"),
    ("request", "ValueError: Token id 60000 is out of vocabulary"),
    ("usage", "OSError: Invalid repository ID or local directory specified: './modle'."),
    ("usage", "ValidationError: 1 validation error for CacheConfig"),
    ("usage", "OSError: ./modle is not a local folder and is not a valid model identifier listed on the hub"),
    ("usage", "FileNotFoundError: [Errno 2] No such file or directory: 'template.jinja'"),
    ("unknown", "ZeroDivisionError: division by zero"),
]  # fmt: skip

# What whole processes left on stderr, by class; the first line of each names its source.
RECORDED = sorted((Path(__file__).parent / "fixtures/stderr").glob("*.log"))
# Classes that another plan may help; where none does, no rung is tried.
HELPFUL_RUNGS = {"oom": "term", "startup_mem": "start_share", "kv_zero": "cache_room", "kv_small": "cache_room"}


def read_recorded(log: Path) -> tuple[str, str]:
    """The class and what was printed, without the line that names the source."""
    source, printed = log.read_text("utf-8").split("\n", 1)
    assert source.startswith("# Source: ")
    return log.stem.split("-")[0], printed


def read_class_table() -> dict[str, list[str]]:
    """rung, restart, retry and remedy of every class, from docs/protocol.md, which a test holds against the TypeScript table."""
    lines = [line for line in Path("docs/protocol.md").read_text("utf-8").split("\n") if line.startswith("| `")]
    rows = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in rows if row[0] in FAILURE_CLASSES and len(row) == 5}


@pytest.mark.parametrize(("failure_class", "text"), SAID)
def test_classifies(failure_class: str, text: str) -> None:
    assert classify_text([text, ""], "summary").class_ == failure_class


@pytest.mark.parametrize("log", RECORDED, ids=lambda log: log.stem)
def test_classifies_what_a_process_printed_with_its_remedy_and_whether_a_rung_helps(log: Path) -> None:
    failure_class, printed = read_recorded(log)
    assert classify_text([printed, ""], "summary").class_ == failure_class
    # In multi-process mode the exception says only that the engine core died; what it printed is the tail.
    died = RuntimeError("Engine core initialization failed. See root cause above. Failed core proc(s): {}")
    assert classify_exception(died, printed).class_ == failure_class
    rung, _, _, remedy = read_class_table()[failure_class]
    assert rung == HELPFUL_RUNGS.get(failure_class, "no")
    assert len(remedy.split()) > 2


def test_every_pattern_is_found_in_something_said() -> None:
    said = [text for _, text in SAID] + [read_recorded(log)[1] for log in RECORDED]
    assert [rule.pattern.pattern for rule in RULES if not any(rule.pattern.search(text) for text in said)] == []


def test_only_names_classes_of_the_closed_list() -> None:
    assert {rule.failure_class for rule in RULES} <= set(FAILURE_CLASSES)


def test_looks_for_the_root_cause_in_the_log_where_only_the_engine_core_is_named() -> None:
    error = RuntimeError("Engine core initialization failed. See root cause above. Failed core proc(s): {}")
    log = "(EngineCore pid=7) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB.\n"
    failure = classify_exception(error, log)
    assert (failure.class_, failure.allocation_bytes) == ("oom", 512 * 2**20)
    assert classify_exception(error).class_ == "engine"
    assert classify_exception(error, "nothing of interest").class_ == "engine"


def test_a_taken_port_is_the_cause_where_the_log_of_the_engine_core_names_it() -> None:
    """What eight engines started at once print when two of them drew the same rendezvous port."""
    error = RuntimeError("Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore': 1}")
    log = (
        "(Worker_TP1 pid=812) INFO [network_utils.py:248] Port 20480 is already in use, trying port 20481\n"
        "(Worker_TP0 pid=811) ERROR [multiproc_executor.py:772] WorkerProc failed to start.\n"
        "(Worker_TP0 pid=811) torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. "
        "port: 48613, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use\n"
        "(EngineCore pid=770) Exception: WorkerProc initialization failed due to an exception in a background process.\n"
    )
    assert classify_exception(error, log).class_ == "port"
    assert classify_exception(error, log.splitlines()[0]).class_ == "engine"


def test_finds_the_cause_behind_an_exception() -> None:
    try:
        try:
            raise MemoryError("no room")
        except MemoryError as cause:
            raise RuntimeError("step failed") from cause
    except RuntimeError as error:
        failure = classify_exception(error)
    assert failure.class_ == "oom" and failure.message == "RuntimeError: step failed"


@pytest.mark.parametrize(
    ("term", "trace"),
    [
        ("logits", '  File "runner.py", in execute_model\n  File "sampler.py", in compute_logprobs\n    logits.log_softmax(dim=-1)'),
        ("kv", '  File "runner.py", in initialize_kv_cache\n    torch.zeros(size)'),
        ("weights", '  File "loader.py", in load_weights\n    torch.empty(size)'),
        ("graph", '  File "runner.py", in capture_model\n    graph.capture()'),
        ("activation", '  File "llama.py", in forward\n    self.mlp(hidden)'),
    ],
)
def test_tells_which_memory_term_failed(term: str, trace: str) -> None:
    assert find_memory_term(trace + "\nRuntimeError: DefaultCPUAllocator: can't allocate memory") == term
