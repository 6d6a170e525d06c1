"""An LM that only renders: lm_eval's own code splits and encodes, and what it would send to an engine is kept instead.

Follows the rules of lm_eval's vLLM backend; tests/test_harness_tokens.py compares with that backend itself.
"""

from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import TemplateLM
from lm_eval.models.utils import _add_special_kwargs, configure_pad_token, has_bos_prefix
from lm_eval.utils import get_rolling_token_windows, make_disjoint_window

from assay_worker.harnesses.chat import ChatRenderer
from assay_worker.harnesses.refusals import refuse_value
from assay_worker.harnesses.tokenizer import ModelText

Pair = tuple[list[int], list[int]]


class RenderModel(TemplateLM):
    def __init__(self, text: ModelText, model_args: dict[str, Any], chat: ChatRenderer) -> None:
        super().__init__()
        self.tokenizer = configure_pad_token(text.tokenizer, model_config=text.config)
        self.model_args = model_args
        self.max_length = text.max_model_len
        self._add_bos_token: bool | None = model_args.get("add_bos_token")
        self._chat = chat
        self._prefix_text = str(self.tokenizer.decode(self.prefix_token_id))
        self._encoded: dict[tuple[str, bool | None], list[int]] = {}
        self._pairs: list[Pair] = []

    @property
    def eot_token_id(self) -> int:
        return int(self.tokenizer.eos_token_id)

    @property
    def prefix_token_id(self) -> int:
        for token in (self.model_args.get("prefix_token_id"), self.tokenizer.bos_token_id, self.tokenizer.eos_token_id):
            if token is not None:
                return int(token)
        raise refuse_value("model_args", "prefix_token_id", "the tokenizer has neither a BOS nor an EOS token; give an id")

    @property
    def tokenizer_name(self) -> str:
        return str(self.tokenizer.name_or_path).replace("/", "__")

    @property
    def eos_text(self) -> str:
        """Some tokenizers decode a low EOS id to nothing although their EOS text is known."""
        return self.tokenizer.decode(self.eot_token_id) or getattr(self.tokenizer, "eos_token", None) or ""

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        return self._chat.render(chat_history, add_generation_prompt)

    def encode_pairs(self, instances: list[Instance]) -> list[Pair]:
        """(context, continuation) ids of log-likelihood requests."""
        self._encoded.clear()
        self._prefetch([text for context, continuation in (one.args for one in instances) for text in _list_parts(context, continuation)])
        self._pairs = []
        self.loglikelihood(instances, disable_tqdm=True)
        return [self._condition(*pair) for pair in self._pairs]

    def encode_windows(self, text: str) -> list[Pair]:
        """Rolling windows: every token of the text is predicted once. Two places are left, for the prefix and one new token."""
        windows = get_rolling_token_windows(
            token_list=self.tok_encode(text), prefix_token=self.prefix_token_id, max_seq_len=self.max_length - 2, context_len=1
        )
        return [make_disjoint_window(window) for window in windows]

    def encode_contexts(self, texts: list[str]) -> list[list[int]]:
        """An empty prompt would be refused by the engine, so it becomes the prefix token."""
        self._encoded.clear()
        self._prefetch(texts)
        return [self.tok_encode(text) or [self.prefix_token_id] for text in texts]

    def tok_encode(self, string: str, add_special_tokens: bool | None = None, **kwargs: Any) -> list[int]:
        if not string:
            return []
        key = (string, add_special_tokens)
        if key not in self._encoded:
            self._encode([string], add_special_tokens)
        return self._encoded[key]

    def _prefetch(self, texts: list[str]) -> None:
        fresh = list(dict.fromkeys(text for text in texts if text))
        if fresh:
            self._encode(fresh, None)

    def _encode(self, texts: list[str], add_special_tokens: bool | None) -> None:
        """A text that starts with BOS already gets no special tokens, or it would have two."""
        special = _add_special_kwargs(add_special_tokens, self._add_bos_token)
        begun = [text for text in texts if has_bos_prefix(text, self._prefix_text)]
        plain = [text for text in texts if not has_bos_prefix(text, self._prefix_text)]
        for group, options in ((begun, {**special, "add_special_tokens": False}), (plain, special)):
            if group:
                ids = self.tokenizer(group, return_attention_mask=False, **options).input_ids
                self._encoded |= {(text, add_special_tokens): row for text, row in zip(group, ids, strict=True)}

    def _condition(self, context: list[int], continuation: list[int]) -> Pair:
        """A context of spaces only leaves none: then the rule of the empty context holds."""
        if context:
            return context, continuation
        if continuation and continuation[0] == self.prefix_token_id:
            return continuation[:1], continuation[1:]
        return [self.prefix_token_id], continuation

    def _loglikelihood_tokens(self, requests: list[Any], **kwargs: Any) -> list[tuple[float, bool]]:
        self._pairs += [(context, continuation) for _, context, continuation in requests]
        return [(0.0, False)] * len(requests)

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        raise NotImplementedError("this model renders and does not answer")

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        raise NotImplementedError("this model renders and does not answer")


def _list_parts(context: str, continuation: str) -> list[str]:
    """The two texts that lm_eval encodes for a pair; only asked for early, so that a wrong guess costs time and nothing else."""
    return [context + continuation, context.rstrip()] if context else []
