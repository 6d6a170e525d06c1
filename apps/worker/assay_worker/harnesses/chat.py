"""The chat template of a run: which one, whether it is there, and how a conversation becomes a prompt by it."""

from typing import Any

import jinja2

from assay_worker.harnesses.refusals import refuse_value

Messages = list[dict[str, str]]


def choose_template(tokenizer: Any, asked: bool | str, model: str) -> str | None:
    """The template's text, or None where none is asked for. Refused where the model has none to apply."""
    templates = getattr(tokenizer, "chat_template", None)
    if asked is False:
        return None
    if not templates:
        raise refuse_value("run", "apply_chat_template", f"the tokenizer of {model} has no chat template")
    if isinstance(templates, str):
        return templates
    name = asked if isinstance(asked, str) else "default"
    if name not in templates:
        known = ", ".join(sorted(templates))
        raise refuse_value("run", "apply_chat_template", f'the tokenizer of {model} has no template "{name}", only {known}')
    return str(templates[name])


class ChatRenderer:
    """lm_eval's rule: a template that raises is tried once more without the system message; here that is counted."""

    def __init__(self, tokenizer: Any, template: str | None, model: str, template_args: dict[str, Any]) -> None:
        self._tokenizer = tokenizer
        self._template = template
        self._model = model
        self._args = template_args
        self.without_system = 0
        self._first_reason = ""

    def render(self, history: Messages, add_generation_prompt: bool) -> str:
        try:
            return self._apply(history, add_generation_prompt)
        except jinja2.exceptions.TemplateError as error:
            rest = [message for message in history if message["role"] != "system"]
            if len(rest) == len(history):
                raise self._refuse(error) from error
            self._first_reason = self._first_reason or str(error)
        try:
            prompt = self._apply(rest, add_generation_prompt)
        except jinja2.exceptions.TemplateError as error:
            raise self._refuse(error) from error
        self.without_system += 1
        return prompt

    def list_warnings(self) -> list[str]:
        if not self.without_system:
            return []
        return [
            f"the chat template of {self._model} refuses a system message ({self._first_reason}): it was left out of "
            f"{self.without_system} prompts; see system_instruction and the tasks' description"
        ]

    def _apply(self, history: Messages, add_generation_prompt: bool) -> str:
        text: str = self._tokenizer.apply_chat_template(
            history,
            tokenize=False,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=not add_generation_prompt,
            chat_template=self._template,
            **self._args,
        )
        return text

    def _refuse(self, error: Exception) -> Exception:
        problem = f"the chat template of {self._model} cannot render these messages: {error}"
        return refuse_value("run", "apply_chat_template", f"{problem}; fewshot_as_multiturn and system_instruction change them")


def read_template_args(model_args: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """What the template is given besides the messages; `enable_thinking` always, as lm_eval's backend passes it."""
    args = dict(model_args.get("chat_template_args") or {})
    warnings = []
    thinking = model_args.get("enable_thinking")
    if "enable_thinking" in args:
        inner = args.pop("enable_thinking")
        if thinking is None:
            thinking = inner
            warnings.append("chat_template_args.enable_thinking is applied; lm_eval 0.4.13's vLLM backend drops it")
    if thinking and model_args.get("think_end_token") is None:
        raise refuse_value("model_args", "enable_thinking", "it needs think_end_token, the text that ends the thinking")
    return {"enable_thinking": thinking, **args}, warnings

