"""Every control message (downward) and event (upward); frozen, and small enough to pickle.

Requests carry a ``number`` that their reply repeats.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class RaisedRow:
    """What is known of an exception in user code or in a connector.

    ``pickled`` is the exception itself where it travels, else None; ``frames`` is the traceback
    without the engine's own frames. ``position`` is -1 where no row is to blame.
    """

    operator: str
    task: int
    position: int
    row: dict[str, Any] | None
    type_name: str
    text: str
    frames: str
    pickled: bytes | None
    retryable: bool


# downward


@dataclass(frozen=True, slots=True)
class Deploy:
    """The plan, pickled; large buffers lie in a file whose descriptor comes with the message."""

    plan: bytes
    buffer_sizes: tuple[int, ...]
    worker: int
    job: str
    search_path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """A request about one task or one sink of the worker; ``what`` names the answer wanted."""

    number: int
    what: str
    operator: str = ""
    task: int = -1
    argument: Any = None


@dataclass(frozen=True, slots=True)
class Leave:
    """End the worker process now; ``abort`` says whether unfinished outputs are removed."""

    abort: bool = True


# upward


@dataclass(frozen=True, slots=True)
class Ready:
    """The worker's tasks are opened; every gate is as the controller set it."""

    worker: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The reply to an ``Ask``: a value, or the text of what went wrong."""

    number: int
    value: Any = None
    error: RaisedRow | None = None
    descriptors: int = 0


@dataclass(frozen=True, slots=True)
class TaskHeld:
    """A task stands at its position limit, with a row to come."""

    operator: str
    task: int
    position: int


@dataclass(frozen=True, slots=True)
class TaskRaised:
    """A task stands at a row that raised, or cannot go on at all."""

    failure: RaisedRow


@dataclass(frozen=True, slots=True)
class TaskFinished:
    """A task has consumed all its input and handed everything on."""

    operator: str
    task: int


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """A worker process ended; made by the controller's shell, not sent."""

    worker: int
    code: int
    last_words: str = field(default="")
