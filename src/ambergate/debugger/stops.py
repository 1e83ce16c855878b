"""What a stopped job stands at, as the user holds it."""

from __future__ import annotations

from collections.abc import Callable
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


class PauseReport:
    """What ``pause`` found.

    Attributes
    ----------
    paused : whether the job stands
    state : the job's state
    waiting_for : (operator, task) pairs still inside a step: a function that has not returned
    """

    def __init__(
        self,
        paused: bool,
        state: str,
        waiting_for: tuple[tuple[str, int], ...] = (),
        count: Callable[[], tuple[int, int]] | None = None,
    ):
        self.paused, self.state, self.waiting_for = paused, state, waiting_for
        self._count = count
        self._counted: tuple[int, int] | None = None

    def __repr__(self) -> str:
        waiting = f", waiting_for={self.waiting_for}" if self.waiting_for else ""
        return f"PauseReport(paused={self.paused}, state={self.state!r}{waiting})"

    @property
    def in_flight_rows(self) -> int | None:
        """Rows emitted and not yet consumed; None of a job that does not stand.

        Counted when first asked for: ask before the job is resumed.
        """
        return self._in_flight()[0]

    @property
    def in_flight_bytes(self) -> int | None:
        """Bytes of the memory that holds those rows, counted like them."""
        return self._in_flight()[1]

    def _in_flight(self) -> tuple[int | None, int | None]:
        if self._counted is None and self._count is not None:
            self._counted = self._count()
        return self._counted or (None, None)
