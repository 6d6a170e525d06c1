"""What the harness tests share: commands, tasks of the fixtures, and answers that depend on nothing but the request."""

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

from assay_worker.harnesses.environment import prepare_environment

prepare_environment()

from lm_eval.api.model import LM  # noqa: E402
from lm_eval.models.utils import postprocess_generated_text  # noqa: E402

from assay_worker.harnesses.session import Session, TaskPart  # noqa: E402
from assay_worker.protocol import Render, Result, Seeds  # noqa: E402

REPOSITORY = Path(__file__).parents[3]
TASKS = REPOSITORY / "apps/worker/tests/fixtures/harness/tasks"
SHARED_TASKS = REPOSITORY.parent / "shared/data/tasks"

# Tasks as a user writes them; KIND and DATA stand for an output type and a file.
TASK_YAML = """
task: t
dataset_path: json
dataset_kwargs: {data_files: {test: DATA}}
test_split: test
output_type: KIND
"""
GENERATE = TASK_YAML.replace("KIND", "generate_until") + r"""doc_to_text: "Q: {{question}}\nA:"
doc_to_target: answer
generation_kwargs: {until: ["\n"], max_gen_toks: 8}
"""


def write_task(folder: Path, yaml: str, data: str | bytes | None) -> Path:
    """The task's file in `folder`, with `data` beside it under the name that DATA stands for."""
    if data is not None:
        (folder / "data.jsonl").write_bytes(data if isinstance(data, bytes) else data.encode())
    file = folder / "t.yaml"
    file.write_text(yaml.replace("DATA", str(folder / "data.jsonl")))
    return file


def build_render(requests_dir: Path, model: str, **changes: Any) -> Render:
    fields: dict[str, Any] = {
        "type": "render", "id": 1, "requests_dir": str(requests_dir), "model_args": {"pretrained": model, "max_model_len": 1024},
        "tasks": ["fx_choice"], "include_path": [str(TASKS)], "gen_kwargs": {}, "apply_chat_template": False,
        "seed": Seeds(python=0, numpy=1234, torch=1234, fewshot=1234), "predict_only": False, "metadata": {},
        "trust_remote_code": False, "confirm_run_unsafe_code": False, "overlong": "truncate",
    }  # fmt: skip
    return Render(**fields | changes)


def draw(*key: Any) -> float:
    """A number from 0 to 1 that is the same in every process."""
    return int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:6], "big") / 2**48


def answer_scoring(context: str, continuation: str, repeat: int) -> tuple[float, bool]:
    return -20 * draw(context, continuation, repeat), draw("greedy", context, continuation, repeat) < 0.4


def answer_rolling(text: str) -> float:
    """An empty text has no window, and the sum over none is the integer 0."""
    return -3.7 * len(text) * (0.5 + draw(text)) if text else 0


def answer_generation(context: str, repeat: int) -> str:
    number = int(12 * draw(context, repeat))
    return f" I think {number} honey\n#### {number}" if draw("form", context) < 0.7 else f" {number} days"


class ScriptedLM(LM):
    """Answers as the scripted results below do; clones of one request are its repeats."""

    def __init__(self, tokenizer: Any = None) -> None:
        super().__init__()
        self.tokenizer = tokenizer

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        return [answer_scoring(*request.args, repeat) for request, repeat in _count(requests)]

    def loglikelihood_rolling(self, requests: list[Any]) -> list[float]:
        return [answer_rolling(*request.args) for request in requests]

    def generate_until(self, requests: list[Any]) -> list[str]:
        """Cut at the stop strings, as every backend of lm_eval does."""
        return [
            postprocess_generated_text(answer_generation(request.args[0], repeat), request.args[1]["until"], None)
            for request, repeat in _count(requests)
        ]


def _count(requests: list[Any]) -> list[tuple[Any, int]]:
    seen: Counter[int] = Counter()
    counted = []
    for request in requests:
        counted.append((request, seen[id(request)]))
        seen[id(request)] += 1
    return counted


def script_results(session: Session, part: TaskPart) -> list[Result]:
    """What an engine would send for the task, row by row."""
    results = []
    row = part.rows[0]
    for ordinal, instance in enumerate(part.instances):
        for window in range(part.counts[ordinal]):
            for repeat in range(instance.repeats or 1):
                fields = _script_fields(instance, window, repeat)
                results.append(Result(row=row, task=part.number, ordinal=ordinal, repeat=repeat, window=window, outcome="ok", **fields))
                row += 1
    assert row == part.rows[1]
    return results


def _script_fields(instance: Any, window: int, repeat: int) -> dict[str, Any]:
    if instance.request_type == "generate_until":
        return {"text": answer_generation(instance.args[0], repeat)}
    if instance.request_type == "loglikelihood_rolling":
        return {"logprob": float(answer_rolling(instance.args[0])) if window == 0 else 0.0, "greedy": False}
    logprob, greedy = answer_scoring(*instance.args, repeat)
    return {"logprob": logprob, "greedy": greedy}
