"""How a generated text becomes the answer that is scored: as lm_eval's vLLM backend reads it, then two named rules of ours.

`unfinished_thought`: what ended inside the model's thinking is no answer, so it is scored as an empty one; lm_eval takes the
half-finished reasoning. `control_characters`: U+0000 and others that no text needs are left out. No text is lost: results/
has it as the engine gave it, `resps` in samples_*.jsonl as lm_eval has it.
"""

import re
from dataclasses import dataclass
from typing import Any

from lm_eval.models.utils import postprocess_generated_text

from assay_worker.harnesses.chat import read_template_args

TRUNCATED = "truncated in reasoning"
STOPPED = "stopped in reasoning"
# C0 without tab, line feed, vertical tab, form feed and carriage return, which are white space; and DEL.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_THINK_END = "</think>"


@dataclass(frozen=True)
class Reading:
    """`response`: what lm_eval's backend would return. `scored`: what the filters get. `thought`: how an unfinished one ended.
    `stripped`: control characters left out."""

    response: Any
    scored: Any
    thought: str | None = None
    stripped: int = 0


@dataclass(frozen=True)
class Thinking:
    """The texts that begin and end a model's thinking. `is_expected`: the run says that the model thinks."""

    begin: str | None
    end: str
    is_expected: bool


@dataclass(frozen=True)
class Generated:
    """A text with what is needed to read it."""

    prompt: str
    text: str
    is_cut: bool
    stops: list[str]


def describe_thinking(model_args: dict[str, Any]) -> Thinking:
    """"<think>" is to "</think>" as "[THINK]" is to "[/THINK]"; some formats have no beginning of this kind."""
    asked = model_args.get("think_end_token")
    end = asked or _THINK_END
    begin = (end.replace("/", "", 1) or None) if "/" in end else None
    is_off = read_template_args(model_args)[0]["enable_thinking"] is False
    return Thinking(begin, end, asked is not None and not is_off)


def read_generated(generated: Generated, thinking: Thinking, think_end_token: str | None) -> Reading:
    response = postprocess_generated_text(generated.text, generated.stops, think_end_token)
    thought = find_unfinished_thought(generated, thinking)
    if thought is not None:
        return Reading(response, "", thought)
    scored, stripped = _CONTROL.subn("", response)
    return Reading(response, scored, None, stripped)


def find_unfinished_thought(generated: Generated, thinking: Thinking) -> str | None:
    """A thought begins in the prompt, by its template, or in the text; where neither shows it, a cut text of a model that
    thinks is taken for one, and a text that ended by itself for an answer without thinking."""
    # A template that leaves thinking out may write its end itself.
    if thinking.end in generated.text or generated.prompt.rstrip().endswith(thinking.end):
        return None
    begin = thinking.begin
    has_begun = begin is not None and (generated.prompt.rstrip().endswith(begin) or generated.text.lstrip().startswith(begin))
    if not has_begun and not (thinking.is_expected and generated.is_cut):
        return None
    return TRUNCATED if generated.is_cut else STOPPED
