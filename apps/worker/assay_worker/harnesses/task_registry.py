"""The names a run can use: those of include_path, and lm_eval's own, of which only what is asked for is read.

Invariant: an entry is the one that lm_eval's full index would hold under that name.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lm_eval.tasks._index import Entry, TaskIndex
from lm_eval.tasks._yaml_loader import load_yaml

from assay_worker.harnesses.stock_tasks import scan_stock_tasks

# How lm_eval's index words that a file's keys are those of no task, group or tag.
NO_TASK_FILE = "Unknown config shape"


class TaskRegistry(dict[str, Entry]):
    """Handed to lm_eval's factory as its index. `broken`: files of include_path that could not be read, and why."""

    def __init__(self) -> None:
        super().__init__()
        self.broken: dict[Path, str] = {}
        self._tried: set[str] = set()

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and self._read_stock(name))

    def __getitem__(self, name: str) -> Entry:
        if name not in self:
            raise KeyError(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(name, default) if name in self else default

    def list_names(self) -> list[str]:
        return sorted({*self.keys(), *scan_stock_tasks().files})

    def _read_stock(self, name: str) -> bool:
        if name in self._tried:
            return False
        self._tried.add(name)
        found: dict[str, Entry] = {}
        for path in scan_stock_tasks().list_files(name):
            _add_file(path, found)
        if name not in found:
            return False
        self[name] = found[name]
        return True


def open_registry(include_path: list[str]) -> TaskRegistry:
    """Reads the YAML files of include_path. Later folders win over earlier ones, and all of them over lm_eval's own."""
    registry = TaskRegistry()
    for folder in include_path:
        found: dict[str, Entry] = {}
        for path in TaskIndex._iter_yaml_files(Path(folder)):
            problem = _add_file(path, found)
            if problem:
                registry.broken[path] = problem
        registry.update(found)
    return registry


def _add_file(path: Path, found: dict[str, Entry]) -> str | None:
    """lm_eval's rule: a name's first file in order of path counts, and unreadable files are passed over. A file that is
    readable but no task, such as a run's own configuration, is nobody's mistake."""
    try:
        TaskIndex.process_cfg(load_yaml(path, resolve_func=False), path, found)
    except Exception as error:
        return None if str(error).startswith(NO_TASK_FILE) else f"{path}: {error}"
    return None


def walk_definitions(entry: Entry, registry: TaskRegistry) -> Iterator[tuple[str, Path | None, dict[str, Any]]]:
    """(name, file, raw configuration) of each group and task that building `entry` would build; functions unresolved."""
    if entry.yaml_path is None and entry.cfg is None:
        for name in sorted(entry.tags):
            if name in registry:
                yield from walk_definitions(registry[name], registry)
        return
    config = load_yaml(entry.yaml_path, resolve_func=False) if entry.yaml_path else dict(entry.cfg or {})
    yield entry.name, entry.yaml_path, config
    if isinstance(config.get("task"), list):
        yield from _walk_members(entry.name, config["task"], entry.yaml_path, registry)


def _walk_members(
    group: str, members: list[Any], path: Path | None, registry: TaskRegistry
) -> Iterator[tuple[str, Path | None, dict[str, Any]]]:
    for member in members:
        name = member.get("group", member.get("task")) if isinstance(member, dict) else member
        if isinstance(name, str) and name in registry:
            yield from walk_definitions(registry[name], registry)
        elif isinstance(member, dict):
            yield f"{group}::{name}", path, member
            if "group" in member and isinstance(member.get("task"), list):
                yield from _walk_members(f"{group}::{name}", member["task"], path, registry)
