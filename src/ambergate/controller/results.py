"""Rows that sinks keep for the caller, fetched from the workers by descriptor."""

from __future__ import annotations

import mmap
import os
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from ambergate.controller.controller import Controller

FETCH_S = 600.0


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
