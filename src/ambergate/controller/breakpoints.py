"""All breakpoints of a job, as the controller keeps them."""

from __future__ import annotations

from dataclasses import dataclass

from ambergate.channels.gate import NO_LIMIT
from ambergate.debugger.positions import PositionBreakpoint


@dataclass(frozen=True, slots=True)
class PositionHit:
    """A position breakpoint has all its tasks standing."""

    number: int
    operator: str
    task: int
    position: int


class Breakpoints:
    """Numbers breakpoints, keeps them, and says what limit each task has."""

    def __init__(self) -> None:
        self.all: dict[int, PositionBreakpoint] = {}
        self._number = 0

    def add_positions(
        self, operator: str, positions: dict[int, int], finished: set[tuple[str, int]]
    ) -> PositionBreakpoint:
        """Arm a breakpoint at ``positions``; tasks in ``finished`` have arrived already."""
        self._number += 1
        breakpoint_ = PositionBreakpoint(self._number, operator, dict(positions))
        self.all[self._number] = breakpoint_
        for name, task in finished:
            breakpoint_.note_finished(name, task)
        return breakpoint_

    def remove(self, number: int) -> None:
        """Forget one; the others stay."""
        self.all.pop(number, None)

    def limit(self, operator: str, task: int) -> int:
        """The lowest limit any armed breakpoint puts on a task, else NO_LIMIT."""
        limits = [each.limit(operator, task) for each in self.all.values()]
        return min((limit for limit in limits if limit is not None), default=NO_LIMIT)

    def held(self, operator: str, task: int, position: int) -> list[PositionHit]:
        """A task stands at its limit; the hits that completes."""
        return [
            PositionHit(each.number, operator, task, position)
            for each in self.all.values()
            if each.note_held(operator, task, position)
        ]

    def finished(self, operator: str, task: int) -> list[PositionHit]:
        """A task has ended; the hits that completes (shown at a task that is held)."""
        hits = []
        for each in self.all.values():
            if each.note_finished(operator, task):
                held, position = max(each.positions.items(), key=lambda item: item[1])
                hits.append(PositionHit(each.number, operator, held, position))
        return hits
