"""The control side of a worker: answers the controller while the data thread runs or stands.

It touches a task only where the controller has closed that task's gate and seen it standing; all
else is read from the gate's page, in shared memory, without asking the worker.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from ambergate.batch import ROWS, Skipped
from ambergate.channels.link import Link
from ambergate.channels.memory import Memory
from ambergate.messages import Answer, Ask, Leave, TaskFinished, TaskHeld, TaskRaised
from ambergate.worker.deployment import Deployment
from ambergate.worker.report import describe_error
from ambergate.worker.task import Task


class ControlThread:
    """Reads messages until the controller leaves or says so.

    Parameters
    ----------
    link : to the controller
    deployment : the worker's tasks
    """

    def __init__(self, link: Link, deployment: Deployment):
        self.link, self.deployment = link, deployment
        self.muted = False  # in a child that a user's function forked
        self._answers: dict[str, Callable[[Ask], Any]] = {
            "held": self._held,
            "inspect": self._inspect,
            "queued": self._queued,
            "retry": self._retry,
            "in_flight": self._in_flight,
            "prepare": self._prepare,
            "commit": self._commit,
        }

    def run(self) -> bool:
        """Serve; returns whether unfinished outputs are to be removed."""
        while True:
            received = self.link.receive(timeout_s=5.0)
            if received is None:
                return True
            for message, _ in received:
                if isinstance(message, Leave):
                    return message.abort
                if isinstance(message, Ask):
                    self._answer(message)

    def tell(self, what: str, task: Task, *details: Any) -> None:
        """Send what happened to a task; called on the data thread, rarely."""
        if self.muted:
            return
        if what == "finished":
            self.link.send(TaskFinished(task.operator, task.number))
        elif what == "held":
            self.link.send(TaskHeld(task.operator, task.number, task.position))
        else:
            error, retryable = details
            position = task.position if retryable else -1
            row = task.held() if retryable else None
            self.link.send(
                TaskRaised(
                    describe_error(error, task.operator, task.number, position, row, retryable)
                )
            )

    def _answer(self, ask: Ask) -> None:
        if ask.what == "result":
            self._send_result(ask)
            return
        try:
            reply = Answer(ask.number, self._answers[ask.what](ask))
        except BaseException as error:
            reply = Answer(
                ask.number, error=describe_error(error, ask.operator, ask.task, -1, None, False)
            )
        self.link.send(reply)

    def _task(self, ask: Ask) -> Task:
        return self.deployment.task(ask.operator, ask.task)

    def _held(self, ask: Ask) -> Any:
        return self._task(ask).held()

    def _retry(self, ask: Ask) -> None:
        self._task(ask).retry()
        self.deployment.bell.ring()

    def _queued(self, ask: Ask) -> list[tuple[int, bytes]]:
        """Per channel the port and the queued rows that are not consumed yet, as an IPC stream."""
        task = self._task(ask)
        answer = []
        for port in task.ports:
            for reader in port.readers:
                batches = [
                    item.rows() if isinstance(item, Skipped) else item
                    for item in waiting(task, reader)
                ]
                batches = [batch for batch in batches if batch is not None and batch.num_rows]
                if batches:
                    answer.append((port.number, as_stream(batches)))
        return answer

    def _inspect(self, ask: Ask) -> dict[str, Any]:
        task = self._task(ask)
        return {
            "position": task.position,
            "positions_by_input": {port.number: port.consumed_rows for port in task.ports},
            "held": task.held(),
            "queued_rows": sum(
                item.num_rows for port in task.ports for item in rows_waiting(task, port)
            ),
            "pending_rows": task.outputs.pending_rows,
            "state": {
                name: as_stream(table.to_batches(), table.schema)
                for name, table in task.executor.describe().items()
            },
        }

    def _in_flight(self, ask: Ask) -> list[dict[str, Any]]:
        """Per task the counts that the conservation law is about, each counted on its own."""
        return [
            {
                "operator": task.operator,
                "task": task.number,
                "position": task.position,
                "released": task.outputs.released_rows,
                "pending": task.outputs.pending_rows,
                "pushed": [
                    [getattr(writer, "pushed_rows", 0) for writer in edge.writers]
                    for edge in task.outputs.edges
                ],
                "discarded": [
                    [getattr(writer, "discarded_rows", 0) for writer in edge.writers]
                    for edge in task.outputs.edges
                ],
                "unsent": [
                    [rows_unsent(writer) for writer in edge.writers] for edge in task.outputs.edges
                ],
                "consumed": [port.consumed_rows for port in task.ports],
                "queued": [
                    sum(item.num_rows for item in rows_waiting(task, port)) for port in task.ports
                ],
                "queued_bytes": sum(
                    item.get_total_buffer_size()
                    for port in task.ports
                    for item in rows_waiting(task, port)
                ),
            }
            for task in self.deployment.tasks
        ]

    def _prepare(self, ask: Ask) -> int:
        for sink in self.deployment.sinks:
            sink.writer.prepare()
        return len(self.deployment.sinks)

    def _commit(self, ask: Ask) -> int:
        for sink in self.deployment.sinks:
            sink.writer.commit()
        return len(self.deployment.sinks)

    def _send_result(self, ask: Ask) -> None:
        """Send a sink's rows so far as an IPC stream in anonymous memory, by descriptor."""
        memory = None
        try:
            executor = self._task(ask).executor
            stream = as_stream(executor.batches, executor.schema)
            memory = Memory.create(max(len(stream), 1))
            memory.mapping[: len(stream)] = stream
            self.link.send(Answer(ask.number, len(stream), descriptors=1), (memory.fd,))
        except BaseException as error:
            failure = describe_error(error, ask.operator, ask.task, -1, None, False)
            self.link.send(Answer(ask.number, error=failure))
        finally:
            if memory is not None:
                memory.close()


def rows_waiting(task: Task, port: Any) -> list[Any]:
    """What the channels of ``port`` hold and the task has not consumed, of a task that stands."""
    return [item for reader in port.readers for item in waiting(task, reader)]


def waiting(task: Task, reader: Any) -> list[Any]:
    """The same of one channel: the held row first."""
    queued = [item for item in reader.items() if isinstance(item, ROWS)]
    if reader is task.reader and queued:
        queued[0] = queued[0].slice(task.cursor, queued[0].num_rows - task.cursor)
    return queued


def rows_unsent(writer: Any) -> int:
    """Rows a channel took that its reader cannot see yet: of a batch larger than a ring."""
    return sum(item.num_rows for item in writer.pending() if isinstance(item, ROWS))


def as_stream(batches: list[pa.RecordBatch], schema: pa.Schema | None = None) -> pa.Buffer:
    """Batches of one schema as the bytes of an IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema or batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()
