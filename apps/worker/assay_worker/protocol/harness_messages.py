"""What the pipeline says to the harness worker, and what it hears. The meaning of each is stated in harness-messages.ts."""

from typing import Annotated, Literal

from pydantic import Field

from .base import ConfigWire, Count, Mapping, Positive, Seconds, Wire, WireFloat
from .engine_messages import Exit
from .result import Result


class Seeds(Wire):
    python: int
    numpy: int
    torch: int
    fewshot: int


class Render(ConfigWire):
    type: Literal["render"]
    id: Count
    requests_dir: str = Field(alias="requestsDir")
    model_args: Mapping
    tasks: list[str]
    include_path: list[str]
    num_fewshot: Count | None = None
    limit: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    samples: dict[str, list[Count]] | None = None
    gen_kwargs: Mapping
    apply_chat_template: bool | str
    system_instruction: str | None = None
    fewshot_as_multiturn: bool | None = None
    seed: Seeds
    predict_only: bool
    metadata: Mapping
    trust_remote_code: bool
    confirm_run_unsafe_code: bool
    overlong: Literal["truncate", "refuse"]


class Score(Wire):
    type: Literal["score"]
    id: Count
    task: Count
    waived: bool
    results: list[Result]


class Aggregate(Wire):
    type: Literal["aggregate"]
    id: Count
    scores_dir: str
    date: str
    log_samples: bool
    config: Mapping
    extra: Mapping


HarnessCommand = Annotated[Render | Score | Aggregate | Exit, Field(discriminator="type")]


class RenderedTask(Wire):
    task: str
    alias: str
    output_type: str
    version: str | int | float
    documents: Count
    documents_total: Count
    requests: Count
    truncated_requests: Count
    truncated_tokens: Count
    num_fewshot: Count
    fewshot_docs: list[str]
    fewshot_rule: str
    dataset_digest: str
    prompts_digest: str
    files: dict[str, str]
    generation_parameters: Mapping
    metrics: list[Mapping]
    filters: list[Mapping]
    repeats: Positive
    first_tokens: list[Count]
    unsafe_code: bool


class Rendered(Wire):
    type: Literal["rendered"]
    id: Count
    seconds: Seconds
    digest: str
    requests: Count
    tokens: Count
    tasks: list[RenderedTask]
    groups: Mapping
    max_model_len: Positive
    tokenizer_digest: str
    chat_template: str | None
    chat_template_digest: str | None
    fewshot_as_multiturn: bool
    bos: str
    seeds: Mapping
    warnings: list[str]


class Partial(Wire):
    """A score over a part of its documents, under two names. `failures_as_wrong` None: the metric has no worst value."""

    answered: Count
    failed: Count
    answered_only: WireFloat | None
    failures_as_wrong: WireFloat | None


class MetricRow(Wire):
    """`value` None: it could not be computed; `error` says why. `mean`: of a group's, over what it is one."""

    task: str
    alias: str
    version: str | int | float
    filter: str
    num_fewshot: Count | str
    metric: str
    value: WireFloat | str | None
    stderr: WireFloat | None
    higher_is_better: bool | None
    error: str | None = None
    group: bool
    mean: Literal["by_sample", "by_task"] | None = None
    partial: Partial | None = None


class AnswerTally(Wire):
    """Counts over the scored documents: see harness-messages.ts."""

    truncated_documents: Count
    generated: Count
    unfinished_thoughts: Count
    control_characters: Count
    repeated: Count
    copied: Count


class Scored(Wire):
    type: Literal["scored"]
    id: Count
    task: Count
    seconds: Seconds
    rows: list[MetricRow]
    documents: Count
    scored_documents: Count
    headline: Literal["whole", "partial", "waived", "withheld"]
    answers: AnswerTally


class Aggregated(Wire):
    type: Literal["aggregated"]
    id: Count
    seconds: Seconds
    results_file: str
    samples_files: list[str]
    rows: list[MetricRow]
