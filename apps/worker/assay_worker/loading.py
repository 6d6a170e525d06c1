"""Loads the model that a `load` names, and reads back what is in force. Nothing is promised that the engine does not say of itself."""

import time
from dataclasses import dataclass
from pathlib import Path

from assay_worker.engines.base import Engine, LoadSpec
from assay_worker.engines.registry import create_engine
from assay_worker.protocol import Load, Loaded, check_effective
from assay_worker.serving import ServingSettings


@dataclass(frozen=True)
class LoadedModel:
    engine: Engine
    settings: ServingSettings
    requests_folder: Path
    reply: Loaded


def load_model(command: Load) -> LoadedModel:
    started_at = time.monotonic()
    engine = create_engine(command.engine)
    engine.load(LoadSpec(command.engine_args, command.env, command.address_space_bytes))
    check_determinism(engine, command)
    settings = {"determinism": command.determinism, "scoring": command.scoring, "runSeed": command.seed}
    effective = check_effective({**engine.describe(), **settings})
    return LoadedModel(
        engine=engine,
        settings=ServingSettings(command.determinism, command.request_timeout_seconds, command.seed),
        requests_folder=Path(command.requests_dir),
        reply=Loaded(
            type="loaded",
            id=command.id,
            seconds=time.monotonic() - started_at,
            peak_bytes=engine.read_peak_bytes(),
            effective=effective,
        ),
    )


def check_determinism(engine: Engine, command: Load) -> None:
    """`isolated` is a property of the engine's limits; without them it would be a promise nobody keeps."""
    if command.determinism == "isolated" and (engine.limits.max_num_seqs != 1 or engine.limits.prefix_caching):
        raise ValueError(
            "determinism isolated needs max_num_seqs=1 and enable_prefix_caching=False, the engine has"
            f" max_num_seqs={engine.limits.max_num_seqs} and enable_prefix_caching={engine.limits.prefix_caching}"
        )
