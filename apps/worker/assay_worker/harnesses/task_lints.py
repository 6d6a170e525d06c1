"""Doubts about a task that lm_eval passes over in silence; each is one warning with a count and the first place. What no answer
can satisfy in any document is refused."""

from collections.abc import Callable, Iterable
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask, Task

from assay_worker.harnesses.refusals import refuse_task

Place = str
Numbered = Callable[[int], int]


def lint_task(name: str, task: Task, instances: list[Instance], documents: list[tuple[int, Any]], number: Numbered) -> list[str]:
    found = {
        "the context ends and the continuation begins with a space": _find_double_spaces(instances, number),
        "the gold answer is none of the choices, so no answer can be right": _find_foreign_golds(task, documents, number),
        "a stop string stands inside the gold answer, which can then not be produced": _find_stopped_golds(task, instances, documents, number),
    }
    return [f"task {name}: {problem} ({len(places)} times, first: {places[0]})" for problem, places in found.items() if places]


def refuse_hopeless(name: str, task: Task, documents: list[tuple[int, Any]], number: Numbered) -> None:
    """A task whose gold answer is among the choices of no document scores 0 whatever the model is."""
    if not _compares_golds(task) or not all(_is_foreign(*_read_gold(task, document)) for _, document in documents):
        return
    place, document = documents[0]
    gold, choices = _read_gold(task, document)
    others = f", and so in all {len(documents)} documents" if len(documents) > 1 else ""
    problem = f"document {number(place)}: its gold answer {gold!r} is none of its {len(choices)} choices{others}: no answer can be right"
    raise refuse_task(name, problem + _explain_literal(task, gold))


def _explain_literal(task: Task, gold: Any) -> str:
    """A word that names no column is a gold answer by itself to lm_eval."""
    target, columns = task.get_config("doc_to_target"), list(getattr(task, "features", None) or ())
    if not isinstance(target, str) or target != gold or target in columns:
        return ""
    return f"; doc_to_target: {target} names no column, so the word itself is taken; the columns are {', '.join(map(str, columns))}"


def _find_double_spaces(instances: list[Instance], number: Numbered) -> list[Place]:
    return [
        f"document {number(one.doc_id or 0)}, choice {one.idx}"
        for one in instances
        if one.request_type == "loglikelihood" and one.args[0].endswith(" ") and one.args[1].startswith(" ")
    ]


def _find_foreign_golds(task: Task, documents: list[tuple[int, Any]], number: Numbered) -> list[Place]:
    if not _compares_golds(task):
        return []
    golds = ((place, *_read_gold(task, document)) for place, document in documents)
    return [f"document {number(place)}, {gold!r}" for place, gold, choices in golds if _is_foreign(gold, choices)]


def _compares_golds(task: Task) -> bool:
    """Only lm_eval's own scorer of choices looks for the gold answer among them."""
    is_own = type(task).process_results is ConfigurableTask.process_results and not callable(task.get_config("process_results"))
    return task.OUTPUT_TYPE == "multiple_choice" and is_own and not getattr(task, "multiple_input", 0)


def _read_gold(task: Any, document: Any) -> tuple[Any, Any]:
    return _read(task.doc_to_target, document), _read(task.doc_to_choice, document)


def _is_foreign(gold: Any, choices: Any) -> bool:
    if not isinstance(choices, list):
        return False
    if isinstance(gold, str):
        return gold not in choices
    numbers = gold if isinstance(gold, list) and gold else [gold]
    return all(isinstance(one, int) and not 0 <= one < len(choices) for one in numbers)


def _find_stopped_golds(task: Task, instances: list[Instance], documents: list[tuple[int, Any]], number: Numbered) -> list[Place]:
    """A gold answer with white space around it or several lines is often a whole explanation; its last line is the answer."""
    if task.OUTPUT_TYPE != "generate_until" or not instances or task.get_config("doc_to_choice") is not None:
        return []
    stops = _list_stops(instances)
    golds = ((place, _read(task.doc_to_target, document)) for place, document in documents)
    lasts = ((place, gold.strip().rpartition("\n")[2]) for place, gold in golds if isinstance(gold, str))
    return [f"document {number(place)}" for place, gold in lasts if any(stop in gold for stop in stops)]


def _list_stops(instances: Iterable[Instance]) -> list[str]:
    first = next((one for one in instances if one.request_type == "generate_until"), None)
    until = (first.args[1].get("until") if first and isinstance(first.args[1], dict) else None) or []
    stops = [until] if isinstance(until, str) else until
    return [stop for stop in stops if isinstance(stop, str) and stop.strip()]


def _read(function: Callable[[Any], Any], document: Any) -> Any:
    try:
        return function(document)
    except Exception:
        return None
