"""Which file defines which of lm_eval's own names, without parsing its 14,000 YAML files (that takes 20 s).

A name's lines are read by pattern; whatever is not a plain scalar is parsed. tests/test_harness_stock_tasks.py compares with lm_eval.
"""

import functools
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lm_eval.tasks
from lm_eval.tasks._yaml_loader import load_yaml

STOCK_FOLDER = Path(lm_eval.tasks.__file__).parent

_IGNORED = {"__pycache__", ".ipynb_checkpoints"}
_KEY = re.compile(rb"^([\"']?)(task|group|tag|include|class)\1[ \t]*:[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)
_PLAIN = re.compile(rb"([\"']?)([\w./+-]+(?: [\w./+-]+)*)\1")

Keys = dict[str, Any]


@dataclass
class StockIndex:
    """Files by the task, group or tag they define, in lm_eval's order of reading."""

    files: dict[str, list[Path]] = field(default_factory=dict)
    names_in: dict[Path, list[str]] = field(default_factory=dict)

    def list_files(self, name: str) -> list[Path]:
        """Those that decide what `name` is: its own, and those that claim a name found in them."""
        own = self.files.get(name, [])
        claimed = {path for file in own for other in self.names_in[file] for path in self.files[other]} if own else set()
        return sorted(claimed.union(own), key=Path.as_posix)


@functools.cache
def scan_stock_tasks(folder: Path = STOCK_FOLDER) -> StockIndex:
    index = StockIndex()
    included: dict[Path, Keys] = {}
    for path in sorted(_list_yaml(folder), key=Path.as_posix):
        try:
            keys = _read_keys(path, included)
        except Exception:  # lm_eval skips what it cannot read, too
            continue
        # A tag leads to many tasks, so it does not count among the names that tie files together.
        kinds = ("task",) if "class" in keys else ("group", "task")
        names = [str(keys[kind]) for kind in kinds if isinstance(keys.get(kind), str)][:1]
        index.names_in[path] = names
        for name in {*names, *_list_tags(keys)}:
            index.files.setdefault(name, []).append(path)
    return index


def _list_yaml(folder: Path) -> list[Path]:
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _IGNORED]
        found += [Path(parent, name) for name in names if name.endswith(".yaml")]
    return found


def _read_keys(path: Path, included: dict[Path, Keys]) -> Keys:
    """The keys that name things, includes merged as lm_eval merges them: local ones win."""
    own: Keys = {}
    for _, key, value in _KEY.findall(path.read_bytes()):
        plain = _PLAIN.fullmatch(value)
        if plain:
            own[key.decode()] = plain[2].decode()
        elif key != b"class" and not (key == b"task" and value == b""):
            return load_yaml(path, resolve_func=False)
        else:
            own[key.decode()] = None
    include = own.pop("include", None)
    if include is None:
        return own
    target = (path.parent / include).resolve()
    if target not in included:
        included[target] = _read_keys(target, included)
    return included[target] | own


def _list_tags(keys: Keys) -> list[str]:
    if "group" in keys and "class" not in keys:
        return []  # lm_eval registers the tags of tasks only
    tags = keys.get("tag") or []
    return [tags] if isinstance(tags, str) else [str(tag) for tag in tags]
