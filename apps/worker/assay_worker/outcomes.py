"""What became of a request: the result that an engine's answer makes, or that of a request which got none."""

from typing import Any

from assay_worker.engines.base import Answer
from assay_worker.protocol import Outcome, Result
from assay_worker.requests import Request


def read_result(request: Request, answer: Answer) -> Result:
    if answer.error is not None:
        return build_result(request, "engine_error", message=answer.error)
    outcome: Outcome = "ok"
    if request.truncated_tokens:
        outcome = "truncated"
    elif answer.finish == "length":
        outcome = "length"
    return build_result(
        request,
        outcome,
        logprob=answer.logprob,
        greedy=answer.greedy,
        text=answer.text,
        finish=answer.finish,
        new_tokens=answer.new_tokens,
        cached_tokens=answer.cached_tokens,
    )


def build_result(request: Request, outcome: Outcome, **fields: Any) -> Result:
    key = {name: getattr(request, name) for name in ("row", "task", "ordinal", "repeat", "window")}
    return Result(**key, outcome=outcome, **fields)
