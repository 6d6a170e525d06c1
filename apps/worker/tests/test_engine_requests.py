"""What a request of the run becomes on its way into an engine, and what its answer becomes on the way out."""

from typing import Any

import pytest

from assay_worker.engine_requests import build_engine_request, check_tokens
from assay_worker.engines.base import Answer, RequestRefused
from assay_worker.outcomes import build_result, read_result
from assay_worker.requests import Request


def make_request(**fields: Any) -> Request:
    given = {"kind": "generate_until", "tokens": [1, 2, 3], "context_tokens": 3, "continuation_tokens": 0, "new_token_budget": 8}
    places = {"row": 7, "task": 1, "ordinal": 2, "repeat": 0, "window": 0, "truncated_tokens": 0}
    return Request(**{**places, **given, **fields})


def test_only_what_draws_has_a_seed_and_its_own_goes_before_the_runs() -> None:
    drawn = make_request(parameters={"temperature": 0.7})
    own = make_request(parameters={"temperature": 0.7, "seed": 5})
    assert build_engine_request("a", make_request(parameters={"temperature": 0.0}), 1).seed is None
    assert build_engine_request("a", make_request(kind="loglikelihood", parameters={}), 1).seed is None
    assert build_engine_request("a", drawn, 1).seed != build_engine_request("a", drawn, 2).seed
    assert build_engine_request("a", own, 1).seed == build_engine_request("a", own, 2).seed == build_engine_request("a", drawn, 5).seed


def test_a_budget_that_the_index_lacks_is_that_of_the_parameters() -> None:
    assert build_engine_request("a", make_request(new_token_budget=0, parameters={"max_tokens": 4}), 1).new_token_budget == 4


def test_tokens_outside_the_vocabulary_and_an_empty_context_are_refused() -> None:
    check_tokens(make_request(), vocab_size=4)
    with pytest.raises(RequestRefused, match="token id 3"):
        check_tokens(make_request(), vocab_size=3)
    with pytest.raises(RequestRefused, match="no context token"):
        check_tokens(make_request(context_tokens=0), vocab_size=4)


@pytest.mark.parametrize(
    ("fields", "answer", "outcome"),
    [
        ({}, {"finish": "stop"}, "ok"),
        ({}, {"finish": "length"}, "length"),
        ({"truncated_tokens": 3}, {"finish": "length"}, "truncated"),
        ({}, {"error": "lost"}, "engine_error"),
    ],
)
def test_an_answer_says_what_became_of_its_request(fields: dict[str, Any], answer: dict[str, Any], outcome: str) -> None:
    result = read_result(make_request(**fields), Answer(id="a", prompt_tokens=3, **answer))
    assert (result.outcome, result.row, result.task, result.ordinal) == (outcome, 7, 1, 2)


def test_a_request_without_an_answer_has_a_result_with_its_key() -> None:
    result = build_result(make_request(repeat=4), "timed_out", message="late")
    assert (result.outcome, result.repeat, result.message) == ("timed_out", 4, "late")
