"""A breakpoint of a running job, as the user holds it."""

from __future__ import annotations

from ambergate.controller.controller import Controller
from ambergate.debugger.positions import PositionBreakpoint


class Breakpoint:
    """A breakpoint as the user holds it."""

    def __init__(self, controller: Controller, armed: PositionBreakpoint):
        self._controller, self._armed = controller, armed

    def __repr__(self) -> str:
        state = "spent" if self._armed.spent else "armed" if self.enabled else "disabled"
        return f"<Breakpoint {self.id} at {self.operator!r} {self._armed.positions}: {state}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Breakpoint) and other._armed is self._armed

    def __hash__(self) -> int:
        return id(self._armed)

    @property
    def id(self) -> int:
        """Its number in the job."""
        return self._armed.number

    @property
    def operator(self) -> str:
        """The operator it is set on."""
        return self._armed.operator

    @property
    def positions(self) -> dict[int, int]:
        """Task -> rows consumed before it is held."""
        return dict(self._armed.positions)

    @property
    def hits(self) -> int:
        """How often it was met."""
        return self._armed.hits

    @property
    def enabled(self) -> bool:
        """Whether it holds anyone."""
        return self._armed.enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._armed.enabled = value
        self._controller.limits_changed()

    def remove(self) -> None:
        """Forget it; all others stay."""
        with self._controller.changed:
            self._controller.breakpoints.remove(self.id)
        self._controller.limits_changed()
