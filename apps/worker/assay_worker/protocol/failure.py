"""How a worker says that something went wrong: a class from one closed list, and the evidence."""

from typing import Literal, get_args

from pydantic import Field

from .base import Count, Wire

FailureClass = Literal[
    "oom", "startup_mem", "kv_zero", "kv_small", "arch", "quant", "dtype", "tokenizer", "heads", "request", "engine",
    "hang", "device", "driver", "port", "task", "usage", "unknown",
]  # fmt: skip
FAILURE_CLASSES: tuple[str, ...] = get_args(FailureClass)

MemoryTerm = Literal["weights", "kv", "activation", "logits", "graph"]


class Failure(Wire):
    """`code` and `details` are set where the failure is one of the error table's; `where` names the memory term of an oom."""

    class_: FailureClass = Field(alias="class")
    message: str
    where: MemoryTerm | None = None
    allocation_bytes: Count | None = None
    code: str | None = None
    details: dict[str, str | int | float] | None = None
