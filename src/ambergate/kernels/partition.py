"""Dealing the rows of a batch to tasks by the stable hash of their keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ambergate.kernels.hashing import hashable
from ambergate.kernels.selection import take_batch
from ambergate_native.partition import partition, split
from ambergate_native.views import Views

__all__ = ["partition", "partition_batch", "partition_rows", "split"]

_imported = pa.RecordBatch._import_from_c


def partition_rows(
    columns: list[pa.Array], tasks: int, start: int = 0, stop: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The rows ``start:stop`` listed by task, and where each task's list begins.

    Returns
    -------
    indices, offsets
        int64; task ``t`` gets ``indices[offsets[t]:offsets[t + 1]]``, in the rows' order.
    """
    stop = len(columns[0]) if stop is None else stop
    indices, offsets = np.empty(stop - start, np.int64), np.empty(tasks + 1, np.int64)
    keys = [hashable(column) for column in columns]
    partition(keys, range(len(keys)), start, stop, tasks, indices, offsets)
    return indices, offsets


def partition_batch(
    batch: pa.RecordBatch, keys: Sequence[int], tasks: int
) -> list[pa.RecordBatch | None]:
    """The rows of each task as a batch, in their order; None for a task that gets none.

    Equal keys go to the same task whatever the batch, the width of their type or the machine:
    ``task = (hash >> 57) * tasks // 128``.

    Parameters
    ----------
    batch : pa.RecordBatch
    keys : sequence of int
        Positions of the key columns in the batch.
    tasks : int
        How many tasks there are; beyond 128 (the key groups) some get nothing.

    Raises
    ------
    TypeError
        A key column is of a type that has no hash.
    """
    if tasks == 1:
        return [batch if batch.num_rows else None]
    views = Views(batch)
    if views.native:
        return split(views, keys, tasks, _imported, batch.schema)
    names = batch.schema.names
    columns = [hashable(batch.column(key), names[key]) for key in keys]
    indices, offsets = partition_rows(columns, tasks)
    return [
        take_batch(batch, indices[first:last], views=views) if last > first else None
        for first, last in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    ]
