"""Every test runs from the repository's root, since paths in task files are relative to the working directory."""

import json
import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]


def pytest_configure(config: pytest.Config) -> None:
    """A core for each process of pytest-xdist: engines that share cores wait for each other in every step."""
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[int(worker["workerid"].removeprefix("gw")) % len(cores)]})


@pytest.fixture(autouse=True)
def at_repository_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)


@pytest.fixture(scope="session")
def demo_model() -> str:
    """The demo model that `npm run setup` made; without it the test skips, or fails where skipping is not allowed."""
    environment = Path(os.environ.get("ASSAY_HOME", "/nonexistent")) / "environment.json"
    if environment.is_file():
        model = json.loads(environment.read_text("utf-8")).get("demoModel")
        if model and Path(model).is_dir():
            return str(model)
    reason = "no demo model: set ASSAY_HOME to a home made by `npm run setup`"
    if os.environ.get("ASSAY_NO_SKIP") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
