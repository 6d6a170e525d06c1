"""Whether the hub answers, and whether a failure is that it does not: a fault of the surroundings, never of the task or the model."""

import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import huggingface_hub.constants
from huggingface_hub.errors import LocalEntryNotFoundError

from assay_worker.harnesses.environment import go_offline, was_offline_asked
from assay_worker.harnesses.refusals import Refusal

_TRIES = 2
_TIMEOUT_S = 10
_PAUSE_S = 1
# Of the clients' transport errors by name, since the hub's libraries do not agree on one client.
_TRANSPORT_NAMES = frozenset({"TransportError", "ConnectTimeout", "ReadTimeout"})

_WITH_A_NETWORK = "Where there is a network: HF_HUB_OFFLINE must not be set; HTTPS_PROXY and HF_ENDPOINT name a way to the hub."
_DATA_REMEDY = (
    "Put the data on this machine and name it with dataset_path in a task file of your own (--include_path), "
    f"or set HF_HOME to a cache that holds it. {_WITH_A_NETWORK}"
)
_MODEL_REMEDY = f"Give the folder of a model that is on this machine, or set HF_HOME to a cache that holds it. {_WITH_A_NETWORK}"


def settle_network(is_needed: bool, *, has_other_addresses: bool = False) -> None:
    """Off the network where nothing needs it, or where the hub is silent: its libraries would try every file for half a minute.
    Addresses that are not the hub's stay open."""
    silent = is_needed and not has_other_addresses and not was_offline_asked() and find_hub_problem() is not None
    go_offline(not is_needed or silent)


def find_hub_problem() -> str | None:
    """Why the hub does not answer; None where it does, whatever it says."""
    request = urllib.request.Request(huggingface_hub.constants.ENDPOINT, method="HEAD")
    problem: str | None = None
    for trial in range(_TRIES):
        time.sleep(_PAUSE_S if trial else 0)
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S):
                return None
        except urllib.error.HTTPError:
            return None
        except OSError as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, ssl.SSLError):
                # The hub's libraries bring certificates of their own.
                return None
            problem = str(reason) or type(reason).__name__
    return problem


def explain_dataset(error: BaseException, task: str, dataset: str | None) -> Refusal | None:
    subject = f"the data of task {task}" if dataset is None else f"the data set {dataset} of task {task}"
    return _explain(error, subject, _DATA_REMEDY)


def explain_model(error: BaseException, part: str, model: str) -> Refusal | None:
    return _explain(error, f"{part} of the model {model}", _MODEL_REMEDY)


def _explain(error: BaseException, subject: str, remedy: str) -> Refusal | None:
    if not any(_is_of_the_network(one) for one in walk_causes(error)):
        return None
    return Refusal("HUB_UNREACHABLE", {"subject": subject, "problem": _describe_problem(error), "instead": remedy}, "unknown")


def _describe_problem(error: BaseException) -> str:
    """From the hub itself, since `datasets` drops the cause."""
    if was_offline_asked():
        return "it is not in the cache, and offline mode is on (HF_HUB_OFFLINE)"
    problem = find_hub_problem()
    if problem is None:
        return (str(error).strip().splitlines() or [type(error).__name__])[0]
    return f"it is not on this machine, and the hub at {huggingface_hub.constants.ENDPOINT} cannot be reached ({problem})"


def walk_causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)


def _is_of_the_network(error: BaseException) -> bool:
    names = {kind.__name__ for kind in type(error).__mro__}
    return isinstance(error, (ConnectionError, TimeoutError, LocalEntryNotFoundError)) or bool(names & _TRANSPORT_NAMES)
