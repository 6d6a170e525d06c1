"""Reads task YAML as text: keys given twice, and the files a task is made of. lm_eval's own loader tells neither."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

_Loader = yaml.CSafeLoader if getattr(yaml, "__with_libyaml__", False) else yaml.SafeLoader


def compose(path: Path) -> yaml.Node | None:
    with path.open("rb") as file:
        return yaml.compose(file, Loader=_Loader)


def find_duplicate_keys(path: Path) -> list[str]:
    """One sentence for each key that stands twice in one mapping, with both lines."""
    return [
        f'{path}: key "{key}" stands on line {first} and again on line {second}'
        for key, first, second in _walk_duplicates(compose(path))
    ]


def _walk_duplicates(node: Any) -> Iterator[tuple[str, int, int]]:
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _walk_duplicates(item)
    if isinstance(node, yaml.MappingNode):
        lines: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                if key.value in lines:
                    yield key.value, lines[key.value], line
                lines[key.value] = line
            yield from _walk_duplicates(value)


def list_task_files(path: Path) -> list[Path]:
    """The YAML file, what it includes, and the Python modules beside it that its `!function` tags name."""
    found: list[Path] = []
    pending = [path.expanduser().resolve()]
    while pending:
        file = pending.pop(0)
        if file in found or not file.is_file():
            continue
        found.append(file)
        node = compose(file) if file.suffix != ".py" else None
        pending += _list_includes(node, file.parent) + _list_modules(node, file.parent)
    return found


def _list_includes(node: Any, folder: Path) -> list[Path]:
    if not isinstance(node, yaml.MappingNode):
        return []
    included = [value for key, value in node.value if key.value == "include"]
    scalars = [item for value in included for item in (value.value if isinstance(value, yaml.SequenceNode) else [value])]
    return [(folder / item.value).resolve() for item in scalars]


def _list_modules(node: Any, folder: Path) -> list[Path]:
    if isinstance(node, yaml.ScalarNode):
        if node.tag != "!function":
            return []
        module = node.value.rpartition(".")[0].replace(".", "/")
        return [(folder / f"{module}.py").resolve()]
    if isinstance(node, yaml.MappingNode):
        return [file for _, value in node.value for file in _list_modules(value, folder)]
    if isinstance(node, yaml.SequenceNode):
        return [file for value in node.value for file in _list_modules(value, folder)]
    return []
