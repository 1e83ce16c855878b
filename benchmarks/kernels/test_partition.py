"""Hashing rows, and dealing a batch to the tasks of a keyed operator."""

import numpy as np
import pytest

from ambergate.kernels.hashing import hash_rows
from ambergate.kernels.partition import partition_batch


@pytest.mark.parametrize("column", ["key", "value", "text"])
def test_hash_one_column(per_row, batch, column):
    keys = batch.column(column)
    hashes = np.empty(len(keys), dtype=np.uint64)
    per_row(len(keys), hash_rows, [keys], 0, len(keys), hashes)
    assert len(np.unique(hashes)) == len(keys.unique())


@pytest.mark.parametrize("tasks", [2, 8])
def test_partition_two_narrow_columns(per_row, batch, tasks):
    narrow = batch.select(["key", "value"])
    parts = per_row(batch.num_rows, partition_batch, narrow, (0,), tasks)
    assert sum(part.num_rows for part in parts if part is not None) == batch.num_rows
