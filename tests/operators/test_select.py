from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.errors import PlanError
from ambergate.expr import col, lit, when
from ambergate.operators.base import Gate, Seat
from ambergate.operators.drop import Drop
from ambergate.operators.select import Select
from ambergate.operators.with_columns import WithColumns
from tests.operators.drive import drive

SCHEMA = pa.schema({"a": pa.int64(), "b": pa.string()})
ROWS = st.lists(
    st.tuples(st.none() | st.integers(-(2**40), 2**40), st.none() | st.text(max_size=3)),
    max_size=50,
)
SIZES = st.sampled_from([1, 7, 400])
STOPS = st.lists(st.integers(0, 50))


def batch_of(rows) -> pa.RecordBatch:
    columns = [[row[0] for row in rows], [row[1] for row in rows]]
    return pa.record_batch(
        [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )


@settings(max_examples=50, deadline=None)
@given(rows=ROWS, size=SIZES, stops=STOPS)
def test_select_computes_and_forwards(rows, size, stops):
    operator = Select((("c", col("a") * 2 + 1), ("b", col("b")), ("n", col("b").str.length())))
    table, error = drive(operator, batch_of(rows), size, stops)
    assert error is None
    assert table.to_pylist() == [
        {"c": None if a is None else a * 2 + 1, "b": b, "n": None if b is None else len(b)}
        for a, b in rows
    ]


@settings(max_examples=50, deadline=None)
@given(rows=ROWS, size=SIZES, stops=STOPS)
def test_with_columns_replaces_in_place_and_sees_the_input(rows, size, stops):
    operator = WithColumns((("a", col("a") - 1), ("old", col("a")), ("k", lit("x"))))
    table, _ = drive(operator, batch_of(rows), size, stops)
    assert table.column_names == ["a", "b", "old", "k"]
    assert table.to_pylist() == [
        {"a": None if a is None else a - 1, "b": b, "old": a, "k": "x"} for a, b in rows
    ]


@settings(max_examples=20, deadline=None)
@given(rows=ROWS, size=SIZES, stops=STOPS)
def test_drop_forwards_the_rest(rows, size, stops):
    table, _ = drive(Drop(("a",)), batch_of(rows), size, stops)
    assert table.to_pylist() == [{"b": b} for _, b in rows]


@settings(max_examples=30, deadline=None)
@given(bad=st.integers(0, 399), worse=st.integers(0, 399), size=SIZES)
def test_the_first_row_that_raises_in_any_column_is_the_cursor(bad, worse, size):
    a = [2**63 - 1 if n == bad else n for n in range(400)]
    b = ["x" if n == worse else "1" for n in range(400)]
    operator = WithColumns((("c", col("a") + 1), ("d", col("b").cast("int64"))))
    table, error = drive(operator, batch_of(list(zip(a, b, strict=True))), size)
    assert table.num_rows == min(bad, worse)
    assert error is not None


def test_an_output_without_columns_keeps_its_rows():
    executor = Drop(("a", "b")).open(Seat("op", 0, 1), SCHEMA)
    gate = Gate()
    gate.reset()
    (made,) = executor.process(0, batch_of([(1, "x"), (2, "y"), (3, "z")]), 1, 3, gate).outputs
    assert (made.num_rows, made.num_columns) == (2, 0)


def test_a_choice_by_row():
    size = when(col("a") > 9).then("high").when(col("a") > 4).then("mid").otherwise("low")
    table, _ = drive(Select((("s", size),)), batch_of([(10, ""), (5, ""), (None, "")]), 7)
    assert table.column("s").to_pylist() == ["high", "mid", "low"]


def test_pruned_inputs_can_be_opened():
    operator = Select((("a", col("a")), ("n", col("b").str.length())))
    assert operator.needs(0, frozenset({"n"}), SCHEMA) == {"b"}
    table, _ = drive(operator, pa.record_batch({"a": [1], "b": ["xy"]}), 1)
    assert table.column_names == ["a", "n"]
    assert WithColumns((("a", lit(1)),)).needs(0, frozenset({"a", "b"}), SCHEMA) == {"b"}
    assert Drop(("a",)).needs(0, frozenset({"b"}), SCHEMA) == {"b"}


@pytest.mark.parametrize(
    ("operator", "words"),
    [
        (Select((("a", col("a")), ("a", col("b")))), ["two columns", "'a'"]),
        (Select(()), ["no column"]),
        (Select((("c", col("A")),)), ["no column 'A'", "'a'"]),
        (WithColumns((("c", col("a") + col("b")),)), ["cannot add", "column 'b' (string)"]),
        (Drop(("z",)), ["no column 'z'"]),
        (Drop(("a", "b")), ["drops every column"]),
    ],
)
def test_what_does_not_fit_is_a_plan_error(operator, words):
    with pytest.raises(PlanError) as caught:
        operator.output_schema("pick", SCHEMA)
    assert all(word in str(caught.value) for word in ["'pick'", *words])


def test_a_renamed_column_has_its_new_name_where_as_many_columns_go_out_as_came_in():
    batch = pa.record_batch({"a": [1, 2], "b": ["x", "y"]})
    renamed = Select((("c", col("a")), ("b", col("b"))))
    table, _ = drive(renamed, batch, 2)
    assert table.to_pydict() == {"c": [1, 2], "b": ["x", "y"]}
