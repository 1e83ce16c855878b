"""One task: positions, the row at hand, and bounded steps of an executor under a gate.

A step is *compute* (rows from the cursor on, as far as the gate's limit) then *release* (pending
outputs go on, as far as there is room). It begins only under an open gate and ends with the
position stored, so a task that is not inside a step stands exactly between two rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter_ns
from typing import Any

from ambergate.batch import ROWS, End, Rows, Skipped, shown_row
from ambergate.channels.gate import DONE, RAISED, Gate, TaskState
from ambergate.worker.inputs import Port, Reader
from ambergate.worker.outputs import Outputs


class Task:
    """The runtime of one task; driven by the data thread, looked at by others while it stands.

    Parameters
    ----------
    operator, number : whose task, and which
    executor : its runtime half
    ports : its inputs; a source's single port reads from its I/O pump
    first_port : the port to read to its end before the others, or None
    outputs : its way out
    gate : what holds it between two rows
    report : called with the event's word and arguments: ``held``, ``raised``, ``finished``
    """

    def __init__(
        self,
        operator: str,
        number: int,
        executor: Any,
        ports: list[Port],
        outputs: Outputs,
        gate: Gate,
        report: Callable[..., None],
        first_port: int | None = None,
        passes_skipped: bool = False,
    ):
        self.operator, self.number = operator, number
        self.executor, self.ports, self.outputs, self.gate = executor, ports, outputs, gate
        self.first_port, self.passes_skipped = first_port, passes_skipped
        self.position = 0
        self.item: Any = None  # the batch at hand
        self.port: Port | None = None  # where it came in
        self.reader: Reader | None = None
        self.cursor = 0
        self.error: BaseException | None = None
        self.finished = False
        self._report = report
        self._ending: list[Iterator[Any]] = []
        self._open_ports = list(ports)
        self._marked = False  # the end of the output is queued
        self._moved = False  # the last look for input changed something without bringing a batch
        self._held_at = -1
        self._state = TaskState.STARTING
        self._waited_ns = perf_counter_ns()

    def step(self) -> bool:
        """One bounded step; whether anything moved."""
        if self.finished or self.error is not None or not self.gate.enter():
            return False
        began = perf_counter_ns()
        try:
            moved = self._advance()
        except BaseException as error:  # a fault of an executor outside any row
            self._raise(error, retryable=False)
            moved = True
        finally:
            now = perf_counter_ns()
            if self._state == TaskState.BLOCKED:
                self.gate.add("blocked_ns", began - self._waited_ns)
            elif self._state == TaskState.IDLE:
                self.gate.add("idle_ns", began - self._waited_ns)
            self.gate.add("busy_ns", now - began)
            self._waited_ns = now
            self.gate.leave()
        return moved

    def _advance(self) -> bool:
        outputs = self.outputs
        if outputs.unsent:
            outputs.send_rest()
        if outputs and not self._hand_on():
            return self._tell(TaskState.BLOCKED)
        if outputs:
            self._tell(TaskState.BLOCKED)
            return True
        if outputs.unwanted and not self._marked:
            self._need_no_more()
        if self._marked:
            return self._finish()
        if self._ending:
            return self._emit_end()
        if self.item is None and not self._take():
            if not self._open_ports and not self._ending:
                outputs.mark(End())
                self._marked = self._moved = True
            return self._moved or self._tell(TaskState.IDLE)
        return self._compute()

    def _compute(self) -> bool:
        item, cursor, gate = self.item, self.cursor, self.gate
        port, reader = self.port, self.reader
        assert port is not None
        assert reader is not None
        stop = item.num_rows
        gate.at(self.position - cursor)
        if gate.rows(cursor, stop) == cursor and stop > cursor:
            return self._hold()
        self._tell(TaskState.RUNNING)
        if isinstance(item, Skipped):
            end = gate.rows(cursor, stop)
            made = [item.slice(cursor, end - cursor)] if self.passes_skipped else []
            status, error = DONE, None
        else:
            status, end, made, error = self.executor.process(port.number, item, cursor, stop, gate)
        rows = end - cursor
        self.position += rows
        self.cursor = end
        port.consumed_rows += rows
        reader.consumed(rows)
        if made:
            self.outputs.add(made)
            if gate.turn % 2 == 0:  # asked to stand meanwhile: it waits for the next step
                self._hand_on()
        gate.advance(self.position, self.outputs.released_rows)
        gate.add("steps", 1)
        if end == stop:
            self.item = self.reader = None
            reader.pop()
            gate.add("batches", 1)
        if status == RAISED:
            self._raise(error, retryable=True)
        elif getattr(self.executor, "satisfied", False):
            self._need_no_more()
        return rows > 0 or bool(made) or status == RAISED

    def _take(self) -> bool:
        """Bring the next batch to hand; ends of ports become endings to emit."""
        self._moved = False
        first = self.first_port
        for port in list(self._open_ports):
            if first is not None and port.number != first and not self.ports[first].ended:
                self._moved = port.stash() or self._moved
                continue
            found = port.next()
            if found is not None:
                self.reader, self.item = found
                self.port, self.cursor = port, 0
                return True
            if port.ended:
                self._open_ports.remove(port)
                self._ending.append(iter(self.executor.end(port.number)))
                self._moved = True
                return False
        return False

    def _emit_end(self) -> bool:
        self._tell(TaskState.RUNNING)
        batch = next(self._ending[0], None)
        if batch is None:
            self._ending.pop(0)
            return True
        self.outputs.add([batch])
        self._hand_on()
        self.gate.advance(self.position, self.outputs.released_rows)
        return True

    def _hand_on(self) -> bool:
        moved = self.outputs.release()
        self.gate.tell("bytes_out", self.outputs.released_bytes)
        self.gate.advance(self.position, self.outputs.released_rows)
        return moved

    def _hold(self) -> bool:
        self._tell(TaskState.HELD)
        if self._held_at != self.position:
            self._held_at = self.position
            self._report("held", self)
        return False

    def _raise(self, error: BaseException | None, retryable: bool) -> None:
        self.error = error or RuntimeError("a row raised without an exception")
        self._tell(TaskState.RAISED)
        self._report("raised", self, self.error, retryable)

    def _need_no_more(self) -> None:
        """End early: nobody wants more of this task, or it wants no more itself."""
        for port in self._open_ports:
            port.close()
        self._open_ports = []
        self.item = self.reader = None
        self._ending = []
        if self.outputs.unwanted:
            self.outputs.waiting.clear()
            self.outputs.parts.clear()
            self.outputs.releasing = 0

    def _finish(self) -> bool:
        if not self.outputs.flush():
            return self._tell(TaskState.BLOCKED)
        close = getattr(self.executor, "close", None)
        if close is not None and not close():
            return self._tell(TaskState.BLOCKED)
        self.finished = True
        self._tell(TaskState.FINISHED)
        self._report("finished", self)
        return True

    def _tell(self, state: TaskState) -> bool:
        """Store the state in the report line; False, for callers that did not move."""
        if state is not self._state:
            self._state = state
            self.gate.tell("state", state)
        return False

    # looked at, and repaired, while the task stands

    def retry(self) -> None:
        """Let the row that raised be run again when the gate opens."""
        self.error = None
        self._tell(TaskState.RUNNING)

    def held(self) -> dict[str, Any] | None:
        """The row at the position, if it has come; nothing is consumed."""
        item, cursor = self.item, self.cursor
        if item is None:
            for port in self._open_ports:
                for reader in port.open:
                    queued = reader.items()
                    if queued and isinstance(queued[0], ROWS):
                        return _row(queued[0], 0)
            return None
        return None if cursor >= item.num_rows else _row(item, cursor)


def _row(item: Rows, place: int) -> dict[str, Any] | None:
    """One row as a dict; a skipped one is read for it."""
    one = item.slice(place, 1)
    found = one.rows() if isinstance(one, Skipped) else one
    return None if found is None else shown_row(found, 0)
