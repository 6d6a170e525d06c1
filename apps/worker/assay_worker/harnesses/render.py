"""RENDER: builds the tasks' requests once, tokenises them and writes them into the run directory."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay_worker.harnesses.build_errors import explain_build_error
from assay_worker.harnesses.chat import ChatRenderer, choose_template, read_template_args
from assay_worker.harnesses.digests import digest_documents, digest_text, digest_tokenizer
from assay_worker.harnesses.documents import TEMPLATES, check_fields, choose_samples, read_documents
from assay_worker.harnesses.fewshot import FewshotWatch
from assay_worker.harnesses.generation import ParameterSets
from assay_worker.harnesses.model_facts import decide_multiturn, describe_bos, describe_seeds, list_model_warnings
from assay_worker.harnesses.overlong import describe_truncation, refuse_overlong
from assay_worker.harnesses.prefixes import number_prefixes
from assay_worker.harnesses.prompts import PromptMaker, check_instances
from assay_worker.harnesses.refusals import Refusal, refuse_task, refuse_value
from assay_worker.harnesses.render_model import RenderModel
from assay_worker.harnesses.request_files import RequestWriter
from assay_worker.harnesses.session import Session, TaskPart
from assay_worker.harnesses.task_facts import (
    describe_filters,
    describe_metrics,
    digest_named_files,
    find_split,
    find_utf16,
    list_data_files,
)
from assay_worker.harnesses.tasks import Suite, build_suite
from assay_worker.harnesses.tokenizer import is_local_model, load_model_text
from assay_worker.protocol import Render, Rendered, RenderedTask

Advance = Callable[[], None]


@dataclass
class Rendering:
    """One render command under way."""

    command: Render
    suite: Suite
    model: RenderModel
    maker: PromptMaker
    writer: RequestWriter
    multiturn: bool
    advance: Advance


def render(command: Render, advance: Advance) -> tuple[Session, Rendered]:
    started, clock = time.time(), time.perf_counter()
    check_command(command)
    multiturn = decide_multiturn(command)
    template_args, warnings = read_template_args(command.model_args)
    text = load_model_text(command.model_args, command.trust_remote_code)
    template = choose_template(text.tokenizer, command.apply_chat_template, text.name)
    chat = ChatRenderer(text.tokenizer, template, text.name, template_args)
    model = RenderModel(text, command.model_args, chat)
    advance()
    TEMPLATES.install()
    suite = build_suite(command, is_local_model(command.model_args), advance)
    check_samples(command, suite)
    parameters = ParameterSets()
    with RequestWriter(Path(command.requests_dir)) as writer:
        rendering = Rendering(command, suite, model, PromptMaker(model, parameters), writer, multiturn, advance)
        rendered = [render_task(rendering, number, name) for number, name in enumerate(suite.tasks)]
        parts = [part for part, _ in rendered]
        refuse_overlong(command, writer.table, parts, model.max_length)
        number_prefixes(writer.table, [part.rows for part in parts])
        digest = writer.finish(parameters)
        parameter_sets = writer.table.read_column("parameterSet").tolist()
        tokens = writer.table.tokens
    session = Session(command, model, template, multiturn, parts, suite.groups, parameters.stops, parameter_sets, started)
    warnings += list_model_warnings(command, model, template) + chat.list_warnings() + suite.warnings
    return session, Rendered(
        type="rendered",
        id=command.id,
        seconds=time.perf_counter() - clock,
        digest=digest,
        requests=len(parameter_sets),
        tokens=tokens,
        tasks=[facts for _, facts in rendered],
        groups=describe_groups(suite),
        max_model_len=model.max_length,
        tokenizer_digest=digest_tokenizer(model.tokenizer),
        chat_template=template,
        chat_template_digest=None if template is None else digest_text(template),
        bos=describe_bos(model),
        seeds=describe_seeds(command),
        warnings=list(dict.fromkeys(warnings)),
    )


def check_command(command: Render) -> None:
    if command.limit is not None and command.samples is not None:
        raise refuse_value("run", "samples", "give limit or samples, not both")
    side = command.model_args.get("truncation_side", "left")
    if side not in ("left", "right", "middle"):
        raise refuse_value("model_args", "truncation_side", f'"{side}" is not left, right or middle')


def check_samples(command: Render, suite: Suite) -> None:
    unknown = [name for name in command.samples or {} if name not in suite.tasks]
    if unknown:
        raise refuse_value("samples", unknown[0], f"no such task in this run; its tasks are {', '.join(suite.tasks)}")


def render_task(rendering: Rendering, number: int, name: str) -> tuple[TaskPart, RenderedTask]:
    command, task = rendering.command, rendering.suite.tasks[name]
    data_files = list_data_files(task)
    utf16 = find_utf16(data_files)
    if utf16 is not None:
        raise refuse_task(name, f"{utf16} is UTF-16; only UTF-8 is read")
    fewshot = FewshotWatch()
    fewshot.attach(task)
    part = build_part(rendering, number, name)
    add_rows(rendering, part)
    table = rendering.writer.table
    facts = describe_task(rendering, part)
    truncated = table.read_column("truncatedTokens", *part.rows)
    rendering.suite.warnings += describe_truncation(name, truncated, rendering.maker.merged)
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
    TEMPLATES.strict = name in rendering.suite.local
    numbers: dict[int, int] = {}
    try:
        total = len(task.eval_docs)
        numbers |= dict(enumerate(choose_samples(task, name, command.samples) or ()))
        documents = read_documents(task, name, command.limit, command.samples)
        if not documents:
            raise Refusal("DATASET_EMPTY", {"task": name, "problem": f"{total} documents, none of them asked for"}, "task")
        if TEMPLATES.strict:
            check_fields(task, name, documents, lambda place: numbers.get(place, place))
        task.build_all_requests(
            limit=None,
            samples=None,
            rank=0,
            world_size=1,
            system_instruction=command.system_instruction,
            apply_chat_template=bool(command.apply_chat_template),
            fewshot_as_multiturn=rendering.multiturn,
            chat_template=rendering.model.apply_chat_template if command.apply_chat_template else None,
            tokenizer_name=rendering.model.tokenizer_name if command.apply_chat_template else "",
        )
    except Exception as error:
        raise explain_build_error(error, name, lambda place: numbers.get(place, place)) from error
    finally:
        TEMPLATES.strict = False
    return TaskPart(number, name, task, task.instances, (0, 0), [], documents, numbers, total)


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


def read_version(task: Any) -> str | int | float:
    return task.VERSION if isinstance(task.VERSION, (str, int, float)) else "N/A"


def describe_groups(suite: Suite) -> dict[str, Any]:
    return {
        name: {
            "alias": group.alias or name,
            "version": group.version,
            "tasks": group.child_names,
            "metrics": [vars(metric) for metric in group.aggregate_metric_list or []],
        }
        for name, group in suite.groups.items()
    }
