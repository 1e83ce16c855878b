"""Rows kept as sorted runs, and given back in order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ambergate.kernels.gathering import ChunkedRows
from ambergate.kernels.selection import take_batch
from ambergate.kernels.sorting import Keys, Merge, sort_run
from ambergate.operators.base import LIBRARY_ROWS, OUTPUT_ROWS
from ambergate.operators.ordering import Ordering

__all__ = ["SortedRuns"]

OUTPUT_BYTES = 8 << 20  # of one merged batch, about


class SortedRuns:
    """Rows in runs of LIBRARY_ROWS or more, each sorted when it is full, merged on demand.

    No call does more work than sorting one run or merging one batch, however many rows are kept;
    one merge takes all runs at once (30 ns a row for 2,000 runs, so levels do not pay).

    Parameters
    ----------
    schema : pyarrow.Schema
        Of all rows.
    ordering : Ordering
    """

    __slots__ = ("_bytes", "_keys", "_pending", "_pending_rows", "_rows", "ordering")

    def __init__(self, schema: pa.Schema, ordering: Ordering):
        self.ordering = ordering
        self._rows = ChunkedRows(schema)
        self._keys: list[Keys] = []
        self._bytes = 0
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = 0

    @property
    def rows(self) -> int:
        """Rows kept."""
        return self._rows.rows + self._pending_rows

    def add(self, batch: pa.RecordBatch) -> None:
        """Keep ``batch`` of LIBRARY_ROWS or fewer; it must stay valid."""
        self._pending.append(batch)
        self._pending_rows += batch.num_rows
        if self._pending_rows >= LIBRARY_ROWS:
            self.seal()

    def seal(self) -> None:
        """Make a sorted run of what is not yet in one."""
        if self._pending_rows:
            pending = self._pending
            whole = pending[0] if len(pending) == 1 else pa.concat_batches(pending)
            keys, indices = sort_run(*self.ordering.keys(whole), 0, whole.num_rows)
            places = np.frombuffer(indices, np.int64)
            self.append(take_batch(whole, places), keys)
        self._pending, self._pending_rows = [], 0

    def append(self, batch: pa.RecordBatch, keys: Keys | None = None) -> None:
        """Keep ``batch``, sorted already, as a run of its own."""
        if keys is None:
            keys, _ = sort_run(*self.ordering.keys(batch), 0, batch.num_rows)
        self._rows.append(batch)
        self._keys.append(keys)
        self._bytes += batch.nbytes

    def extend(self, runs: SortedRuns) -> None:
        """Keep all rows of ``runs`` too; they count as later ones."""
        self.seal()
        for batch, keys in zip(runs._rows.batches, runs._keys, strict=True):
            self.append(batch, keys)
        self._pending, self._pending_rows = list(runs._pending), runs._pending_rows

    def batches(self) -> tuple[pa.RecordBatch, ...]:
        """All rows, a sorted batch for each run, in the order the runs came."""
        self.seal()
        return tuple(self._rows.batches)

    def to_table(self) -> pa.Table:
        """All rows, run after run."""
        self.seal()
        return self._rows.to_table()

    def last_key(self) -> tuple[Keys, int]:
        """The key of the last row of the last run."""
        return self._keys[-1], len(self._keys[-1]) - 1

    def merged(self, first: int = 0, most: int | None = None) -> Iterator[pa.RecordBatch]:
        """Rows from ``first`` on of the whole order, ``most`` of the order in all.

        Equal rows come in the order of the runs. Batches have OUTPUT_ROWS or fewer, so that a
        caller can leave between any two; the rows are kept.
        """
        self.seal()
        merge, places = Merge(self._keys), np.empty(OUTPUT_ROWS, np.int64)
        left = merge.rows if most is None else min(most, merge.rows)
        while first > 0 and left > 0:
            count = min(OUTPUT_ROWS, first, left)
            merge.pull(places, 0, count)
            first, left = first - count, left - count
        row_bytes = max(self._bytes // max(self.rows, 1), 1)
        piece = min(max(OUTPUT_BYTES // row_bytes, 1), OUTPUT_ROWS)
        while left > 0:
            count = min(piece, left)
            merge.pull(places, 0, count)
            left -= count
            yield from self._gather(places, 0, count)

    def _gather(self, places: np.ndarray, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        try:
            batch = self._rows.gather_batch(places, start, stop)
        except OverflowError:
            if stop - start == 1:
                raise
            middle = (start + stop) // 2
            yield from self._gather(places, start, middle)
            yield from self._gather(places, middle, stop)
        else:
            yield batch
