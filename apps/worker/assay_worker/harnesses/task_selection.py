"""From the names of a run's configuration (names, globs, groups, tags, YAML paths, folders) to lm_eval's entries."""

import difflib
import fnmatch
import glob
from dataclasses import dataclass
from pathlib import Path

import yaml
from lm_eval.tasks._index import Entry, TaskIndex

from assay_worker.harnesses.refusals import Refusal, refuse_task
from assay_worker.harnesses.task_registry import TaskRegistry
from assay_worker.harnesses.yaml_files import find_duplicate_keys

_GLOB = set("*?[")


@dataclass(frozen=True)
class Selection:
    entries: list[Entry]
    notes: list[str]


def select_entries(specs: list[str], registry: TaskRegistry) -> Selection:
    """Every spec must lead to something; what is named twice is taken once, with a note."""
    wanted = [part.strip() for spec in specs for part in spec.split(",") if part.strip()]
    if not wanted:
        raise Refusal("TASK_NONE", {"pattern": "an empty list"})
    entries: dict[str, Entry] = {}
    notes: list[str] = []
    for spec in wanted:
        for entry in _find(spec, registry):
            if entry.name in entries:
                notes.append(f"task {entry.name} was named more than once and is run once")
            entries.setdefault(entry.name, entry)
    return Selection(list(entries.values()), list(dict.fromkeys(notes)))


def _find(spec: str, registry: TaskRegistry) -> list[Entry]:
    if spec.endswith((".yaml", ".yml")):
        return _find_files(spec)
    # A folder needs a separator in its name, so that one beside a task of the same name is not taken for it.
    if "/" in spec and Path(spec).is_dir():
        return _find_files(f"{glob.escape(spec)}/*.yaml")
    if spec in registry:
        return [registry[spec]]
    if _GLOB.intersection(spec):
        names = fnmatch.filter(registry.list_names(), spec)
        if not names:
            raise Refusal("TASK_NONE", {"pattern": spec})
        return [registry[name] for name in names if name in registry]
    raise _refuse_unknown(spec, registry)


def _find_files(pattern: str) -> list[Entry]:
    paths = [Path(path) for path in sorted(glob.glob(str(Path(pattern).expanduser())))]
    if not paths:
        raise Refusal("TASK_NONE", {"pattern": f"{pattern} (in {Path.cwd()})"})
    found = [entry for path in paths if (entry := _read_entry(path, required=len(paths) == 1))]
    if not found:
        raise Refusal("TASK_NONE", {"pattern": pattern})
    return found


def _read_entry(path: Path, required: bool) -> Entry | None:
    """A folder may hold files that only serve as includes; a file that was named must define a task."""
    refuse_duplicate_keys(str(path), path)
    try:
        return TaskIndex.entry_from_path(path)
    except yaml.YAMLError as error:
        raise refuse_task(str(path), describe_yaml_error(path, error)) from error
    except (ValueError, OSError) as error:
        if required:
            raise refuse_task(str(path), str(error)) from error
        return None


def refuse_duplicate_keys(task: str, path: Path) -> None:
    try:
        problems = find_duplicate_keys(path)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise refuse_task(task, describe_yaml_error(path, error)) from error
    if problems:
        raise refuse_task(task, "; ".join(problems))


def describe_yaml_error(path: Path, error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
    return f"{place}: {getattr(error, 'problem', None) or error}"


def _refuse_unknown(name: str, registry: TaskRegistry) -> Refusal:
    for path, problem in registry.broken.items():
        if name in path.read_text("utf-8", "replace"):
            return refuse_task(name, problem)
    near = difflib.get_close_matches(name, registry.list_names(), n=3, cutoff=0.7)
    hint = f"Did you mean {' or '.join(near)}?" if near else "`lm_eval ls tasks` lists lm_eval's own; --include_path adds folders."
    return Refusal("TASK_UNKNOWN", {"task": name, "nearest": hint})
