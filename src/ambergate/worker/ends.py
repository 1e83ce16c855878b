"""The executors at both ends of a dataflow: sources, file sinks, results for the caller."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from ambergate.channels.gate import DONE, FULL, STOPPED, Gate
from ambergate.operators.base import OUTPUT_ROWS, Progress
from ambergate.worker.io_thread import WritePump


class SourceExecutor:
    """Passes on what the reader brought, as far as the gate allows, in batches of ``rows``."""

    def __init__(self, rows: int = OUTPUT_ROWS):
        self.rows = rows

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """Emit rows ``start`` to the gate's limit."""
        most = min(stop, start + self.rows)
        end = gate.rows(start, most)
        whole = start == 0 and end == batch.num_rows
        made = batch if whole else batch.slice(start, end - start)
        status = DONE if end == stop else FULL if end == most else STOPPED
        return Progress(status, end, (made,))

    def end(self, port: int) -> Iterator[pa.RecordBatch]:
        """A source has nothing more to say at its end."""
        return iter(())

    def snapshot(self) -> Any:
        """The position is the state."""
        return None

    def restore(self, state: Any) -> None:
        """Nothing to restore."""

    def describe(self) -> dict[str, pa.Table]:
        """No state."""
        return {}


class FileSinkExecutor(SourceExecutor):
    """Hands rows to the writer on the I/O thread; FULL while that is behind."""

    def __init__(self, pump: WritePump):
        super().__init__()
        self.pump = pump

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """Queue rows ``start`` to the gate's limit for writing."""
        end = gate.rows(start, stop)
        if end > start and not self.pump.offer(batch.slice(start, end - start)):
            return Progress(FULL, start)
        return Progress(DONE if end == stop else STOPPED, end)

    def close(self) -> bool:
        """Whether all is written and closed (still invisible)."""
        return self.pump.finish()


class ResultExecutor(SourceExecutor):
    """Keeps the rows for the caller: the worker's part of ``to_table`` and ``collect``."""

    def __init__(self, schema: pa.Schema):
        super().__init__()
        self.schema = schema
        self.batches: list[pa.RecordBatch] = []

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """Keep rows ``start`` to the gate's limit."""
        end = gate.rows(start, stop)
        if end > start:
            self.batches.append(batch.slice(start, end - start))
        return Progress(DONE if end == stop else STOPPED, end)

    def snapshot(self) -> Any:
        """The rows so far."""
        return pa.Table.from_batches(self.batches, schema=self.schema)

    def restore(self, state: Any) -> None:
        """Take them back."""
        self.batches = state.to_batches()

    def describe(self) -> dict[str, pa.Table]:
        """The rows so far."""
        return {"rows": self.snapshot()}
