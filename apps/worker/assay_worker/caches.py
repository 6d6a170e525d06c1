"""Where libraries keep what they compile and look up: in ASSAY_HOME, so that a run writes nowhere else outside its directory.

What the user has set stays. Data sets and models of a hub are not here: they lie where every program looks for them.
"""

import os
from pathlib import Path

FOLDER = "caches"
# By variable, the folder of each. The flashinfer one makes `.cache/flashinfer` in it.
CACHES = {
    "VLLM_CACHE_ROOT": "vllm",
    "VLLM_CONFIG_ROOT": "vllm-config",
    "TORCHINDUCTOR_CACHE_DIR": "torchinductor",
    "TRITON_CACHE_DIR": "triton",
    "FLASHINFER_WORKSPACE_BASE": "flashinfer",
    "CUDA_CACHE_PATH": "cuda",
}
# Names the parent of the folder: where it is set, that is the user's wish too.
WIDER = {"TRITON_CACHE_DIR": "TRITON_HOME"}


def keep_caches_at_home() -> None:
    """Before any of these libraries is imported. Without ASSAY_HOME all stay where they would be."""
    home = os.environ.get("ASSAY_HOME")
    if not home:
        return
    for variable, name in CACHES.items():
        if not any(os.environ.get(given) for given in (variable, WIDER.get(variable, variable))):
            os.environ[variable] = str(Path(home, FOLDER, name))
