"""The engines by name. Each is imported when it is asked for, since its libraries take seconds."""

import importlib
import traceback

from assay_worker.engines.base import Engine

ENGINES = {
    "vllm": ("assay_worker.engines.vllm", "VllmEngine"),
    "simulated": ("assay_worker.engines.simulated", "SimulatedEngine"),
}


def import_engine(name: str) -> str | None:
    """Returns the trace where it cannot be imported: `load` will fail with it, and classified."""
    try:
        importlib.import_module(ENGINES[name][0])
    except Exception:
        return traceback.format_exc()
    return None


def create_engine(name: str) -> Engine:
    module, class_name = ENGINES[name]
    engine: Engine = getattr(importlib.import_module(module), class_name)()
    return engine
