"""RENDER: builds the tasks' requests once, tokenises them and writes them into the run directory."""

import time
from pathlib import Path
from typing import Any

from assay_worker.harnesses.chat import ChatRenderer, choose_template, read_template_args
from assay_worker.harnesses.digests import digest_text, digest_tokenizer
from assay_worker.harnesses.generation import ParameterSets
from assay_worker.harnesses.hub import settle_network
from assay_worker.harnesses.model_facts import decide_multiturn, describe_bos, describe_seeds, list_model_warnings
from assay_worker.harnesses.overlong import refuse_overlong
from assay_worker.harnesses.prefixes import number_prefixes
from assay_worker.harnesses.prompts import PromptMaker
from assay_worker.harnesses.refusals import refuse_value
from assay_worker.harnesses.render_model import RenderModel
from assay_worker.harnesses.render_task import Advance, Rendering, render_task
from assay_worker.harnesses.request_files import RequestWriter
from assay_worker.harnesses.session import Session
from assay_worker.harnesses.tasks import Suite, build_suite
from assay_worker.harnesses.templates import TemplateWatch
from assay_worker.harnesses.tokenizer import is_local_model, load_model_text
from assay_worker.protocol import Render, Rendered


def render(command: Render, advance: Advance) -> tuple[Session, Rendered]:
    started, clock = time.time(), time.perf_counter()
    check_command(command)
    multiturn = decide_multiturn(command)
    template_args, warnings = read_template_args(command.model_args)
    local = is_local_model(command.model_args)
    settle_network(is_needed=not local)
    text = load_model_text(command.model_args, command.trust_remote_code)
    template = choose_template(text.tokenizer, command.apply_chat_template, text.name)
    chat = ChatRenderer(text.tokenizer, template, text.name, template_args)
    model = RenderModel(text, command.model_args, chat)
    advance()
    templates = TemplateWatch()
    templates.install()
    suite = build_suite(command, local, advance)
    check_samples(command, suite)
    parameters = ParameterSets()
    with RequestWriter(Path(command.requests_dir)) as writer:
        rendering = Rendering(command, suite, model, PromptMaker(model, parameters), writer, templates, multiturn, advance)
        rendered = [render_task(rendering, number, name) for number, name in enumerate(suite.tasks)]
        parts = [part for part, _ in rendered]
        refuse_overlong(command, writer.table, parts, model.max_length)
        number_prefixes(writer.table, [part.rows for part in parts])
        digest = writer.finish(parameters)
        parameter_sets = writer.table.read_column("parameterSet").tolist()
        lost_tokens = {row: lost for row, lost in enumerate(writer.table.read_column("truncatedTokens").tolist()) if lost}
        tokens = writer.table.tokens
    session = Session(command, model, template, multiturn, parts, suite.groups, parameters.stops, parameter_sets, lost_tokens, started)
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
        fewshot_as_multiturn=multiturn,
        bos=describe_bos(model),
        seeds=describe_seeds(command),
        warnings=list(dict.fromkeys(warnings)),
    )


def check_command(command: Render) -> None:
    side = command.model_args.get("truncation_side", "left")
    if side not in ("left", "right", "middle"):
        raise refuse_value("model_args", "truncation_side", f'"{side}" is not left, right or middle')
    end = command.model_args.get("think_end_token")
    if end is not None and (not isinstance(end, str) or not end):
        raise refuse_value("model_args", "think_end_token", f"{end!r} is not the text that ends the thinking")


def check_samples(command: Render, suite: Suite) -> None:
    unknown = [name for name in command.samples or {} if name not in suite.tasks]
    if unknown:
        raise refuse_value("samples", unknown[0], f"no such task in this run; its tasks are {', '.join(suite.tasks)}")


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
