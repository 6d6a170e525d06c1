"""What a harness process remembers between its commands: tasks with their instances, where their rows are, their scores."""

from dataclasses import dataclass
from typing import Any

from lm_eval.api.group import Group
from lm_eval.api.instance import Instance
from lm_eval.api.task import Task

from assay_worker.harnesses.render_model import RenderModel
from assay_worker.protocol import MetricRow, Render


@dataclass
class TaskScore:
    """`values`: lm_eval's own keys ("acc,none", "acc_stderr,none"). `errors`: by "metric,filter"; such a key has no value."""

    values: dict[str, Any]
    errors: dict[str, str]
    sample_len: int
    samples: list[dict[str, Any]]
    rows: list[MetricRow]


@dataclass
class TaskPart:
    """`rows`: begin and end in the index; `counts`: prompts of each instance without its repeats.
    `documents`: (lm_eval's count, document); `numbers`: of that count, the document's number in the data set."""

    number: int
    name: str
    task: Task
    instances: list[Instance]
    rows: tuple[int, int]
    counts: list[int]
    documents: list[tuple[int, Any]]
    numbers: dict[int, int]
    documents_total: int
    score: TaskScore | None = None


@dataclass
class Session:
    """`stops`: what cuts a text afterwards, by parameter set. `lost_tokens`: by row, of the prompts that were cut."""

    command: Render
    model: RenderModel
    chat_template: str | None
    multiturn: bool
    parts: list[TaskPart]
    groups: dict[str, Group]
    stops: list[list[str]]
    parameter_sets: list[int]
    lost_tokens: dict[int, int]
    started: float
