import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.channels.gate import DONE, STOPPED, Gate
from ambergate.kernels.reference import selection as reference
from ambergate.kernels.selection import compact, selected_rows, take_array, take_batch
from tests.native.arrays import OTHER_VALUES, VALUES, arrays, batches


@settings(max_examples=80)
@given(arrays([pa.bool_()], max_rows=700), st.lists(st.integers(0, 700), max_size=4))
def test_compact_stopped_anywhere_loses_and_repeats_nothing(mask, stops):
    gate = Gate()
    gate.reset()
    rows, cursor = [], 0
    for limit in [*sorted(stops), len(mask)]:
        gate.set_limit(limit)
        indices = np.zeros(len(mask) - cursor, np.int64)
        status, cursor, count = compact(mask, cursor, len(mask), gate, indices)
        assert cursor == min(max(limit, cursor), len(mask))
        assert status == (DONE if cursor == len(mask) else STOPPED)
        rows += indices[:count].tolist()
    assert rows == reference.compact(mask, 0, len(mask)) == selected_rows(mask).tolist()


def equal(found, expected):
    found.validate(full=True)
    assert found.type == expected.type
    assert found.null_count == expected.null_count
    assert str(found.to_pylist()) == str(expected.to_pylist())  # NaN and -0.0 too


@settings(max_examples=150)
@given(batch=batches([*VALUES, *OTHER_VALUES]), choices=st.data(), missing=st.booleans())
def test_take_batch_is_that_of_the_reference(batch, choices, missing):
    least = -1 if missing or not batch.num_rows else 0
    rows = st.integers(least, batch.num_rows - 1)
    indices = np.array(choices.draw(st.lists(rows, max_size=30)), np.int64)
    found = take_batch(batch, indices, missing or not batch.num_rows)
    assert found.schema == batch.schema and found.num_rows == len(indices)
    for column, source in zip(found.columns, batch.columns, strict=True):
        equal(column, reference.gather(source, indices.tolist()))


@given(arrays([*VALUES, *OTHER_VALUES], rows=5))
def test_a_row_outside_is_refused(column):
    for bad in ([5], [0, -1], [1 << 40]):
        with pytest.raises(IndexError, match="5 rows"):
            take_array(column, np.array(bad))


def test_a_batch_without_columns_keeps_its_row_count():
    batch = pa.record_batch({"a": [1, 2, 3]}).select([])
    assert take_batch(batch, np.array([0, 2])).num_rows == 2


def test_what_was_taken_outlives_its_source():
    batch = pa.record_batch({"a": ["x" * 100] * 50, "b": list(range(50))})
    taken = take_batch(batch, np.arange(10, 20))
    column = taken.column(0)
    del batch, taken
    assert column.to_pylist() == ["x" * 100] * 10


def test_bad_masks_are_refused():
    indices = np.zeros(2, np.int64)
    with pytest.raises(TypeError, match="int64"):
        compact(pa.array([1, 2]), 0, 2, None, indices)
    with pytest.raises(ValueError, match="holds 2 of 3"):
        compact(pa.array([True] * 3), 0, 3, None, indices)
    with pytest.raises(ValueError, match="outside"):
        compact(pa.array([True]), 0, 2, None, indices)
