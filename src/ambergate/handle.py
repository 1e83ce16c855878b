"""What users hold of a running job: Job, OperatorHandle, Breakpoint."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from ambergate.channels.gate import NO_LIMIT
from ambergate.controller import job as machine
from ambergate.controller.breakpoints import PositionHit
from ambergate.controller.controller import Controller
from ambergate.debugger.positions import PositionBreakpoint
from ambergate.debugger.stops import Failure, Finished, Hit, PauseReport
from ambergate.durations import seconds
from ambergate.engine import table_of
from ambergate.errors import AmbergateError, JobFailed, JobPaused
from ambergate.messages import RaisedRow, WorkerLost

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
            return PauseReport(False, self.state)
        counts = self._in_flight()
        return PauseReport(True, "paused", (), *counts)

    def resume(self) -> None:
        """Go on: rows that raised are retried first. No effect on a job that runs or has ended."""
        self._controller.feed(machine.ResumeAsked())

    def stop(self, timeout: float | str = "30s") -> None:
        """End the job now; what was not committed is removed. Idempotent."""
        self._controller.feed(machine.StopAsked())
        self._controller.join(seconds(timeout) or 30.0)

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
                lambda: controller.machine.ended
                or (controller.machine.state == "paused" and bool(controller.machine.stops)),
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
        below = self._downstream(after)
        keys = [(name, task) for name in below for task in self._tasks(name)]
        self._must_stand("drain")
        deadline = time.monotonic() + (seconds(timeout) or 60.0)
        self._open(keys)
        try:
            while self._rows_into(below) or any(
                controller.gates[key].is_running() for key in keys
            ):
                if time.monotonic() > deadline:
                    raise TimeoutError(
                        f"waited {timeout} for {', '.join(below)} to consume "
                        f"{self._rows_into(below)} rows"
                    )
                time.sleep(0.001)
        finally:
            self._close(keys)

    def stats(self) -> pa.Table:
        """Counters of every task, from shared memory: served whatever the tasks are doing.

        Returns
        -------
        pyarrow.Table
            One row per task, ordered by operator and task; times in nanoseconds.
        """
        rows = []
        for (operator, task) in self._controller.gates:
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
                raise AmbergateError(f"result() needs a name: there are {', '.join(names) or 'none'}")
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
            failed.__cause__ = _exception_of(cause)
            return failed
        if isinstance(cause, WorkerLost):
            return JobFailed(f"worker {cause.worker}", text=_death(cause))
        failed = JobFailed("controller", type_name=type(cause).__name__, text=str(cause))
        failed.__cause__ = cause if isinstance(cause, BaseException) else None
        return failed

    # parts of the above

    def _stop(self) -> Hit | Failure | None:
        stops = [self._seen(each) for each in list(self._controller.machine.stops)]
        if not stops:
            return None
        first, others = stops[0], tuple(stops[1:])
        return type(first)(*[getattr(first, f) for f in first.__slots__[:-1]], others)

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
            _exception_of(stop),
            stop.frames,
        )

    def _in_flight(self) -> tuple[int, int]:
        rows = nbytes = 0
        for worker in range(self._controller.plan.workers):
            counts, _ = self._controller.ask_worker(worker, "in_flight")
            for task in counts:
                if self._controller.plan.operator(task["operator"]).role != "source":
                    rows += sum(task["queued"])
                    nbytes += task["queued_bytes"]
        return rows, nbytes

    def _must_stand(self, what: str) -> None:
        if self.state != "paused":
            raise AmbergateError(f"{what} needs a paused job; this one is {self.state}")

    def _tasks(self, operator: str) -> range:
        return range(self._controller.plan.operator(operator).tasks)

    def _downstream(self, name: str) -> list[str]:
        plan = self._controller.plan
        reached = {plan.operator(name).index}
        below = []
        for operator in plan.operators:
            if any(edge.source in reached for _, edge in plan.inputs_of(operator.index)):
                reached.add(operator.index)
                below.append(operator.name)
        return below

    def _rows_into(self, operators: list[str]) -> int:
        """Rows queued before any task of ``operators``, by the counts in shared memory."""
        total = 0
        for worker in range(self._controller.plan.workers):
            counts, _ = self._controller.ask_worker(worker, "in_flight")
            for task in counts:
                if task["operator"] in operators:
                    total += sum(task["queued"]) + task["pending"]
        return total

    def _open(self, keys: list[tuple[str, int]], limits: dict[Any, int] | None = None) -> None:
        controller = self._controller
        with controller.changed:
            controller.machine.turn += 1
            for key in keys:
                limit = (limits or {}).get(key, controller.breakpoints.limit(*key))
                controller.gates[key].open(controller.machine.turn, limit)
            controller.ring()

    def _close(self, keys: list[tuple[str, int]]) -> None:
        controller = self._controller
        with controller.changed:
            controller.machine.turn += 1
            for key in keys:
                controller.gates[key].close(controller.machine.turn)
        deadline = time.monotonic() + 60.0
        while any(controller.gates[key].is_running() for key in keys):
            if time.monotonic() > deadline:
                raise TimeoutError("waited 60 s for a step to end")
            time.sleep(0.0005)


class OperatorHandle:
    """One operator of a running job."""

    def __init__(self, controller: Controller, name: str):
        self._controller, self.name = controller, name
        self._job = Job(controller)

    def __repr__(self) -> str:
        return f"<operator {self.name!r} of a job that is {self._job.state}>"

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
        if self._job.state == "paused":
            answer, _ = controller.ask(self.name, task, "inspect")
            tables = {name: _table(stream) for name, stream in answer.pop("state").items()}
            seen |= answer
            seen["tables"] = tables
        return seen

    def held(self, task: int = 0) -> dict[str, Any] | None:
        """The row at the task's position, not yet processed; None where none has come."""
        self._job._must_stand("held")
        return self._controller.ask(self.name, task, "held")[0]

    def queued(self, task: int = 0) -> pa.Table:
        """Rows that wait before the task, the held one first; the job must stand."""
        self._job._must_stand("queued")
        streams, _ = self._controller.ask(self.name, task, "queued")
        schemas = self._controller.plan.operator(self.name).inputs
        tables = [_table(stream) for _, stream in streams]
        if tables:
            return pa.concat_tables(tables, promote_options="default")
        return schemas[0].empty_table() if schemas else pa.table({})

    def step(self, n: int = 1, task: int | None = None, timeout: float | str = "10s") -> dict[int, int]:
        """Let a task of a paused job consume exactly ``n`` rows; all others stand.

        Returns
        -------
        dict
            The operator's positions afterwards. Fewer rows than ``n`` where no more are at hand.
        """
        self._job._must_stand("step")
        if task is None:
            if self.tasks > 1:
                raise AmbergateError(f"operator {self.name!r} has {self.tasks} tasks; say task=")
            task = 0
        key = (self.name, task)
        gate = self._controller.gates[key]
        target = gate.position + n
        deadline = time.monotonic() + (seconds(timeout) or 10.0)
        self._job._open([key], {key: target})
        try:
            while gate.position < target and not self._idle(key):
                if time.monotonic() > deadline:
                    raise TimeoutError(
                        f"waited {timeout} for operator {self.name!r}, task {task} to step; "
                        "a function has not returned"
                    )
                time.sleep(0.0002)
        finally:
            self._job._close([key])
        return self.positions

    def _idle(self, key: tuple[str, int]) -> bool:
        """Whether a task has nothing it can do, in two looks 20 ms apart."""
        gate = self._controller.gates[key]
        before = (gate.position, gate.read()["busy_ns"])
        if gate.is_running() or self._controller.state_of(*key) == "finished":
            return not gate.is_running()
        time.sleep(0.02)
        return (gate.position, gate.read()["busy_ns"]) == before and not gate.is_running()


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


def _exception_of(raised: RaisedRow) -> BaseException | None:
    if raised.pickled is None:
        return None
    try:
        return pickle.loads(raised.pickled)
    except Exception:  # its class cannot be made here; type, text and frames say the rest
        return None


def _death(lost: WorkerLost) -> str:
    import signal

    if lost.code < 0:
        try:
            how = f"was killed by {signal.Signals(-lost.code).name}"
        except ValueError:
            how = f"was killed by signal {-lost.code}"
    else:
        how = f"ended with exit code {lost.code}"
    words = f"; its last words:\n{lost.last_words}" if lost.last_words else ""
    return f"the process {how} while the job ran{words}"


def _table(stream: Any) -> pa.Table:
    return pa.ipc.open_stream(stream).read_all()


__all__ = ["NO_LIMIT", "Breakpoint", "Job", "OperatorHandle"]
