"""The gate as Python sees it: the native class and the words of its states."""

from __future__ import annotations

from enum import IntEnum

from ambergate_native.gate import DONE, FULL, GATE_BYTES, NO_LIMIT, RAISED, STOPPED, Gate

__all__ = ["DONE", "FULL", "GATE_BYTES", "NO_LIMIT", "RAISED", "STOPPED", "Gate", "TaskState"]


class TaskState(IntEnum):
    """What a task tells of itself in its report line."""

    STARTING = 0
    RUNNING = 1  # between steps or inside one, gate open
    IDLE = 2  # no input at hand
    BLOCKED = 3  # no room downstream
    HELD = 4  # at its position limit
    RAISED = 5  # at a row that raised
    FINISHED = 6
