"""Which task a row belongs to, by the stable hash of its keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ambergate.kernels.gathering import ChunkedRows
from ambergate_native.hashing import KEY_GROUPS, hash_rows, partition_rows

__all__ = ["KEY_GROUPS", "hash_rows", "partition_batch", "partition_rows"]


def partition_batch(batch: pa.RecordBatch, keys: tuple[str, ...], tasks: int) -> list[Any]:
    """The rows of ``batch`` for each of ``tasks``, in order; None where a task gets no row.

    Parameters
    ----------
    batch : any rows
    keys : columns whose hash decides
    tasks : 1 to KEY_GROUPS
    """
    rows = batch.num_rows
    if rows == 0:
        return [None] * tasks
    hashes = np.empty(rows, np.uint64)
    places = np.empty(rows, np.int64)
    bounds = np.empty(tasks + 1, np.int64)
    hash_rows([batch.column(key) for key in keys], 0, rows, hashes)
    partition_rows(hashes, rows, tasks, places, bounds)
    chunked = ChunkedRows(batch.schema)
    chunked.append(batch)
    cuts = bounds.tolist()
    parts: list[Any] = []
    for task in range(tasks):
        first, end = cuts[task], cuts[task + 1]
        if first == end:
            parts.append(None)
        elif end - first == rows:
            parts.append(batch)
        else:
            parts.append(chunked.gather_batch(places, first, end))
    return parts
