"""Libraries' caches lie in ASSAY_HOME, unless the user says otherwise."""

import os
from pathlib import Path

import pytest

from assay_worker.caches import CACHES, keep_caches_at_home
from assay_worker.numeric_environment import read_numeric_variables


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [*CACHES, "TRITON_HOME", "ASSAY_HOME"]:
        # Set first, so that what the test leaves behind is taken back too.
        monkeypatch.setenv(variable, "")
        monkeypatch.delenv(variable)


def test_every_cache_lies_in_the_home_and_belongs_to_no_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    keep_caches_at_home()
    assert {os.environ[variable] for variable in CACHES} == {f"{tmp_path}/caches/{name}" for name in CACHES.values()}
    assert not CACHES.keys() & read_numeric_variables().keys()


def test_what_the_user_has_set_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    monkeypatch.setenv("VLLM_CACHE_ROOT", "/mine")
    monkeypatch.setenv("TRITON_HOME", "/mine/too")
    keep_caches_at_home()
    assert os.environ["VLLM_CACHE_ROOT"] == "/mine"
    assert "TRITON_CACHE_DIR" not in os.environ


def test_without_a_home_nothing_is_moved() -> None:
    keep_caches_at_home()
    assert not CACHES.keys() & os.environ.keys()
