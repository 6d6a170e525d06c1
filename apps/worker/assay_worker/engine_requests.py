"""Turns a request of the run into one that an engine takes. Refuses what would end the engine rather than the request."""

from assay_worker.engines.base import EngineRequest, RequestRefused
from assay_worker.requests import Request
from assay_worker.seeds import derive_request_seed, draws_randomly


def build_engine_request(request_id: str, request: Request, run_seed: int) -> EngineRequest:
    return EngineRequest(
        id=request_id,
        row=request.row,
        kind=request.kind,
        tokens=request.tokens,
        context_tokens=request.context_tokens,
        new_token_budget=request.new_token_budget or int(request.parameters.get("max_tokens", 1)),
        parameters=request.parameters,
        seed=_choose_seed(request, run_seed),
    )


def _choose_seed(request: Request, run_seed: int) -> int | None:
    """None where nothing is drawn. The request's own seed goes before the run's."""
    if request.is_scoring or not draws_randomly(request.parameters):
        return None
    asked = request.parameters.get("seed")
    return derive_request_seed(int(run_seed if asked is None else asked), request.tokens, request.repeat)


def check_tokens(request: Request, vocab_size: int) -> None:
    """An id outside the embedding table would end the engine, not the request. A prompt needs a token to condition on."""
    worst = max(request.tokens, default=0)
    if worst >= vocab_size:
        raise RequestRefused(f"token id {worst} is outside the model's vocabulary of {vocab_size}")
    if request.context_tokens == 0:
        raise RequestRefused("the request has no context token to condition on")
