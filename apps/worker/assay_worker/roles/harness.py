"""The harness worker: says hello once lm_eval is imported, then renders, scores and aggregates until `exit`."""

import logging
import sys
from typing import Any

from assay_worker.failures import print_trace
from assay_worker.harnesses.environment import prepare_environment

prepare_environment()

from assay_worker.harnesses.lm_eval import LmEvalHarness  # noqa: E402
from assay_worker.harnesses.refusals import Refusal, describe_failure  # noqa: E402
from assay_worker.heartbeat import Activity, start_heartbeat  # noqa: E402
from assay_worker.hello import build_hello  # noqa: E402
from assay_worker.protocol import Exit, Failed, Render, Wire, harness_commands  # noqa: E402
from assay_worker.transport import Channel  # noqa: E402


def run(channel: Channel) -> int:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    activity = Activity()
    harness = LmEvalHarness(activity.advance)
    channel.send(build_hello("harness"))
    start_heartbeat(channel, activity)
    while True:
        command = channel.receive(harness_commands, timeout_seconds=None)
        if isinstance(command, Exit):
            return 0
        activity.state = "busy"
        channel.send(answer(harness, command))
        activity.advance()
        activity.state = "waiting"


def answer(harness: LmEvalHarness, command: Any) -> Wire:
    """The reply to one command. No error ends the process: the next command may well succeed."""
    try:
        reply: Wire = getattr(harness, command.type)(command)
        return reply
    except Exception as error:
        if not isinstance(error, Refusal):
            print_trace(error)
        folder = command.requests_dir if isinstance(command, Render) else getattr(command, "scores_dir", "")
        return Failed(type="failed", id=command.id, failure=describe_failure(error, command.type, folder))
