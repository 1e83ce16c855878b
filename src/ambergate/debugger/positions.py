"""Breakpoints at positions: pure bookkeeping of limits and of who stands where."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class PositionBreakpoint:
    """Hold the named tasks of one operator, each at a position; spent once all stand there.

    ``positions`` maps task to the number of rows consumed before it is held; a task that ends
    before counts as arrived.
    """

    number: int
    operator: str
    positions: dict[int, int]
    enabled: bool = True
    hits: int = 0
    spent: bool = False
    arrived: set[int] = field(default_factory=set)

    def limit(self, operator: str, task: int) -> int | None:
        """The limit this breakpoint puts on a task, or None."""
        if self.spent or not self.enabled or operator != self.operator:
            return None
        return self.positions.get(task)

    def note_held(self, operator: str, task: int, position: int) -> bool:
        """A task stands at ``position``; whether that completes the breakpoint."""
        if self.limit(operator, task) != position:
            return False
        self.arrived.add(task)
        return self._complete()

    def note_finished(self, operator: str, task: int) -> bool:
        """A task has ended; whether that completes the breakpoint."""
        if self.limit(operator, task) is None:
            return False
        self.arrived.add(task)
        return self._complete()

    def _complete(self) -> bool:
        if self.arrived < set(self.positions):
            return False
        self.hits += 1
        self.spent = True
        return True
