"""The door to lm_eval: what a harness worker can be asked, over one session."""

from collections.abc import Callable

from assay_worker.harnesses.aggregate import aggregate
from assay_worker.harnesses.refusals import refuse_harness
from assay_worker.harnesses.render import render
from assay_worker.harnesses.score import score
from assay_worker.harnesses.session import Session
from assay_worker.protocol import Aggregate, Aggregated, Render, Rendered, Score, Scored


class LmEvalHarness:
    """A new rendering replaces the session; the other commands need one. `advance` is called wherever work is done."""

    def __init__(self, advance: Callable[[], None]) -> None:
        self._advance = advance
        self._session: Session | None = None

    def render(self, command: Render) -> Rendered:
        self._session, rendered = render(command, self._advance)
        return rendered

    def score(self, command: Score) -> Scored:
        session = self._need_session("score")
        if command.task >= len(session.parts):
            raise refuse_harness("score", f"there is no task {command.task}")
        return score(session, command, self._advance)

    def aggregate(self, command: Aggregate) -> Aggregated:
        return aggregate(self._need_session("aggregate"), command)

    def _need_session(self, stage: str) -> Session:
        if self._session is None:
            raise refuse_harness(stage, "nothing has been rendered")
        return self._session
