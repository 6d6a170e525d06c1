"""Builds the tasks of a run and applies the run's settings to them, as lm_eval's simple_evaluate does."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy
from lm_eval.api.group import Group
from lm_eval.api.task import Task
from lm_eval.tasks._factory import TaskFactory
from lm_eval.utils import set_torch_seed

from assay_worker.harnesses.build_errors import explain_build_error
from assay_worker.harnesses.data_cache import use_private_cache
from assay_worker.harnesses.data_files import list_data_files, refuse_utf16
from assay_worker.harnesses.environment import has_addresses, is_local_data
from assay_worker.harnesses.hub import settle_network
from assay_worker.harnesses.refusals import Refusal, refuse_task
from assay_worker.harnesses.stock_tasks import STOCK_FOLDER
from assay_worker.harnesses.task_registry import TaskRegistry, open_registry, walk_definitions
from assay_worker.harnesses.task_selection import refuse_duplicate_keys, select_entries
from assay_worker.harnesses.yaml_files import find_duplicate_keys, list_task_files
from assay_worker.protocol import Render

# A file name has 255 bytes on Linux; lm_eval adds 35 around the task's.
_NAME_BYTES = 200


@dataclass
class Suite:
    """`files`: what a task's definition was read from, by the name in its file."""

    tasks: dict[str, Task]
    groups: dict[str, Group]
    files: dict[str, list[Path]]
    local: set[str]
    warnings: list[str] = field(default_factory=list)


def build_suite(command: Render, model_is_local: bool, on_task: Callable[[], None]) -> Suite:
    registry = open_registry(command.include_path)
    selection = select_entries(command.tasks, registry)
    definitions = [item for entry in selection.entries for item in walk_definitions(entry, registry)]
    suite = Suite({}, {}, {}, set(), list(selection.notes))
    for name, path, config in definitions:
        _check_definition(name, path, config, command, suite)
    configs = [config for _, _, config in definitions if _is_task(config)]
    settle_network(
        is_needed=not (model_is_local and all(is_local_data(config) for config in configs)),
        has_other_addresses=any(has_addresses(config) for config in configs),
    )
    use_private_cache()
    if command.trust_remote_code:
        import datasets.config

        datasets.config.HF_DATASETS_TRUST_REMOTE_CODE = True  # as lm_eval's command does
    _seed(command)
    factory = TaskFactory(meta=command.model_args | command.metadata)
    for entry in selection.entries:
        _collect(_build(factory, entry, registry), entry.name, suite)
        on_task()
    for name, task in suite.tasks.items():
        _check_built(name, task, command)
        apply_settings(name, task, command, suite.warnings)
    return suite


def _is_task(config: dict[str, Any]) -> bool:
    return not isinstance(config.get("task"), list)


def _check_definition(name: str, path: Path | None, config: dict[str, Any], command: Render, suite: Suite) -> None:
    """Before any code of the task runs: importing some tasks executes code already."""
    _check_name(name)
    if config.get("unsafe_code") and not command.confirm_run_unsafe_code:
        raise Refusal("TASK_UNSAFE", {"task": name})
    if config.get("doc_to_image") or config.get("doc_to_audio"):
        raise Refusal("TASK_MULTIMODAL", {"task": name})
    if path is not None:
        suite.files[name] = list_task_files(path)
        for file in suite.files[name]:
            if file.suffix == ".py":
                continue
            if file.is_relative_to(STOCK_FOLDER):
                suite.warnings += [f"lm_eval's own file, last value counts: {problem}" for problem in find_duplicate_keys(file)]
            else:
                refuse_duplicate_keys(name, file)
    if _is_task(config) and is_local_data(config):
        suite.local.add(name)
        refuse_utf16(name, list_data_files(config.get("dataset_path"), config.get("dataset_kwargs")))


def _check_name(name: str) -> None:
    """It becomes a part of file names, log lines and tables."""
    if not name.isprintable():
        raise refuse_task(ascii(name), "its name holds a character that cannot be printed")
    if len(name.encode()) > _NAME_BYTES:
        raise refuse_task(name, f"its name has {len(name.encode())} bytes, and samples_<name>_<date>.jsonl has room for {_NAME_BYTES}")


def _seed(command: Render) -> None:
    random.seed(command.seed.python)
    numpy.random.seed(command.seed.numpy)
    set_torch_seed(command.seed.torch)


def _build(factory: TaskFactory, entry: Any, registry: TaskRegistry) -> list[Task | Group]:
    try:
        built = factory.build(entry, overrides=None, registry=registry)
    except Exception as error:
        raise explain_build_error(error, entry.name) from error
    return built if isinstance(built, list) else [built]


def _collect(items: list[Task | Group], source: str, suite: Suite) -> None:
    """One flat mapping of tasks and one of groups. A task reached twice is kept once where both ways mean the same."""
    for item in items:
        tasks = item.get_all_tasks() if isinstance(item, Group) else [item]
        if isinstance(item, Group):
            suite.groups |= {group.name: group for group in [item, *item.get_all_groups()]}
        fresh: dict[str, Task] = {}
        for task in tasks:
            name = task.task_name
            if name in suite.tasks:
                if str(task.dump_config()) != str(suite.tasks[name].dump_config()):
                    raise refuse_task(name, f"{source} defines it otherwise than another of the tasks asked for")
                suite.warnings.append(f"task {name} was reached more than once and is run once")
            else:
                fresh[name] = task
        suite.tasks |= fresh


def _check_built(name: str, task: Task, command: Render) -> None:
    """Tasks written as Python classes say so only once they are built."""
    if getattr(task, "UNSAFE_CODE", False) and not command.confirm_run_unsafe_code:
        raise Refusal("TASK_UNSAFE", {"task": name})
    if getattr(task, "MULTIMODAL", False):
        raise Refusal("TASK_MULTIMODAL", {"task": name})


def apply_settings(name: str, task: Task, command: Render, warnings: list[str]) -> None:
    """gen_kwargs, predict_only, num_fewshot and the few-shot seed, in lm_eval's order and with its exceptions."""
    if task.get_config("output_type") == "generate_until" and command.gen_kwargs:
        task.set_config(key="generation_kwargs", value=dict(command.gen_kwargs), update=True)
    if command.predict_only:
        task.override_metric(metric_name="bypass")
    own = task.get_config("num_fewshot")
    if command.num_fewshot is None:
        if own is None:
            task.set_config(key="num_fewshot", value=0)
    elif own == 0:
        if command.num_fewshot != 0:
            warnings.append(f"task {name} fixes num_fewshot at 0; num_fewshot {command.num_fewshot} does not apply to it")
    else:
        task.set_config(key="num_fewshot", value=command.num_fewshot)
    task.set_fewshot_seed(seed=command.seed.fewshot)
