"""What sinks made: rows kept for the caller, fetched by descriptor, and outputs made visible."""

from __future__ import annotations

import mmap
import os
from typing import TYPE_CHECKING

import pyarrow as pa

from ambergate.controller import job as machine

if TYPE_CHECKING:
    from ambergate.controller.controller import Controller

FETCH_S = 600.0
COMMIT_S = 600.0


def prepare(controller: Controller) -> None:
    """Fetch all results, and see that every worker can make its outputs visible."""
    for operator in controller.plan.operators:
        if operator.kind == "to_table":
            for task in range(operator.tasks):
                rows = fetch(controller, operator.name, task)
                controller.results[(operator.name, task)] = rows
    for number in range(controller.plan.workers):
        controller.ask_worker(number, "prepare", timeout_s=COMMIT_S)
    controller.feed(machine.Prepared())


def commit(controller: Controller) -> None:
    """Make every worker's outputs visible."""
    for number in range(controller.plan.workers):
        controller.ask_worker(number, "commit", timeout_s=COMMIT_S)
        controller.feed(machine.Committed(number))


def fetch(controller: Controller, operator: str, task: int) -> list[pa.RecordBatch]:
    """The rows one task of a result sink holds so far; they stay where the worker wrote them."""
    nbytes, (descriptor,) = controller.ask(operator, task, "result", timeout_s=FETCH_S)
    try:
        mapped = mmap.mmap(descriptor, max(nbytes, 1), prot=mmap.PROT_READ)
    finally:
        os.close(descriptor)
    with pa.ipc.open_stream(pa.py_buffer(memoryview(mapped)[:nbytes])) as stream:
        return list(stream)


def table_of(controller: Controller, operator: str) -> pa.Table:
    """The rows of a result sink as one table, task by task; the job must stand or be over."""
    described = controller.plan.operator(operator)
    parts: list[pa.RecordBatch] = []
    for task in range(described.tasks):
        kept = controller.results.get((operator, task))
        parts += fetch(controller, operator, task) if kept is None else kept
    return pa.Table.from_batches(parts, schema=described.inputs[0])
