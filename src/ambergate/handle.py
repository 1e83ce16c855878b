"""What users hold of a running job."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from ambergate.breakpoint_handle import Breakpoint
from ambergate.controller import job as machine
from ambergate.controller.breakpoints import PositionHit
from ambergate.controller.causes import describe_death, exception_of
from ambergate.controller.controller import Controller
from ambergate.controller.results import table_of
from ambergate.controller.standing import counts, downstream, in_flight, must_stand, run_part
from ambergate.debugger.stops import Failure, Finished, Hit, PauseReport
from ambergate.durations import seconds
from ambergate.errors import AmbergateError, JobFailed, JobPaused
from ambergate.messages import RaisedRow, WorkerLost
from ambergate.operator_handle import OperatorHandle

STATISTICS = pa.schema(
    [
        ("operator", pa.string()),
        ("task", pa.int64()),
        ("state", pa.string()),
        ("rows_in", pa.int64()),
        ("rows_out", pa.int64()),
        ("bytes_out", pa.int64()),
        ("busy_ns", pa.int64()),
        ("blocked_ns", pa.int64()),
        ("idle_ns", pa.int64()),
        ("steps", pa.int64()),
    ]
)


class Job:
    """One run of a dataflow.

    Made by ``ag.start``. As a context manager, leaving it stops the job.
    """

    def __init__(self, controller: Controller):
        self._controller = controller

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        names = ", ".join(operator.name for operator in self._controller.plan.operators)
        return f"<Job {self.state}: {names}>"

    def __getitem__(self, operator: str) -> OperatorHandle:
        self._controller.plan.operator(operator)
        return OperatorHandle(self._controller, operator)

    def __iter__(self) -> Iterator[str]:
        return (operator.name for operator in self._controller.plan.operators)

    @property
    def state(self) -> str:
        """``starting running pausing paused finished failed stopped``."""
        return self._controller.state

    def pause(self, timeout: float | str | None = "5s") -> PauseReport:
        """Let every task stand between two rows.

        Parameters
        ----------
        timeout : seconds, a text such as ``"5s"``, or None for no bound

        Returns
        -------
        PauseReport
            ``paused`` is False, and ``waiting_for`` names the tasks, where a function did not
            return within ``timeout``: the job is *pausing* then, and pauses when it does. Never
            raises; after the job's end it says so in ``state``.
        """
        controller = self._controller
        controller.feed(machine.PauseAsked())
        standing = controller.quiesce(seconds(timeout))
        if not standing:
            return PauseReport(False, self.state, tuple(controller.still_running()))
        if self.state != "paused":
            self._see_the_end(timeout)
            return PauseReport(False, self.state)
        return PauseReport(True, "paused", (), partial(in_flight, controller))

    def resume(self) -> None:
        """Go on: rows that raised are retried first. No effect on a job that runs or has ended."""
        self._controller.feed(machine.ResumeAsked())

    def stop(self, timeout: float | str = "30s") -> None:
        """End the job now and remove its unfinished outputs. Idempotent.

        A job that is making its outputs visible is not stopped half-way: it finishes. TimeoutError
        when the job has not ended in time.
        """
        controller = self._controller
        controller.feed(machine.StopAsked())
        bound = seconds(timeout) or 30.0
        if not controller.join(bound):
            raise TimeoutError(f"waited {bound} s for the job to end; it is {self.state}")

    def wait(self, timeout: float | str | None = None) -> None:
        """Wait for the end.

        Raises
        ------
        JobFailed
            The job failed; its first cause.
        JobPaused
            The job stands: at a breakpoint, at a row that raised, or after ``pause``.
        TimeoutError
            Neither happened in time.
        """
        controller = self._controller
        with controller.changed:
            controller.wait_until(
                lambda: controller.machine.state in ("finished", "failed", "stopped", "paused"),
                seconds(timeout),
                "the job to end",
            )
            state = controller.machine.state
        if state == "paused":
            raise JobPaused(self._stop())
        controller.join(30.0)
        if state == "failed":
            raise self.failure()

    def wait_for_stop(self, timeout: float | str | None = "60s") -> Hit | Failure | Finished:
        """Wait until the job stands at a breakpoint or a failed row, or has ended.

        Level-triggered: answers at once while the job still stands there; at return the job is
        fully paused. A job that fails raises JobFailed; expiry raises TimeoutError.
        """
        controller = self._controller
        with controller.changed:
            controller.wait_until(
                lambda: (
                    controller.machine.ended
                    or (controller.machine.state == "paused" and bool(controller.machine.stops))
                ),
                seconds(timeout),
                "a breakpoint, a failed row or the end",
            )
            state = controller.machine.state
        if state == "paused":
            stop = self._stop()
            assert stop is not None
            return stop
        controller.join(30.0)
        if state == "failed":
            raise self.failure()
        return Finished(state)

    def drain(self, after: str, timeout: float | str = "60s") -> None:
        """Of a paused job, run only what is downstream of ``after`` until nothing is left there.

        The job is paused again at return. TimeoutError names what still holds rows.
        """
        controller = self._controller
        must_stand(controller, "drain")
        below = downstream(controller, after)
        keys = [(name, task) for name, task in controller.gates if name in below]

        def empty() -> bool:
            left = [task for task in counts(controller) if task["operator"] in below]
            return not any(sum(task["queued"]) + task["pending"] for task in left) and not any(
                controller.gates[key].is_running() for key in keys
            )

        names = ", ".join(repr(name) for name in below)
        run_part(controller, keys, empty, seconds(timeout) or 60.0, f"{names} to consume all rows")

    def stats(self) -> pa.Table:
        """Counters of every task, from shared memory: served whatever the tasks are doing.

        Returns
        -------
        pyarrow.Table
            One row per task, ordered by operator and task; times in nanoseconds.
        """
        rows = []
        for operator, task in self._controller.gates:
            page = self._controller.page(operator, task)
            source = self._controller.plan.operator(operator).role == "source"
            rows.append(
                {
                    "operator": operator,
                    "task": task,
                    "state": self._controller.state_of(operator, task),
                    "rows_in": page["position"],
                    "rows_out": page["position"] if source else page["emitted"],
                    **{
                        name: page[name]
                        for name in ("bytes_out", "busy_ns", "blocked_ns", "idle_ns", "steps")
                    },
                }
            )
        rows.sort(key=lambda row: (row["operator"], row["task"]))
        return pa.Table.from_pylist(rows, schema=STATISTICS)

    def result(self, name: str | None = None) -> pa.Table:
        """The rows of ``to_table(name)``: all of a finished job, those so far of a paused one."""
        names = [each.name for each in self._controller.plan.operators if each.kind == "to_table"]
        if name is None:
            if len(names) != 1:
                raise AmbergateError(
                    f"result() needs a name: there are {', '.join(names) or 'none'}"
                )
            name = names[0]
        if name not in names:
            raise KeyError(f"no result is called {name!r}; there are {', '.join(names) or 'none'}")
        if self.state not in ("finished", "paused"):
            raise AmbergateError(
                f"the result {name!r} of a job that is {self.state} cannot be read; "
                "wait() for its end or pause() it"
            )
        return table_of(self._controller, name)

    @property
    def breakpoints(self) -> list[Breakpoint]:
        """All breakpoints, in the order they were set; a copy."""
        with self._controller.changed:
            return [
                Breakpoint(self._controller, each)
                for each in self._controller.breakpoints.all.values()
            ]

    def failure(self) -> JobFailed:
        """Why the job failed, as the exception that ``wait`` raises."""
        cause = self._controller.machine.cause
        if isinstance(cause, RaisedRow):
            failed = JobFailed(
                cause.operator,
                cause.task,
                cause.position,
                cause.row,
                cause.type_name,
                cause.text,
                cause.frames,
            )
            failed.__cause__ = exception_of(cause)
            return failed
        if isinstance(cause, WorkerLost):
            return JobFailed(f"worker {cause.worker}", text=describe_death(cause))
        failed = JobFailed("controller", type_name=type(cause).__name__, text=str(cause))
        failed.__cause__ = cause if isinstance(cause, BaseException) else None
        return failed

    # parts of the above

    def _see_the_end(self, timeout: float | str | None) -> None:
        """All tasks have finished: outputs are being made visible, which a pause lets happen."""
        controller = self._controller
        with controller.changed, contextlib.suppress(TimeoutError):
            controller.wait_until(
                lambda: controller.machine.ended or controller.machine.state == "running",
                seconds(timeout),
                "outputs to become visible",
            )

    def _stop(self) -> Hit | Failure | None:
        stops = [self._seen(each) for each in list(self._controller.machine.stops)]
        if not stops:
            return None
        first, others = stops[0], tuple(stops[1:])
        return replace(first, others=others)

    def _seen(self, stop: Any) -> Hit | Failure:
        if isinstance(stop, PositionHit):
            row, _ = self._controller.ask(stop.operator, stop.task, "held")
            armed = self._controller.breakpoints.all.get(stop.number)
            shown = None if armed is None else Breakpoint(self._controller, armed)
            return Hit(shown, stop.operator, stop.task, stop.position, row)
        return Failure(
            stop.operator,
            stop.task,
            stop.position,
            stop.row,
            stop.type_name,
            stop.text,
            exception_of(stop),
            stop.frames,
        )
