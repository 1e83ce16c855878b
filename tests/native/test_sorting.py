"""Order-preserving keys, sorted runs and their merge, against plain Python."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.kernels.reference import sorting as reference
from ambergate_native.gate import DONE, STOPPED, Gate
from ambergate_native.merging import Merge
from ambergate_native.ordering import encode_keys
from ambergate_native.sorting import rows_before, sort_run
from tests.native.column_strategies import tables

FLAGS = st.lists(st.booleans(), min_size=3, max_size=3)


def indices_of(buffer: bytearray) -> list[int]:
    return np.frombuffer(buffer, np.int64).tolist()


@given(columns=tables(), descending=FLAGS, nulls_last=FLAGS)
@settings(max_examples=150, deadline=None)
def test_a_run_is_in_order_and_stable(columns, descending, nulls_last):
    orders = descending[: len(columns)], nulls_last[: len(columns)]
    rows = len(columns[0])
    start, stop = rows // 4, rows - rows // 5
    keys, indices = sort_run(columns, *orders, start, stop)
    assert indices_of(indices) == reference.sort_indices(columns, *orders, start, stop)
    assert len(keys) == stop - start


@given(columns=tables(max_rows=25), descending=FLAGS, nulls_last=FLAGS)
@settings(max_examples=100, deadline=None)
def test_whole_keys_compare_as_rows_do(columns, descending, nulls_last):
    orders = descending[: len(columns)], nulls_last[: len(columns)]
    rows = len(columns[0])
    encoded, offsets = encode_keys(columns, *orders, 0, rows)
    ends = np.frombuffer(offsets, np.int64)
    keys = [bytes(encoded[a:b]) for a, b in itertools.pairwise(ends)]
    in_order = sorted(range(rows), key=keys.__getitem__)
    assert in_order == reference.sort_indices(columns, *orders, 0, rows)


@given(columns=tables(columns=1, types=[pa.int64(), pa.string()]), down=st.booleans())
@settings(max_examples=50, deadline=None)
def test_keys_have_the_bytes_that_the_reference_says(columns, down):
    encoded, offsets = encode_keys(columns, [down], [True], 0, len(columns[0]))
    ends = np.frombuffer(offsets, np.int64)
    for row in range(len(columns[0])):
        key = bytes(encoded[ends[row] : ends[row + 1]])
        assert key == reference.sort_key(columns[0], row, down, True)


@given(
    columns=tables(max_rows=120),
    descending=FLAGS,
    nulls_last=FLAGS,
    cuts=st.lists(st.integers(0, 120), max_size=9),
    stops=st.lists(st.integers(0, 120), max_size=6),
)
@settings(max_examples=150, deadline=None)
def test_a_merge_left_anywhere_loses_and_repeats_nothing(
    columns, descending, nulls_last, cuts, stops
):
    orders = descending[: len(columns)], nulls_last[: len(columns)]
    rows = len(columns[0])
    edges = [0, *sorted(min(cut, rows) for cut in cuts), rows]
    runs, keys = [], []
    for start, stop in itertools.pairwise(edges):
        made, indices = sort_run(columns, *orders, start, stop)
        keys.append(made)
        runs.append([column.take(pa.array(indices_of(indices), pa.int64())) for column in columns])
    merge, gate, places = Merge(keys), Gate(), np.empty(rows, np.int64)
    gate.reset()
    gate.at(0)
    cursor = 0
    for stop in [*sorted(min(stop, rows) for stop in stops), rows]:
        gate.set_limit(stop)
        status, cursor = merge.pull(places, cursor, rows, gate)
        assert cursor == stop
        assert status == (DONE if stop == rows else STOPPED)
    assert merge.rows == 0
    pairs = [(place >> 32, place & 0xFFFFFFFF) for place in places.tolist()]
    assert pairs == reference.merge_places(runs, *orders)


@given(columns=tables(), descending=FLAGS, nulls_last=FLAGS, seed=st.integers(0, 99))
@settings(max_examples=100, deadline=None)
def test_rows_before_a_bar_leave_out_its_equals(columns, descending, nulls_last, seed):
    orders = descending[: len(columns)], nulls_last[: len(columns)]
    rows = len(columns[0])
    if not rows:
        return
    bar = seed % rows
    keys, _ = sort_run(columns, *orders, bar, bar + 1)
    found = rows_before(columns, *orders, keys, 0, 0, rows)
    assert indices_of(found) == reference.rows_before(columns, *orders, bar)


def test_only_the_first_rows_are_kept_when_asked():
    keys, indices = sort_run([pa.array([3, 1, 2])], [False], [True], 0, 3, 2)
    assert indices_of(indices) == [1, 2]
    assert len(keys) == 2


@pytest.mark.parametrize("rows", [0, 1, 255, 256, 257, 5000])
def test_long_runs_agree_with_numpy(rows):
    values = np.random.default_rng(rows).integers(-(2**62), 2**62, rows)
    _, indices = sort_run([pa.array(values)], [False], [True], 0, rows)
    np.testing.assert_array_equal(indices_of(indices), np.argsort(values, kind="stable"))


def test_types_without_an_order_are_refused():
    with pytest.raises(TypeError, match=r"list<item: int64> have no order"):
        sort_run([pa.array([[1]])], [False], [True], 0, 1)
    with pytest.raises(TypeError, match="no order"):
        sort_run([pa.array(["a"]).dictionary_encode()], [False], [True], 0, 1)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="rows 0:4 are outside 0:3"):
        sort_run([pa.array([1, 2, 3])], [False], [True], 0, 4)
    with pytest.raises(ValueError, match="each key column needs one of each"):
        sort_run([pa.array([1, 2, 3])], [], [True], 0, 3)
    merge = Merge([])
    with pytest.raises(ValueError, match="1 rows asked for, 0 are left"):
        merge.pull(np.empty(1, np.int64), 0, 1)
