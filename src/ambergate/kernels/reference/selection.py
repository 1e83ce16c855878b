"""Rows by number, one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from ambergate.kernels.reference.hashing import hash_rows


def compact(mask: pa.Array, start: int, stop: int) -> list[int]:
    """The rows ``start:stop`` of which ``mask`` is true; null is not."""
    return [row for row in range(start, stop) if mask[row].as_py()]


def gather(column: pa.Array, indices: Iterable[int]) -> pa.Array:
    """The rows ``indices`` in that order; a negative one gives null."""
    return column.take(pa.array([row if row >= 0 else None for row in indices], pa.int64()))


def partition(
    columns: Sequence[pa.Array], start: int, stop: int, tasks: int
) -> tuple[list[int], list[int]]:
    """The rows ``start:stop`` listed by task, and where each task's list begins."""
    hashes = hash_rows(list(columns), start, stop)
    lists: list[list[int]] = [[] for _ in range(tasks)]
    for row, value in enumerate(hashes, start):
        lists[(value >> 57) * tasks // 128].append(row)
    offsets = [0]
    for rows in lists:
        offsets.append(offsets[-1] + len(rows))
    return [row for rows in lists for row in rows], offsets
