"""The content of results_<date>.json: lm_eval's keys in lm_eval's order, then ours. What a user gave goes in without its secrets."""

from typing import Any

from lm_eval.evaluator_utils import EvalAcc
from lm_eval.loggers.evaluation_tracker import GeneralConfigTracker
from lm_eval.loggers.utils import add_env_info, add_tokenizer_info
from lm_eval.result_schema import _SampleCount

from assay_worker.harnesses.samples import digest_task
from assay_worker.harnesses.score import BOOTSTRAP_ITERATIONS
from assay_worker.harnesses.session import Session
from assay_worker.secrets import redact_secrets


def collect_scored(session: Session) -> EvalAcc:
    """The tasks that have been scored; groups come on top of them."""
    results = EvalAcc()
    results.groups = session.groups
    for part in session.parts:
        if part.score is None:
            continue
        config = dict(part.task.dump_config())
        # TaskFactory puts the model's arguments there.
        config |= {"metadata": redact_secrets(config["metadata"])} if "metadata" in config else {}
        results.metrics[part.name] = {
            "name": part.name,
            "alias": config.get("task_alias", part.name),
            "sample_len": part.score.sample_len,
            **part.score.values,
            **dict.fromkeys(part.score.errors),
        }
        results.configs[part.name] = config
        results.versions[part.name] = part.task.VERSION
        results.num_fewshot[part.name] = config.get("num_fewshot", 0)
        results.higher_is_better[part.name] = part.task.higher_is_better()
        results.n_samples[part.name] = _SampleCount(original=part.documents_total, effective=part.score.sample_len)
    return results


def describe_run(session: Session, config: dict[str, Any]) -> dict[str, Any]:
    """`config`: what only the pipeline knows, which is the model's kind, the batches and the device."""
    command = session.command
    known: dict[str, Any] = {
        "model": None,
        "model_args": redact_secrets(command.model_args),
        "batch_size": None,
        "batch_sizes": [],
        "device": None,
        "use_cache": None,
        "limit": command.limit,
        "bootstrap_iters": BOOTSTRAP_ITERATIONS,
        "gen_kwargs": redact_secrets(command.gen_kwargs) or None,
        "random_seed": command.seed.python,
        "numpy_seed": command.seed.numpy,
        "torch_seed": command.seed.torch,
        "fewshot_seed": command.seed.fewshot,
    }
    return known | config


def describe_surroundings(session: Session) -> dict[str, Any]:
    """Git data would be that of whatever folder this runs in, so it is left to the pipeline, which knows its own."""
    found: dict[str, Any] = {"git_hash": None, "date": session.started}
    add_env_info(found)
    found["upper_git_hash"] = None
    add_tokenizer_info(found, session.model)
    return found


def describe_experiment(session: Session, model: str, seconds: float, with_samples: bool) -> dict[str, Any]:
    tracker = GeneralConfigTracker()
    tracker.log_experiment_args(
        model_source=model,
        model_args=session.command.model_args,
        system_instruction=session.command.system_instruction,
        chat_template=session.chat_template,
        fewshot_as_multiturn=session.multiturn,
    )
    scored = [(part.name, part.score.samples) for part in session.parts if part.score is not None]
    fields = {name: getattr(tracker, name) for name in GeneralConfigTracker.__dataclass_fields__}
    return {
        "task_hashes": {name: digest_task(samples) for name, samples in scored} if with_samples else {},
        **fields,
        "total_evaluation_time_seconds": str(seconds),
    }
