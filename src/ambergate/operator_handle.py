"""One operator of a running job, as the user holds it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ambergate.breakpoint_handle import Breakpoint
from ambergate.controller.controller import Controller
from ambergate.controller.standing import is_idle, must_stand, run_part
from ambergate.durations import seconds
from ambergate.errors import AmbergateError


class OperatorHandle:
    """One operator of a running job."""

    def __init__(self, controller: Controller, name: str):
        self._controller, self.name = controller, name

    def __repr__(self) -> str:
        return f"<operator {self.name!r} of a job that is {self._controller.state}>"

    @property
    def tasks(self) -> int:
        """How many tasks the operator has."""
        return self._controller.plan.operator(self.name).tasks

    @property
    def positions(self) -> dict[int, int]:
        """Rows consumed since the start of the job, per task (of a source: rows read)."""
        return {
            task: self._controller.page(self.name, task)["position"] for task in range(self.tasks)
        }

    @property
    def positions_by_input(self) -> dict[int, dict[int, int]]:
        """Rows consumed per task and input port; the job must stand."""
        return {task: self.inspect(task)["positions_by_input"] for task in range(self.tasks)}

    def break_at(self, positions: dict[int, int]) -> Breakpoint:
        """Hold each named task when it has consumed that many rows.

        The job stops when all of them stand there or have finished; fires once.

        Parameters
        ----------
        positions : task -> rows consumed, not fewer than it has consumed already
        """
        controller = self._controller
        for task, position in positions.items():
            if task not in range(self.tasks):
                raise KeyError(f"operator {self.name!r} has tasks 0 to {self.tasks - 1}, no {task}")
            reached = controller.page(self.name, task)["position"]
            if position < reached:
                raise AmbergateError(
                    f"operator {self.name!r}, task {task} is at position {reached} already and "
                    f"cannot stop at {position}; set the breakpoint before, with start(paused=True)"
                )
        with controller.changed:
            made = controller.breakpoints.add_positions(
                self.name, positions, controller.finished_tasks
            )
        controller.limits_changed()
        return Breakpoint(controller, made)

    def inspect(self, task: int = 0) -> dict[str, Any]:
        """What one task looks like: state, position, counters, held row, queues, its state.

        While the task is inside a step (a function has not returned) only what stands in shared
        memory is given, with ``state`` *running* or *pausing*.
        """
        controller = self._controller
        page = controller.page(self.name, task)
        seen = {
            "operator": self.name,
            "task": task,
            "state": controller.state_of(self.name, task),
            "position": page["position"],
            "emitted": page["emitted"],
        }
        if self._controller.state == "paused":
            answer, _ = controller.ask(self.name, task, "inspect")
            tables = {name: _table(stream) for name, stream in answer.pop("state").items()}
            seen |= answer
            seen["tables"] = tables
        return seen

    def held(self, task: int = 0) -> dict[str, Any] | None:
        """The row at the task's position, not yet processed; None where none has come."""
        must_stand(self._controller, "held")
        return self._controller.ask(self.name, task, "held")[0]

    def queued(self, task: int = 0) -> pa.Table:
        """Rows that wait before the task, the held one first; the job must stand."""
        must_stand(self._controller, "queued")
        streams, _ = self._controller.ask(self.name, task, "queued")
        schemas = self._controller.plan.operator(self.name).inputs
        tables = [_table(stream) for _, stream in streams]
        if tables:
            return pa.concat_tables(tables, promote_options="default")
        return schemas[0].empty_table() if schemas else pa.table({})

    def step(
        self, n: int = 1, task: int | None = None, timeout: float | str = "10s"
    ) -> dict[int, int]:
        """Let a task of a paused job consume exactly ``n`` rows; all others stand.

        Returns
        -------
        dict
            The operator's positions afterwards. Fewer rows than ``n`` where no more are at hand.
        """
        must_stand(self._controller, "step")
        if task is None:
            if self.tasks > 1:
                raise AmbergateError(f"operator {self.name!r} has {self.tasks} tasks; say task=")
            task = 0
        key = (self.name, task)
        target = self._controller.gates[key].position + n

        def stepped() -> bool:
            gate = self._controller.gates[key]
            return gate.position >= target or is_idle(self._controller, key)

        what = f"operator {self.name!r}, task {task}, to step: a function has not returned"
        run_part(self._controller, [key], stepped, seconds(timeout) or 10.0, what, {key: target})
        return self.positions


def _table(stream: Any) -> pa.Table:
    return pa.ipc.open_stream(stream).read_all()
