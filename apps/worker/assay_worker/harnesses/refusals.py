"""What a user can cause, as one exception with a code of the error table (packages/domain/src/errors.ts) and its details."""

import errno
from typing import Any

from assay_worker.protocol import Failure, FailureClass

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_NOT_WRITABLE = (errno.EACCES, errno.EROFS, errno.EPERM)


class Refusal(Exception):
    """Becomes a `failed` message. `details` fill the table's template for `code`."""

    def __init__(self, code: str, details: dict[str, str | int | float], failure_class: FailureClass = "usage") -> None:
        super().__init__(", ".join(f"{name}: {value}" for name, value in details.items()))
        self.code = code
        self.details = details
        self.failure_class: FailureClass = failure_class


def refuse_task(task: str, problem: str) -> Refusal:
    return Refusal("TASK_INVALID", {"task": task, "problem": problem}, "task")


def refuse_field(task: str, document: int, problem: str) -> Refusal:
    return Refusal("DATASET_FIELD_MISSING", {"task": task, "doc": document, "problem": problem}, "task")


def refuse_value(place: str, key: str, problem: str) -> Refusal:
    return Refusal("CONFIG_VALUE", {"place": place, "key": key, "problem": problem})


def refuse_model(code: str, model: str, problem: str) -> Refusal:
    return Refusal(code, {"model": model, "problem": problem})


def refuse_harness(stage: str, problem: str) -> Refusal:
    return Refusal("HARNESS_FAILED", {"stage": stage, "problem": problem}, "unknown")


def describe_failure(error: BaseException, stage: str, folder: str) -> Failure:
    """The failure to send for whatever a command raised."""
    if isinstance(error, Refusal):
        return Failure(class_=error.failure_class, message=f"{error.code}: {error}", code=error.code, details=dict(error.details))
    problem = f"{type(error).__name__}: {error}"
    if isinstance(error, OSError) and error.errno in _NO_SPACE:
        return _environment("DISK_FULL", problem, {"dir": error.filename or folder, "free": "0 B", "needed": "more"})
    if isinstance(error, OSError) and error.errno in _NOT_WRITABLE:
        return _environment("OUTPUT_NOT_WRITABLE", problem, {"dir": error.filename or folder, "problem": error.strerror or problem})
    return Failure(class_="unknown", message=problem, code="HARNESS_FAILED", details={"stage": stage, "problem": problem})


def _environment(code: str, message: str, details: dict[str, Any]) -> Failure:
    return Failure(class_="unknown", message=message, code=code, details={name: str(value) for name, value in details.items()})
