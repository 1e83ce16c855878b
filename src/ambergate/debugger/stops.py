"""What a stopped job stands at, as the user holds it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Hit:
    """A breakpoint was met; ``row`` is the row held at ``position``, not yet processed."""

    breakpoint: Any
    operator: str
    task: int
    position: int
    row: dict[str, Any] | None
    others: tuple[Any, ...] = field(default=())

    def __str__(self) -> str:
        return f"breakpoint at {self.operator!r}, task {self.task}, position {self.position}"


@dataclass(frozen=True, slots=True)
class Failure:
    """A row raised; it left no output and no state, and is retried by ``resume``.

    ``exception`` is the original where it could travel, else None; ``traceback`` is text, the
    user's own frames only.
    """

    operator: str
    task: int
    position: int
    row: dict[str, Any] | None
    type_name: str
    text: str
    exception: BaseException | None
    traceback: str
    others: tuple[Any, ...] = field(default=())

    def __str__(self) -> str:
        return (
            f"{self.operator!r}, task {self.task}, position {self.position}: "
            f"{self.type_name}: {self.text}"
        )


@dataclass(frozen=True, slots=True)
class Finished:
    """The job has ended: ``state`` is finished or stopped."""

    state: str
    others: tuple[Any, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class PauseReport:
    """What ``pause`` found.

    ``waiting_for`` are the (operator, task) pairs still inside a step: a function that has not
    returned. ``in_flight_rows`` and ``in_flight_bytes`` count what was emitted and not yet
    consumed, of a job that stands; they are None while something is running.
    """

    paused: bool
    state: str
    waiting_for: tuple[tuple[str, int], ...] = ()
    in_flight_rows: int | None = None
    in_flight_bytes: int | None = None
