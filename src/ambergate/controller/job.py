"""The state of a job as a pure machine: an event in, actions out.

No thread, clock or I/O: the controller owns those, carries the actions out, and feeds what happens
back. Legal moves stand in one table; every move is kept for the error of an illegal one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ambergate.errors import IllegalTransition
from ambergate.messages import RaisedRow

ENDED = frozenset({"finished", "failed", "stopped"})
ENDING = frozenset({"preparing", "committing"})  # all tasks have finished


# events


@dataclass(frozen=True, slots=True)
class WorkerReady:
    """A worker has opened its tasks."""

    worker: int


@dataclass(frozen=True, slots=True)
class PauseAsked:
    """Someone wants the job to stand: the user, or a breakpoint or failure as ``stop``."""

    stop: Any = None


@dataclass(frozen=True, slots=True)
class Quiesced:
    """Under turn ``turn`` every gate is closed and no task is inside a step."""

    turn: int


@dataclass(frozen=True, slots=True)
class ResumeAsked:
    """The user wants the job to run on."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A task has ended by itself."""

    operator: str
    task: int


@dataclass(frozen=True, slots=True)
class Raised:
    """A row raised, or a task cannot go on."""

    failure: RaisedRow


@dataclass(frozen=True, slots=True)
class Prepared:
    """All outputs are written and nothing is in their way: they can be made visible."""


@dataclass(frozen=True, slots=True)
class Committed:
    """A worker has made its outputs visible."""

    worker: int


@dataclass(frozen=True, slots=True)
class Broken:
    """A worker is gone, or a commit failed: the job cannot go on."""

    cause: Any


@dataclass(frozen=True, slots=True)
class StopAsked:
    """The user wants the job to end now."""


# actions


@dataclass(frozen=True, slots=True)
class CloseGates:
    """Pause every task: store ``turn`` (odd) and limit 0."""

    turn: int


@dataclass(frozen=True, slots=True)
class OpenGates:
    """Let every task run: store ``turn`` (even) and its limit."""

    turn: int


@dataclass(frozen=True, slots=True)
class Retry:
    """Let a task that stands at a raised row run it again."""

    operator: str
    task: int


@dataclass(frozen=True, slots=True)
class Prepare:
    """See that all outputs can be made visible."""


@dataclass(frozen=True, slots=True)
class Commit:
    """Make all outputs visible."""


@dataclass(frozen=True, slots=True)
class Release:
    """End the workers; ``abort`` removes what was not committed."""

    abort: bool


MOVES: dict[tuple[str, str], str] = {
    ("starting", "ready"): "running",
    ("starting", "ready paused"): "paused",
    ("running", "pause"): "pausing",
    ("pausing", "quiesced"): "paused",
    ("pausing", "resume"): "running",
    ("paused", "resume"): "running",
    ("running", "all finished"): "preparing",
    ("pausing", "all finished"): "preparing",
    ("paused", "all finished"): "preparing",
    ("preparing", "prepared"): "committing",
    ("committing", "committed"): "finished",
    **{
        (state, "stop"): "stopped"
        for state in ("starting", "running", "pausing", "paused", "preparing")
    },
    **{
        (state, "fail"): "failed"
        for state in ("starting", "running", "pausing", "paused", "preparing", "committing")
    },
}


@dataclass(slots=True)
class JobMachine:
    """One job's state, stops and turn.

    Parameters
    ----------
    workers : how many must be ready, and must commit
    tasks : how many must finish
    on_error : ``pause`` or ``raise``
    paused : begin with every gate closed
    """

    workers: int
    tasks: int
    on_error: str = "raise"
    paused: bool = False
    state: str = "starting"
    turn: int = 1
    stops: list[Any] = field(default_factory=list)
    cause: Any = None
    raised: dict[tuple[str, int], RaisedRow] = field(default_factory=dict)
    history: list[str] = field(default_factory=list)
    _ready: set[int] = field(default_factory=set)
    _finished: set[tuple[str, int]] = field(default_factory=set)
    _committed: set[int] = field(default_factory=set)
    _wants_pause: bool = False

    @property
    def ended(self) -> bool:
        """Whether nothing will happen any more."""
        return self.state in ENDED

    def handle(self, event: Any) -> list[Any]:
        """Take one event; the actions to carry out, in order."""
        return getattr(self, f"_on_{type(event).__name__.lower()}")(event)

    def _move(self, event: str) -> None:
        target = MOVES.get((self.state, event))
        if target is None:
            raise IllegalTransition("the job", self.state, event, tuple(self.history))
        self.history.append(f"{self.state} -- {event} --> {target}")
        self.state = target

    def _on_workerready(self, event: WorkerReady) -> list[Any]:
        self._ready.add(event.worker)
        if self.state != "starting" or len(self._ready) < self.workers:
            return []
        if self.paused or self._wants_pause:
            self._move("ready paused")
            return []
        self._move("ready")
        return self._open()

    def _on_pauseasked(self, event: PauseAsked) -> list[Any]:
        if self.ended or self.state in ENDING:
            return []
        if event.stop is not None:
            self.stops.append(event.stop)
        if self.state == "starting":
            self._wants_pause = True
            return []
        if self.state != "running":
            return []
        self._move("pause")
        self.turn += 1
        return [CloseGates(self.turn)]

    def _on_quiesced(self, event: Quiesced) -> list[Any]:
        if self.state == "pausing" and event.turn == self.turn:
            self._move("quiesced")
        return []

    def _on_resumeasked(self, event: ResumeAsked) -> list[Any]:
        if self.state == "starting":
            self.paused = self._wants_pause = False
            return []
        if self.state not in ("paused", "pausing"):
            return []
        self._move("resume")
        self.stops.clear()
        retries = [Retry(operator, task) for operator, task in self.raised]
        self.raised.clear()
        return [*retries, *self._open()]

    def _open(self) -> list[Any]:
        self.turn += 1
        return [OpenGates(self.turn)]

    def _on_finished(self, event: Finished) -> list[Any]:
        self._finished.add((event.operator, event.task))
        if len(self._finished) < self.tasks or self.state not in ("running", "pausing", "paused"):
            return []
        self._move("all finished")
        return [Prepare()]

    def _on_prepared(self, event: Prepared) -> list[Any]:
        if self.state != "preparing":
            return []
        self._move("prepared")
        return [Commit()]

    def _on_raised(self, event: Raised) -> list[Any]:
        failure = event.failure
        if self.ended:
            return []
        if self.on_error == "pause" and failure.retryable:
            self.raised[(failure.operator, failure.task)] = failure
            return self._on_pauseasked(PauseAsked(failure))
        return self._fail(failure)

    def _on_committed(self, event: Committed) -> list[Any]:
        self._committed.add(event.worker)
        if self.state != "committing" or len(self._committed) < self.workers:
            return []
        self._move("committed")
        return [Release(abort=False)]

    def _on_broken(self, event: Broken) -> list[Any]:
        return [] if self.ended else self._fail(event.cause)

    def _on_stopasked(self, event: StopAsked) -> list[Any]:
        if self.ended or self.state == "committing":  # some outputs may be visible: too late
            return []
        self._move("stop")
        self.turn += 1 + self.turn % 2
        return [CloseGates(self.turn), Release(abort=True)]

    def _fail(self, cause: Any) -> list[Any]:
        self._move("fail")
        self.cause = cause
        self.turn += 1 + self.turn % 2
        return [CloseGates(self.turn), Release(abort=True)]
