"""Runs lm_eval's simple_evaluate with its real vLLM backend and writes down what it asked and heard, request by request.

Usage: python bench/parity/peer.py --model DIR --tasks a,b --out peer.json [--include_path DIR] [--limit N] [--dtype float32] …
The backend's code runs unchanged; answers only carry their prompts along until they are back in the order of the requests.
"""

import argparse
import contextlib
import importlib
import importlib.metadata
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "2")
os.environ.setdefault("HF_HUB_OFFLINE", "1")


class TracedSum(float):
    """A log-probability that remembers its prompt."""

    trace: dict[str, Any]


class TracedText(str):
    """A generated text that remembers its prompt."""

    trace: dict[str, Any]


def provide_vllm_version(folder: Path) -> None:
    """lm_eval asks for the version of a package called vllm; the CPU build is called otherwise."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("vllm")
        return
    # vLLM finds its platform by this word in the version.
    version = importlib.metadata.version("vllm-cpu").partition("+")[0] + "+cpu"
    info = folder / f"vllm-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}\n")
    sys.path.insert(0, str(folder))


class Recorder:
    """Wraps the backend class and the building of requests. `requests`: one entry for each call of the engine."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self._keys: dict[int, tuple[str, int]] = {}
        self._repeats: Counter[int] = Counter()
        self._answers: list[Any] = []

    def install(self) -> None:
        from lm_eval.api.task import Task

        module = importlib.import_module("lm_eval.models.vllm_causallms")
        backend = module.VLLM
        self._wrap(Task, "build_all_requests", self._note_task)
        self._wrap(backend, "_model_generate", self._mark_texts)
        self._wrap(backend, "_loglikelihood_tokens", self._note_answers)
        for kind in ("loglikelihood", "loglikelihood_rolling", "generate_until"):
            self._wrap(backend, kind, self._note_requests)
        parse, cut = backend._parse_logprobs, module.postprocess_generated_text
        backend._parse_logprobs = staticmethod(lambda tokens, outputs, ctxlen: _mark_sum(parse(tokens, outputs, ctxlen), tokens, ctxlen))
        module.postprocess_generated_text = lambda text, *rest: _carry(text, cut(text, *rest))

    def _wrap(self, owner: Any, name: str, note: Any) -> None:
        original = getattr(owner, name)

        def wrapped(this: Any, *args: Any, **kwargs: Any) -> Any:
            return note(name, original, this, args, kwargs)

        setattr(owner, name, wrapped)

    def _note_task(self, _: str, original: Any, task: Any, args: Any, kwargs: Any) -> None:
        original(task, *args, **kwargs)
        self._keys |= {id(instance): (task.config.task, ordinal) for ordinal, instance in enumerate(task.instances)}

    def _mark_texts(self, _: str, original: Any, lm: Any, args: Any, kwargs: Any) -> Any:
        outputs = original(lm, *args, **kwargs)
        if kwargs.get("generate"):
            for tokens, output in zip(kwargs["requests"], outputs, strict=True):
                text = TracedText(output.outputs[0].text)
                text.trace = {"tokens": list(tokens), "contextTokens": len(tokens), "raw": str(text), "newTokens": len(output.outputs[0].token_ids)}
                output.outputs[0].text = text
        return outputs

    def _note_answers(self, _: str, original: Any, lm: Any, args: Any, kwargs: Any) -> Any:
        answers = original(lm, *args, **kwargs)
        self._answers += answers
        return answers

    def _note_requests(self, kind: str, original: Any, lm: Any, args: Any, kwargs: Any) -> Any:
        (requests,) = args
        self._answers = []
        replies = original(lm, requests, **kwargs)
        traced = self._split_windows(lm, requests) if kind == "loglikelihood_rolling" else [[reply] for reply in replies]
        for request, answers in zip(requests, traced, strict=True):
            task, ordinal = self._keys[id(request)]
            for window, answer in enumerate(answers):
                key = {"task": task, "ordinal": ordinal, "repeat": self._repeats[id(request)], "window": window, "kind": kind}
                self.requests.append(key | _describe(answer))
            self._repeats[id(request)] += 1
        return replies

    def _split_windows(self, lm: Any, requests: list[Any]) -> list[list[Any]]:
        """A document's windows follow one another; together they predict each of its tokens once."""
        found, place = [], 0
        for request in requests:
            left, begin = len(lm.tok_encode(request.args[0])), place
            while left > 0:
                trace = self._answers[place][0].trace
                left -= len(trace["tokens"]) - trace["contextTokens"]
                place += 1
            found.append(self._answers[begin:place])
        return found


def _mark_sum(answer: tuple[float, bool], tokens: Any, ctxlen: int) -> tuple[TracedSum, bool]:
    total = TracedSum(answer[0])
    total.trace = {"tokens": list(tokens), "contextTokens": ctxlen}
    return total, answer[1]


def _carry(text: Any, cut: str) -> TracedText:
    traced = TracedText(cut)
    traced.trace = text.trace
    return traced


def _describe(answer: Any) -> dict[str, Any]:
    if isinstance(answer, TracedText):
        return {**answer.trace, "text": str(answer)}
    return {**answer[0].trace, "logprob": float(answer[0]), "greedy": bool(answer[1])}


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--tasks", required=True, help="names, separated by commas")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--include_path")
    parser.add_argument("--limit", type=float)
    parser.add_argument("--samples", type=json.loads, help="documents by task, as JSON, instead of a limit")
    parser.add_argument("--num_fewshot", type=int)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--max_model_len", type=int, default=4096)
    parser.add_argument("--batch_size", default="auto")
    parser.add_argument("--apply_chat_template", action="store_true")
    parser.add_argument("--model_args", default="{}", help="further arguments of the backend, as JSON")
    return parser.parse_args()


def evaluate(asked: argparse.Namespace) -> dict[str, Any]:
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    recorder = Recorder()
    recorder.install()
    model_args = {"pretrained": asked.model, "dtype": asked.dtype, "max_model_len": asked.max_model_len, "enforce_eager": True}
    model_args |= json.loads(asked.model_args)
    manager = TaskManager(include_path=asked.include_path, include_defaults=asked.include_path is None, metadata=model_args)
    started = time.perf_counter()
    results = simple_evaluate(
        model="vllm",
        model_args=model_args,
        tasks=manager.match_tasks(asked.tasks.split(",")),
        task_manager=manager,
        limit=asked.limit,
        samples=asked.samples,
        num_fewshot=asked.num_fewshot,
        batch_size=asked.batch_size,
        apply_chat_template=asked.apply_chat_template,
        fewshot_as_multiturn=asked.apply_chat_template,
        metadata=model_args,
    )
    assert results is not None
    samples = {task: [_shorten(sample) for sample in lines] for task, lines in results["samples"].items()}
    kept = {key: results[key] for key in ("results", "groups", "n-samples", "n-shot", "versions") if key in results}
    return {"seconds": time.perf_counter() - started, "modelArgs": model_args, "requests": recorder.requests, "samples": samples, **kept}


def _shorten(sample: dict[str, Any]) -> dict[str, Any]:
    metrics = {name: sample[name] for name in sample["metrics"]}
    return {key: sample[key] for key in ("doc_id", "filter", "doc_hash", "prompt_hash", "target_hash")} | {"metrics": metrics}


def main() -> None:
    asked = read_arguments()
    with tempfile.TemporaryDirectory() as folder:
        provide_vllm_version(Path(folder))
        from lm_eval.utils import handle_non_serializable

        report = evaluate(asked)
    asked.out.write_text(json.dumps(report, default=handle_non_serializable) + "\n", encoding="utf-8")
    print(f"peer: {len(report['requests'])} requests in {report['seconds']:.1f} s, written to {asked.out}")


if __name__ == "__main__":
    main()
