"""Rows by number: masks to row numbers, row numbers to batches. Row numbers are int64."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ambergate_native.selection import compact, gather
from ambergate_native.views import Views

__all__ = ["Views", "compact", "gather", "selected_rows", "take_array", "take_batch"]

_imported = pa.RecordBatch._import_from_c


def selected_rows(mask: pa.Array, start: int = 0, stop: int | None = None) -> np.ndarray:
    """The rows ``start:stop`` of which ``mask`` is true (null is not), as int64.

    >>> selected_rows(pa.array([True, None, False, True]))
    array([0, 3])
    """
    stop = len(mask) if stop is None else stop
    indices = np.empty(stop - start, np.int64)
    _, _, count = compact(mask, start, stop, None, indices)
    return indices[:count]


def take_batch(
    batch: pa.RecordBatch,
    indices: np.ndarray,
    missing: bool = False,
    views: Views | None = None,
) -> pa.RecordBatch:
    """The rows ``indices`` of ``batch``, in that order, copied.

    Parameters
    ----------
    batch : pa.RecordBatch of any types
    indices : int64, contiguous, shape (count,); a row may come several times
    missing : bool
        Negative row numbers give a row of nulls; without it they are an IndexError.
    views : Views, optional
        ``Views(batch)`` where it is at hand, to save its cost.

    Examples
    --------
    >>> batch = pa.record_batch({"a": [1, 2, 3]})
    >>> take_batch(batch, np.array([2, 0])).to_pydict()
    {'a': [3, 1]}
    """
    if views is None:
        views = Views(batch)
    if views.native:
        return gather(views, indices, missing, _imported, batch.schema)
    if not batch.num_columns:
        return gather(views, indices, missing, _imported, batch.schema)
    columns = [take_array(column, indices, missing) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def take_array(column: pa.Array, indices: np.ndarray, missing: bool = False) -> pa.Array:
    """The rows ``indices`` of one array of any type; see ``take_batch``."""
    batch = pa.RecordBatch.from_arrays([column], names=["column"])
    views = Views(batch)
    if views.native:
        return gather(views, indices, missing, _imported, batch.schema).column(0)
    least = int(indices.min(initial=0))
    if (least < 0 and not missing) or int(indices.max(initial=-1)) >= len(column):
        raise IndexError(f"row {least} or {indices.max()} of a column of {len(column)} rows")
    return column.take(pa.array(indices, mask=indices < 0) if least < 0 else pa.array(indices))
