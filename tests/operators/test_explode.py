from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.errors import PlanError
from ambergate.operators.explode import Explode
from tests.operators.drive import drive

LISTS = st.lists(st.none() | st.lists(st.none() | st.integers(0, 9), max_size=4), max_size=60)


@settings(max_examples=60, deadline=None)
@given(
    lists=LISTS,
    size=st.sampled_from([1, 7, 400]),
    stops=st.lists(st.integers(0, 60)),
    alone=st.booleans(),
    of=st.sampled_from([pa.list_(pa.int64()), pa.large_list(pa.int64())]),
    offset=st.integers(0, 3),
)
def test_one_row_per_element_wherever_it_stops(lists, size, stops, alone, of, offset):
    columns = {"l": pa.array(lists, of)}
    if not alone:
        columns = {"n": pa.array(range(len(lists)), pa.int64()), **columns}
    batch = pa.record_batch(columns).slice(offset)
    table, error = drive(Explode("l"), batch, size, stops)
    wanted = [
        (row, element)
        for row, elements in list(enumerate(lists))[offset:]
        for element in elements or [None]
    ]
    assert error is None
    assert table.column("l").to_pylist() == [element for _, element in wanted]
    if not alone:
        assert table.column("n").to_pylist() == [row for row, _ in wanted]


def test_nulls_with_elements_behind_them_make_one_null():
    lists = pa.ListArray.from_arrays(
        pa.array([0, 2, 4, 5]), pa.array([1, 2, 3, 4, 5]), mask=pa.array([False, True, False])
    )
    table, _ = drive(Explode("l"), pa.record_batch({"l": lists}), 7)
    assert table.column("l").to_pylist() == [1, 2, None, 5]


def test_a_long_list_leaves_in_bounded_batches():
    batch = pa.record_batch({"n": [1, 2, 3], "l": [[0], list(range(70_000)), [1]]})
    table, _ = drive(Explode("l"), batch, 400)
    assert table.num_rows == 70_002
    assert max(part.num_rows for part in table.to_batches()) <= 32_768
    assert table.column("n").to_pylist() == [1] + [2] * 70_000 + [3]


def test_fixed_size_lists():
    batch = pa.record_batch({"l": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int8(), 2))})
    assert drive(Explode("l"), batch, 2)[0].column("l").to_pylist() == [1, 2, None, 3, 4]


def test_a_column_that_is_no_list_is_a_plan_error():
    with pytest.raises(PlanError, match="column 't' must be a list, got string"):
        Explode("t").output_schema("words", pa.schema({"t": pa.string()}))
    assert Explode("l").needs(0, frozenset({"n"}), pa.schema({})) == {"l", "n"}
