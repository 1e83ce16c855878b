import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.kernels.partition import partition, partition_batch, partition_rows
from ambergate.kernels.reference import selection as reference
from tests.native.arrays import OTHER_VALUES, VALUES, batches
from tests.native.test_hashing import plain

TASKS = st.sampled_from([1, 2, 3, 4, 7, 128, 300])


@settings(max_examples=100)
@given(batch=batches(max_rows=100), tasks=TASKS, part=st.tuples(*[st.integers(0, 100)] * 2))
def test_rows_are_dealt_as_by_the_reference(batch, tasks, part):
    start, stop = sorted(min(row, batch.num_rows) for row in part)
    indices, offsets = partition_rows(batch.columns, tasks, start, stop)
    expected = reference.partition([plain(c) for c in batch.columns], start, stop, tasks)
    assert (indices.tolist(), offsets.tolist()) == expected


@settings(max_examples=100)
@given(batch=batches([*VALUES, *OTHER_VALUES], max_rows=60), tasks=TASKS, keys=st.data())
def test_the_batches_hold_each_row_once_in_order(batch, tasks, keys):
    hashable = [n for n, c in enumerate(batch.columns) if not pa.types.is_nested(c.type)]
    if not hashable:
        return
    chosen = keys.draw(st.lists(st.sampled_from(hashable), min_size=1, max_size=2))
    dealt = partition_batch(batch, chosen, tasks)
    assert len(dealt) == tasks
    _, offsets = partition_rows(
        [column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
         for column in (batch.column(key) for key in chosen)], tasks)  # fmt: skip
    indices, _ = partition_rows([batch.column(key) for key in chosen], tasks)
    for task, part in enumerate(dealt):
        rows = indices[offsets[task] : offsets[task + 1]]
        assert (part is None) == (len(rows) == 0)
        if part is not None:
            part.validate(full=True)
            assert part.schema == batch.schema
            assert str(part.to_pylist()) == str(batch.take(pa.array(rows)).to_pylist())


def test_bad_arguments_are_refused():
    batch = pa.record_batch({"a": [1], "b": [[1]]})
    with pytest.raises(TypeError, match="column 'b' of type list"):
        partition_batch(batch, [1], 2)
    with pytest.raises(IndexError, match="key column 5 of 1"):
        partition_batch(batch.select([0]), [5], 2)
    with pytest.raises(ValueError, match="one key"):
        partition_batch(batch.select([0]), [], 2)
    with pytest.raises(ValueError, match="one task"):
        partition_batch(batch.select([0]), [0], 0)
    with pytest.raises(ValueError, match="hold"):
        partition(batch.select([0]), [0], 0, 1, 2, np.zeros(1, np.int64), np.zeros(2, np.int64))
