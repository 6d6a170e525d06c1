"""A hub that is silent is a fault of the surroundings; one that answers and lacks something is a fault of the task or the model."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import datasets.config
import huggingface_hub.constants
import pytest

from assay_worker.harnesses import environment, hub
from assay_worker.harnesses.refusals import Refusal, describe_failure
from assay_worker.harnesses.render import render
from harness_kit import GENERATE, build_render, write_task

FROM_HUB = GENERATE.replace("dataset_path: json\ndataset_kwargs: {data_files: {test: DATA}}", "dataset_path: owner/sums")
NOBODY = "http://127.0.0.1:9"


class _EmptyHub(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(404)
        self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def empty_hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _EmptyHub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def use_hub(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Names the hub, and says whether the user wants none; restores what a rendering switches in the libraries."""

    def use(endpoint: str, is_offline_asked: bool = False) -> None:
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", endpoint)
        monkeypatch.setattr(huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE", endpoint + "/{repo_id}/resolve/{revision}/{filename}")
        monkeypatch.setattr(datasets.config, "HF_ENDPOINT", endpoint)
        monkeypatch.setattr(hub, "_PAUSE_S", 0)
        for module in (hub, environment):
            monkeypatch.setattr(module, "was_offline_asked", lambda: is_offline_asked)

    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        monkeypatch.setenv(name, "0")
    for library in (huggingface_hub.constants, datasets.config):
        monkeypatch.setattr(library, "HF_HUB_OFFLINE", False)
    return use


def refuse(folder: Path, model: str) -> Refusal:
    command = build_render(folder / "requests", model, tasks=[str(write_task(folder, FROM_HUB, None))])
    with pytest.raises(Refusal) as caught:
        render(command, lambda: None)
    return caught.value


def test_data_of_a_hub_that_cannot_be_reached_is_no_fault_of_the_task(tmp_path: Path, demo_model: str, use_hub: Any) -> None:
    use_hub(NOBODY)
    refusal = refuse(tmp_path, demo_model)
    assert refusal.code == "HUB_UNREACHABLE"
    assert refusal.details["subject"] == "the data set owner/sums of task t"
    assert NOBODY in str(refusal.details["problem"]) and "Connection refused" in str(refusal.details["problem"])
    assert "dataset_path" in str(refusal.details["instead"]) and "HF_HOME" in str(refusal.details["instead"])
    assert describe_failure(refusal, "render", "").code == "HUB_UNREACHABLE"


def test_data_of_a_hub_that_nobody_wants_to_ask_names_the_setting(tmp_path: Path, demo_model: str, use_hub: Any) -> None:
    use_hub(NOBODY, is_offline_asked=True)
    refusal = refuse(tmp_path, demo_model)
    assert (refusal.code, "HF_HUB_OFFLINE" in str(refusal.details["problem"])) == ("HUB_UNREACHABLE", True)


def test_a_data_set_that_a_hub_does_not_have_is_a_fault_of_the_task(tmp_path: Path, demo_model: str, use_hub: Any, empty_hub: str) -> None:
    use_hub(empty_hub)
    refusal = refuse(tmp_path, demo_model)
    assert (refusal.code, "owner/sums" in str(refusal)) == ("TASK_INVALID", True), refusal


def test_a_model_of_a_hub_that_cannot_be_reached_is_no_fault_of_its_name(tmp_path: Path, use_hub: Any) -> None:
    use_hub(NOBODY)
    refusal = refuse(tmp_path, "owner/absent")
    assert (refusal.code, "owner/absent" in str(refusal.details["subject"])) == ("HUB_UNREACHABLE", True), refusal


def test_a_failing_task_of_the_network_is_told_by_its_cause(use_hub: Any) -> None:
    use_hub(NOBODY)
    try:
        try:
            raise TimeoutError("read")
        except TimeoutError as error:
            raise RuntimeError("no data") from error
    except RuntimeError as error:
        refusal = hub.explain_dataset(error, "t", None)
    assert refusal is not None and refusal.details["subject"] == "the data of task t"
    assert hub.explain_dataset(ValueError("no data"), "t", None) is None
