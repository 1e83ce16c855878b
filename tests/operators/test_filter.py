from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.errors import PlanError
from ambergate.expr import col, lit
from ambergate.operators.filter import Filter
from tests.operators.drive import drive

ROWS = st.lists(
    st.tuples(st.none() | st.integers(-5, 5), st.none() | st.sampled_from(["", "a", "äb"])),
    max_size=60,
)


def batch_of(rows: list[tuple[int | None, str | None]]) -> pa.RecordBatch:
    return pa.record_batch(
        {
            "v": pa.array([v for v, _ in rows], pa.int64()),
            "t": pa.array([t for _, t in rows], pa.string()),
        }
    )


@settings(max_examples=60, deadline=None)
@given(rows=ROWS, size=st.sampled_from([1, 7, 400]), stops=st.lists(st.integers(0, 60)))
def test_keeps_the_rows_that_are_true_wherever_it_stops(rows, size, stops):
    kept = [(v, t) for v, t in rows if v is not None and v > 0]
    table, error = drive(Filter(col("v") > 0), batch_of(rows), size, stops)
    assert error is None
    assert [tuple(row.values()) for row in table.to_pylist()] == kept


@settings(max_examples=40, deadline=None)
@given(rows=ROWS, size=st.sampled_from([1, 7, 400]), stops=st.lists(st.integers(0, 60)))
def test_strings_are_searched_wherever_it_stops(rows, size, stops):
    kept = [(v, t) for v, t in rows if t is not None and "b" in t]
    table, _ = drive(Filter(col("t").str.contains("b$")), batch_of(rows), size, stops)
    assert [tuple(row.values()) for row in table.to_pylist()] == kept


def test_a_sliced_batch_is_read_from_its_offset():
    batch = batch_of([(n % 3, "x") for n in range(50)]).slice(5, 40)
    table, _ = drive(Filter(col("v") == 1), batch, 400)
    assert table.num_rows == sum(n % 3 == 1 for n in range(5, 45))


def test_a_large_batch_leaves_in_bounded_outputs():
    batch = pa.record_batch({"v": pa.array(range(100_000))})
    table, _ = drive(Filter(col("v") >= 0), batch, 100_000)
    assert table.column("v").to_pylist() == list(range(100_000))
    assert max(chunk.num_rows for chunk in table.to_batches()) <= 32_768


def test_a_row_that_raises_keeps_the_rows_before_it():
    batch = pa.record_batch({"v": ["1", "2", "x", "4"]})
    table, error = drive(Filter(col("v").cast("int64") > 0), batch, 400)
    assert table.column("v").to_pylist() == ["1", "2"]
    assert "'x'" in str(error)


@pytest.mark.parametrize(
    ("predicate", "words"),
    [
        (col("v") + 1, ["must be a bool", "int64"]),
        (col("w") > 1, ["no column 'w'", "'v'"]),
        (col("t") > 1, ["column 't' (string)", "1 (int64)", "cast"]),
    ],
)
def test_a_predicate_that_does_not_fit_is_a_plan_error(predicate, words):
    with pytest.raises(PlanError) as caught:
        Filter(predicate).output_schema("search", batch_of([]).schema)
    assert all(word in str(caught.value) for word in ["'search'", *words])


def test_null_and_constant_predicates():
    batch = batch_of([(1, "a")])
    assert drive(Filter(lit(None)), batch, 400)[0].num_rows == 0
    assert drive(Filter(lit(True)), batch, 400)[0].num_rows == 1


def test_needs_what_is_wanted_and_what_it_reads():
    schema = batch_of([]).schema
    assert Filter(col("v") > 0).needs(0, frozenset({"t"}), schema) == {"v", "t"}
