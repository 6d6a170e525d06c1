"""Reading requests/ and deriving seeds."""

from pathlib import Path

import pytest

from assay_worker.requests import RequestFiles, RequestFilesError
from assay_worker.seeds import derive_request_seed, draws_randomly
from engine_kit import generating_row, scoring_row, write_order, write_requests


def test_reads_a_request_with_its_tokens_and_parameters(tmp_path: Path) -> None:
    rows = [
        scoring_row([1, 2, 3], [4, 5], task=1, ordinal=7, window=2, truncatedTokens=9),
        generating_row([6], budget=16, repeat=3),
    ]
    files = RequestFiles(write_requests(tmp_path, rows, [{}, {"max_tokens": 16, "stop": ["\n"]}]))
    first, second = files.read(0), files.read(1)
    assert (first.kind, first.tokens, first.context_tokens, first.continuation_tokens) == ("loglikelihood", [1, 2, 3, 4, 5], 3, 2)
    assert (first.task, first.ordinal, first.window, first.truncated_tokens, first.is_scoring) == (1, 7, 2, 9, True)
    assert (second.kind, second.tokens, second.repeat, second.parameters["stop"]) == ("generate_until", [6], 3, ["\n"])


def test_reads_a_range_of_an_order_file(tmp_path: Path) -> None:
    folder = write_requests(tmp_path, [scoring_row([1], [2])] * 5)
    name = write_order(folder, "order-2.bin", [4, 2, 0, 1, 3])
    files = RequestFiles(folder)
    assert files.read_order(name, 1, 4) == [2, 0, 1]
    assert files.read_order(name, 2, 2) == []
    with pytest.raises(RequestFilesError, match="holds 5 places"):
        files.read_order(name, 0, 6)


def test_refuses_files_that_are_not_what_they_should_be(tmp_path: Path) -> None:
    folder = write_requests(tmp_path, [scoring_row([1], [2])])
    index = folder / "index.bin"
    whole = index.read_bytes()
    for damaged, problem in [
        (b"GGUFxxxx" + whole[8:], "not a request index"),
        (whole[:8] + b"\x02" + whole[9:], "schema version 2"),
        (whole[:-1], "bytes where"),
    ]:
        index.write_bytes(damaged)
        with pytest.raises(RequestFilesError, match=problem):
            RequestFiles(folder)
    index.write_bytes(whole)
    (folder / "tokens.bin").write_bytes(b"\0\0\0\0")
    with pytest.raises(RequestFilesError, match=r"tokens\.bin holds 1"):
        RequestFiles(folder).read(0)


def test_no_requests_are_no_error(tmp_path: Path) -> None:
    assert RequestFiles(write_requests(tmp_path, [])).count == 0


def test_eight_repeats_have_eight_seeds_that_never_change() -> None:
    seeds = [derive_request_seed(1234, [504, 3575], repeat) for repeat in range(8)]
    assert len(set(seeds)) == 8
    assert all(0 <= seed < 2**63 for seed in seeds)
    # A rerun, another machine or another version must draw the same: this number is part of the format.
    assert seeds[0] == 243599881976882260
    assert derive_request_seed(1235, [504, 3575], 0) != seeds[0] != derive_request_seed(1234, [504, 3576], 0)


def test_greedy_requests_draw_nothing() -> None:
    assert not draws_randomly({"temperature": 0}) and not draws_randomly({"temperature": 0.0})
    assert draws_randomly({"temperature": 0.7}) and draws_randomly({})
