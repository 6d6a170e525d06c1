"""One table from what lm_eval, `datasets` and jinja raise while a task is built to a refusal that names task, document and cause."""

import difflib
import re
import traceback
from collections.abc import Callable
from dataclasses import fields
from types import FrameType
from typing import Any

import jinja2
import yaml
from datasets.exceptions import DatasetGenerationError, DatasetNotFoundError
from lm_eval.config.task import TaskConfig

from assay_worker.harnesses.hub import explain_dataset
from assay_worker.harnesses.refusals import Refusal, refuse_field, refuse_task
from assay_worker.harnesses.templates import MissingFieldError

_UNKNOWN_KEY = re.compile(r"unexpected keyword argument '(\w+)'")
_SPLIT_READERS = {"test_docs", "validation_docs", "training_docs", "fewshot_docs"}


class Scene:
    """Where in lm_eval's code an exception came from."""

    def __init__(self, error: BaseException, task: str) -> None:
        self.error = error
        self.frames: list[FrameType] = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        self.task = self._read_task(task)

    def read_local(self, function: str, name: str) -> Any:
        for frame in reversed(self.frames):
            if frame.f_code.co_name == function and name in frame.f_locals:
                return frame.f_locals[name]
        return None

    def was_in(self, *functions: str) -> bool:
        return any(frame.f_code.co_name in functions for frame in self.frames)

    def was_rendering_example(self) -> bool:
        example = self.read_local("fewshot_context", "fs_doc")
        used = [self.read_local(name, "doc") for name in ("doc_to_text", "doc_to_target", "doc_to_choice")]
        return example is not None and any(document is example for document in used)

    def find_document(self) -> int | None:
        """lm_eval tries every task's first document when it builds the task, then builds the requests one by one."""
        number = self.read_local("build_all_requests", "doc_id")
        if number is None and self.read_local("__init__", "test_doc") is not None:
            return 0
        return number

    def find_dataset(self) -> str | None:
        """What was being loaded, by its path on the hub; a task of its own code may load anything."""
        path = self.read_local("load_dataset", "path")
        return path if isinstance(path, str) else None

    def describe_place(self) -> str:
        """The line of the task's own code, where there is one."""
        last = traceback.extract_tb(self.error.__traceback__)[-1]
        return f"{last.filename}:{last.lineno}" if "site-packages" not in last.filename else last.name

    def _read_task(self, default: str) -> str:
        for frame in reversed(self.frames):
            owner = frame.f_locals.get("self")
            name = getattr(getattr(owner, "_config", None), "task", None)
            if isinstance(name, str):
                return name
        return default


def explain_build_error(error: Exception, task: str, map_document: Callable[[int], int] = lambda number: number) -> Refusal:
    """`map_document`: from lm_eval's count of the documents used to their number in the data set."""
    if isinstance(error, Refusal):
        return error
    scene = Scene(error, task)
    unreachable = explain_dataset(error, scene.task, scene.find_dataset())
    if unreachable is not None:
        return unreachable
    document = scene.find_document()
    if document is not None:
        document = map_document(document)
    for kinds, explain in _TABLE:
        if isinstance(error, kinds):
            refusal = explain(scene, error, document)
            if refusal is not None:
                return refusal
    where = "" if document is None else f"document {document}: "
    return refuse_task(scene.task, f"{where}{type(error).__name__}: {error} (in {scene.describe_place()})")


def _explain_missing_field(scene: Scene, error: Any, document: int | None) -> Refusal | None:
    if document is None:
        return None
    problem = str(error.message if isinstance(error, jinja2.TemplateError) else error)
    if scene.was_rendering_example():
        problem = f"in one of its few-shot examples: {problem}"
    return refuse_field(scene.task, document, problem)


def _explain_key(scene: Scene, error: Any, document: int | None) -> Refusal | None:
    if document is not None:
        return refuse_field(scene.task, document, f"it has no field {error} (in {scene.describe_place()})")
    if scene.was_in(*_SPLIT_READERS):
        return refuse_task(scene.task, f"the data set has no split {error}")
    return None


def _explain_empty(scene: Scene, error: Any, document: int | None) -> Refusal | None:
    """An empty file ends `datasets`' generator; an empty split has no document 0."""
    if isinstance(error, StopIteration) and scene.was_in("load_dataset"):
        return Refusal("DATASET_EMPTY", {"task": scene.task, "problem": "a data file is empty, or its pattern matches nothing"}, "task")
    if isinstance(error, IndexError) and scene.read_local("__init__", "test_doc") is None and scene.was_in("__getitem__", "_getitem"):
        return Refusal("DATASET_EMPTY", {"task": scene.task, "problem": "its split has no rows"}, "task")
    if isinstance(error, ValueError) and "did not find any docs" in str(error):
        return Refusal("DATASET_EMPTY", {"task": scene.task, "problem": "no document is left to evaluate"}, "task")
    return None


def _explain_choice(scene: Scene, error: Any, document: int | None) -> Refusal | None:
    """lm_eval looks at the first character of each choice of document 0, and at its gold answer."""
    if scene.read_local("__init__", "choice") == "":
        place = scene.read_local("__init__", "check_choices").index("")
        return refuse_task(scene.task, f"document 0, choice {place}: the choice is empty")
    gold, choices = scene.read_local("__init__", "test_target"), scene.read_local("__init__", "test_choice")
    if isinstance(gold, int) and isinstance(choices, list) and gold >= len(choices):
        return refuse_task(scene.task, f"document 0: its gold answer is number {gold}, and it has {len(choices)} choices")
    return None


def _explain_data(scene: Scene, error: Any, document: int | None) -> Refusal | None:
    cause = error.__cause__
    return refuse_task(scene.task, f"the data cannot be read: {cause or error}")


def _explain_file(scene: Scene, error: Any, document: int | None) -> Refusal | None:
    return refuse_task(scene.task, f"a file is missing: {error}")


def _explain_yaml(scene: Scene, error: Any, document: int | None) -> Refusal | None:
    mark = error.problem_mark
    return refuse_task(scene.task, f"{mark.name}:{mark.line + 1}:{mark.column + 1}: {error.problem}")


def _explain_unknown_key(scene: Scene, error: Any, document: int | None) -> Refusal | None:
    match = _UNKNOWN_KEY.search(str(error))
    if match is None or "TaskConfig" not in str(error):
        return None
    near = difflib.get_close_matches(match[1], [field.name for field in fields(TaskConfig)], n=1)
    return refuse_task(scene.task, f'unknown key "{match[1]}"' + (f'; did you mean "{near[0]}"?' if near else ""))


_TABLE: list[tuple[Any, Callable[[Scene, Any, int | None], Refusal | None]]] = [
    ((jinja2.UndefinedError, MissingFieldError), _explain_missing_field),
    (KeyError, _explain_key),
    ((StopIteration, IndexError, ValueError), _explain_empty),
    (IndexError, _explain_choice),
    (FileNotFoundError, _explain_file),
    ((DatasetNotFoundError, DatasetGenerationError, ConnectionError), _explain_data),
    (yaml.MarkedYAMLError, _explain_yaml),
    (TypeError, _explain_unknown_key),
]
