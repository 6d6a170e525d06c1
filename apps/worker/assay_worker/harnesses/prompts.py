"""From lm_eval's instances to prompts in token ids that fit the window, by the rules of its vLLM backend."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from lm_eval.api.instance import Instance
from lm_eval.models.utils import maybe_truncate

from assay_worker.harnesses.generation import ParameterSets, build_parameters
from assay_worker.harnesses.refusals import Refusal, refuse_task
from assay_worker.harnesses.render_model import RenderModel
from assay_worker.harnesses.request_table import Prompt

CHUNK = 1024


@dataclass
class PromptMaker:
    """`number`: from lm_eval's count of the documents used to their number in the data set.
    `merged`: (document, choice) whose continuation has no token of its own, which lm_eval scores as certain."""

    model: RenderModel
    parameters: ParameterSets
    number: Callable[[int], int] = lambda place: place
    merged: list[tuple[int, int]] = field(default_factory=list)

    def make(self, task: str, instances: list[Instance]) -> Iterator[tuple[int, list[Prompt]]]:
        """(ordinal, prompts) of every instance; a rolling one has a prompt for each of its windows."""
        self.merged = []
        for begin in range(0, len(instances), CHUNK):
            chunk = instances[begin : begin + CHUNK]
            made: dict[int, list[Prompt]] = {}
            for kind, maker in (
                ("loglikelihood", self._make_scoring),
                ("loglikelihood_rolling", self._make_rolling),
                ("generate_until", self._make_generation),
            ):
                places = [place for place, instance in enumerate(chunk) if instance.request_type == kind]
                made |= zip(places, maker(task, [chunk[place] for place in places]), strict=True)
            yield from ((begin + place, made[place]) for place in range(len(chunk)))

    def _make_scoring(self, task: str, instances: list[Instance]) -> Iterable[list[Prompt]]:
        for instance, (context, continuation) in zip(instances, self.model.encode_pairs(instances), strict=True):
            if not continuation:
                self.merged.append((self.number(instance.doc_id or 0), instance.idx))
            yield [self._fit_scoring(task, instance, context, continuation)]

    def _fit_scoring(self, task: str, instance: Instance, context: list[int], continuation: list[int]) -> Prompt:
        """Cut from the left so that one new token still fits: the engine always generates one."""
        room = self.model.max_length - 1
        cut = max(0, len(context) + len(continuation) - room)
        if cut >= len(context):
            problem = f"its continuation has {len(continuation)} tokens, the window {self.model.max_length}"
            raise refuse_task(task, f"document {self.number(instance.doc_id or 0)}, choice {instance.idx}: {problem}")
        return Prompt("loglikelihood", context[cut:], continuation, 1, cut=cut)

    def _make_rolling(self, task: str, instances: list[Instance]) -> Iterable[list[Prompt]]:
        for instance in instances:
            windows = self.model.encode_windows(instance.args[0])
            yield [Prompt("loglikelihood_rolling", context, continuation, 1) for context, continuation in windows]

    def _make_generation(self, task: str, instances: list[Instance]) -> Iterable[list[Prompt]]:
        contexts = self.model.encode_contexts([instance.args[0] for instance in instances])
        for instance, context in zip(instances, contexts, strict=True):
            yield [self._fit_generation(task, instance, context)]

    def _fit_generation(self, task: str, instance: Instance, context: list[int]) -> Prompt:
        parameters, stops = build_parameters(task, instance.args[1], self.model.eos_text, self.model.model_args)
        budget = parameters["max_tokens"]
        if budget >= self.model.max_length:
            raise Refusal("OUTPUT_BUDGET", {"task": task, "budget": budget, "window": self.model.max_length})
        side = self.model.model_args.get("truncation_side", "left")
        kept, _ = maybe_truncate(context, max_gen_toks=budget, max_model_len=self.model.max_length, side=side, verbose=False)
        number = self.parameters.add(parameters, stops)
        return Prompt("generate_until", kept, [], budget, number, cut=len(context) - len(kept))


def check_instances(task: str, instances: list[Instance], delimiter: str, number: Callable[[int], int]) -> None:
    """What no engine can run. `delimiter`: what stands before a choice, where the task has choices."""
    for instance in instances:
        if instance.request_type not in ("loglikelihood", "loglikelihood_rolling", "generate_until"):
            raise refuse_task(task, f'it asks for requests of type "{instance.request_type}"')
        if any(isinstance(argument, dict) and {"visual", "audio"} & argument.keys() for argument in instance.args[-1:]):
            raise Refusal("TASK_MULTIMODAL", {"task": task})
        texts = instance.args[:1] if instance.request_type == "generate_until" else instance.args
        for text in texts:
            _check_text(task, number(instance.doc_id or 0), text)
        if instance.request_type == "loglikelihood" and instance.args[1] in ("", delimiter):
            raise refuse_task(task, f"document {number(instance.doc_id or 0)}, choice {instance.idx}: the continuation is empty")


def _check_text(task: str, document: int, text: object) -> None:
    if not isinstance(text, str):
        raise refuse_task(task, f"document {document}: {text!r} is a {type(text).__name__}, not a text")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        problem = f"its text holds a lone surrogate, {error.object[error.start]!r}, which no tokenizer takes"
        raise refuse_task(task, f"document {document}: {problem}") from error
