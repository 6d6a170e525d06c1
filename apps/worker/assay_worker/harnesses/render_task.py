"""One task of a rendering: its requests by lm_eval, their rows in the index, and what the manifest says about it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lm_eval.api.task import Task

from assay_worker.harnesses.build_errors import explain_build_error
from assay_worker.harnesses.data_files import list_data_files
from assay_worker.harnesses.digests import digest_documents
from assay_worker.harnesses.documents import check_fields, choose_samples, read_documents
from assay_worker.harnesses.fewshot import FewshotWatch
from assay_worker.harnesses.known_metrics import check_metrics
from assay_worker.harnesses.overlong import describe_truncation
from assay_worker.harnesses.prompts import PromptMaker, check_instances
from assay_worker.harnesses.refusals import Refusal, refuse_task
from assay_worker.harnesses.render_model import RenderModel
from assay_worker.harnesses.request_files import RequestWriter
from assay_worker.harnesses.session import TaskPart
from assay_worker.harnesses.task_facts import describe_filters, describe_metrics, digest_named_files, find_split, read_version
from assay_worker.harnesses.task_lints import lint_task, refuse_hopeless
from assay_worker.harnesses.tasks import Suite
from assay_worker.harnesses.templates import TemplateWatch
from assay_worker.protocol import Render, RenderedTask

Advance = Callable[[], None]


@dataclass
class Rendering:
    """One render command under way."""

    command: Render
    suite: Suite
    model: RenderModel
    maker: PromptMaker
    writer: RequestWriter
    templates: TemplateWatch
    multiturn: bool
    advance: Advance


def render_task(rendering: Rendering, number: int, name: str) -> tuple[TaskPart, RenderedTask]:
    command, task = rendering.command, rendering.suite.tasks[name]
    rendering.suite.warnings += check_metrics(name, task)
    data_files = list_data_files(task.get_config("dataset_path"), task.get_config("dataset_kwargs"))
    fewshot = FewshotWatch()
    fewshot.attach(task)
    part = build_part(rendering, number, name)
    if not command.predict_only:
        refuse_hopeless(name, task, part.documents, lambda place: part.numbers.get(place, place))
    add_rows(rendering, part)
    table = rendering.writer.table
    facts = describe_task(rendering, part)
    truncated = table.read_column("truncatedTokens", *part.rows)
    rendering.suite.warnings += describe_truncation(name, truncated, rendering.maker.merged)
    rendering.suite.warnings += lint_task(name, task, part.instances, part.documents, rendering.maker.number)
    return part, RenderedTask(
        documents=len(part.documents),
        documents_total=part.documents_total,
        requests=part.rows[1] - part.rows[0],
        truncated_requests=int((truncated > 0).sum()),
        truncated_tokens=int(truncated.sum()),
        fewshot_docs=fewshot.list_documents(),
        fewshot_rule=fewshot.describe_rule(task, command.seed.fewshot),
        dataset_digest=digest_documents(find_split(task), (document for _, document in part.documents)),
        files=digest_named_files(rendering.suite.files.get(name, []) + data_files),
        prompts_digest=table.take_prompts_digest(),
        **facts,
    )


def build_part(rendering: Rendering, number: int, name: str) -> TaskPart:
    """lm_eval builds the requests; every failure names the task, the document and the cause."""
    command, task = rendering.command, rendering.suite.tasks[name]
    is_local = name in rendering.suite.local
    numbers: dict[int, int] = {}
    try:
        total = len(task.eval_docs)
        numbers |= dict(enumerate(choose_samples(task, name, command.samples) or ()))
        documents = read_documents(task, name, command.limit, command.samples)
        if not documents:
            raise Refusal("DATASET_EMPTY", {"task": name, "problem": f"{total} documents, none of them asked for"}, "task")
        if is_local:
            check_fields(task, name, documents, lambda place: numbers.get(place, place))
        with rendering.templates.refusing_null(is_local):
            build_requests(rendering, task)
    except Exception as error:
        raise explain_build_error(error, name, lambda place: numbers.get(place, place)) from error
    return TaskPart(number, name, task, task.instances, (0, 0), [], documents, numbers, total)


def build_requests(rendering: Rendering, task: Task) -> None:
    command, model = rendering.command, rendering.model
    task.build_all_requests(
        limit=None,
        samples=None,
        rank=0,
        world_size=1,
        system_instruction=command.system_instruction,
        apply_chat_template=bool(command.apply_chat_template),
        fewshot_as_multiturn=rendering.multiturn,
        chat_template=model.apply_chat_template if command.apply_chat_template else None,
        tokenizer_name=model.tokenizer_name if command.apply_chat_template else "",
    )


def add_rows(rendering: Rendering, part: TaskPart) -> None:
    task, command, table = part.task, rendering.command, rendering.writer.table
    rendering.maker.number = lambda place: part.numbers.get(place, place)
    is_choice = task.OUTPUT_TYPE == "multiple_choice" and not command.apply_chat_template
    check_instances(part.name, part.instances, task.config.target_delimiter if is_choice else "", rendering.maker.number)
    if command.model_args.get("enable_thinking") and any(one.request_type == "loglikelihood" for one in part.instances):
        raise refuse_task(part.name, "it scores log-likelihoods, which enable_thinking=True does not go with")
    begin, seen = len(table), -1
    for ordinal, prompts in rendering.maker.make(part.name, part.instances):
        instance = part.instances[ordinal]
        place = instance.doc_id or 0
        for window, prompt in enumerate(prompts):
            row = len(table)
            table.add(part.number, ordinal, window, prompt, instance.repeats or 1)
            for repeat in range(len(table) - row):
                line = describe_row(part, ordinal, repeat, window) | {"row": row + repeat}
                rendering.writer.add_document_line(line | ({"doc": instance.doc} if place != seen else {}))
                seen = place
        part.counts.append(len(prompts))
        if ordinal % 256 == 0:
            rendering.advance()
    part.rows = (begin, len(table))


def describe_row(part: TaskPart, ordinal: int, repeat: int, window: int) -> dict[str, Any]:
    """For people, and for engines that take text. A rolling document's text stands on its first window."""
    instance = part.instances[ordinal]
    texts = [argument for argument in instance.args if isinstance(argument, str)]
    rolling = instance.request_type == "loglikelihood_rolling"
    line: dict[str, Any] = {
        "task": part.number, "ordinal": ordinal, "repeat": repeat, "window": window,
        "doc_id": part.numbers.get(instance.doc_id or 0, instance.doc_id), "idx": instance.idx,
        "context": "" if rolling else texts[0],
    }  # fmt: skip
    if rolling:
        return line | {"continuation": texts[0]} if window == 0 else line
    return line | {"continuation": texts[1]} if instance.request_type == "loglikelihood" else line


def describe_task(rendering: Rendering, part: TaskPart) -> dict[str, Any]:
    task, table = part.task, rendering.writer.table
    begin, end = part.rows
    first: list[int] = []
    if end > begin:
        offset = int(table.read_offsets(begin, begin + 1)[0])
        length = int(table.read_column("contextTokens", begin, begin + 1)[0] + table.read_column("continuationTokens", begin, begin + 1)[0])
        first = table.map_tokens()[offset : offset + min(8, length)].tolist()
    numbers = sorted(set(table.read_column("parameterSet", begin, end).tolist()) - {0})
    sets = [rendering.maker.parameters.sets[number] for number in numbers]
    return {
        "task": part.name,
        "alias": str(task.get_config("task_alias") or part.name),
        "output_type": str(task.OUTPUT_TYPE),
        "version": read_version(task),
        "num_fewshot": int(task.get_config("num_fewshot") or 0),
        "generation_parameters": sets[0] if len(sets) == 1 else {"sets": sets} if sets else {},
        "metrics": describe_metrics(task),
        "filters": describe_filters(task),
        "repeats": int(task.get_config("repeats") or 1),
        "first_tokens": first,
        "unsafe_code": bool(getattr(task, "UNSAFE_CODE", False)),
    }
