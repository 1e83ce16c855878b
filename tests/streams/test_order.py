"""Sorting and taking the first rows, against plain Python."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ambergate as ag
from ambergate import col
from tests.sequences import seq
from tests.streams.everywhere import tables

ROWS = st.lists(
    st.tuples(st.none() | st.integers(0, 4), st.none() | st.sampled_from(["", "a", "b"])),
    max_size=20,
)
few = settings(max_examples=20, deadline=None)
SOME = [(1, 1), (4, 3)]


def stream(rows):
    schema = pa.schema({"a": pa.int64(), "b": pa.string(), "place": pa.int64()})
    return ag.from_arrow(
        pa.Table.from_pylist(
            [{"a": a, "b": b, "place": place} for place, (a, b) in enumerate(rows)], schema=schema
        ),
        parallelism=1,
    )


def ordered(rows, descending):
    """By a, then b; nulls last both ways; equal rows in the order they came."""
    found = [(a, b, place) for place, (a, b) in enumerate(rows)]
    for column in (1, 0):
        known = [row for row in found if row[column] is not None]
        # a stable sort of the reversed list, reversed again, keeps the order of equal rows
        known = sorted(
            reversed(known) if descending[column] else known,
            key=lambda row, column=column: row[column],
        )
        if descending[column]:
            known.reverse()
        found = known + [row for row in found if row[column] is None]
    return found


def values(table):
    return [tuple(row.values()) for row in table.to_pylist()]


@few
@given(ROWS, st.tuples(st.booleans(), st.booleans()))
def test_sort(rows, descending):
    made = stream(rows).sort("a", "b", descending=list(descending), name="ordered")
    for where, table in tables(made, SOME):
        assert values(table) == ordered(rows, descending), where


@few
@given(ROWS, st.integers(0, 25), st.booleans())
def test_top(rows, n, descending):
    made = stream(rows).top(n, by=["a", "b"], descending=descending)
    for where, table in tables(made, SOME):
        assert values(table) == ordered(rows, (descending, descending))[:n], where


@pytest.mark.parametrize("n", [0, 1, 10, 999, 1000, 5000])
def test_limit_and_head(backend, n):
    for made in (seq(1000).limit(n), seq(1000).head(n)):
        table = made.collect(backend=backend, workers=2, batch_rows=7)
        ids = table["id"].to_pylist()
        assert len(ids) == len(set(ids)) == min(n, 1000)
        assert set(ids) <= set(range(1000))


def test_limit_of_one_task_takes_the_first(backend):
    source = ag.from_arrow({"x": list(range(10_000))}, parallelism=1)
    assert source.limit(5).collect(backend=backend)["x"].to_pylist() == [0, 1, 2, 3, 4]


def test_limit_ends_a_source_that_never_would(backend):
    def forever():
        number = 0
        while True:
            yield {"x": number}
            number += 1

    source = ag.from_iter(forever, schema={"x": "int64"})
    found = source.head(3).collect(backend=backend, workers=1)
    assert found["x"].to_pylist() == [0, 1, 2]


def test_limit_after_a_sort_keeps_the_order(backend):
    made = seq(1000).sort("v", "id").limit(4)
    oracle = sorted((number * 7919 % 1000, number) for number in range(1000))[:4]
    table = made.collect(backend=backend, workers=2)
    assert list(zip(table["v"].to_pylist(), table["id"].to_pylist(), strict=True)) == oracle


def test_preview_runs_and_head_does_not():
    table = seq(100).preview(3)
    assert isinstance(table, pa.Table)
    assert table.num_rows == 3
    assert seq(100).preview().num_rows == 5
    assert isinstance(seq(100).head(3), type(seq(100)))


def test_what_follows_a_sort_keeps_its_order(backend):
    values = [(i * 7919) % 40_009 for i in range(40_009)]
    rows = ag.from_arrow({"v": values}).sort("v", descending=True)
    kept = (
        rows.filter(col("v") % 3 == 0)
        .map(lambda v: v + 1, columns=["v"], returns={"w": "int64"})
        .select("w")
    )
    table = kept.collect(backend=backend, workers=2, batch_rows=100)
    expected = [v + 1 for v in sorted(values, reverse=True) if v % 3 == 0]
    assert table["w"].to_pylist() == expected
    wide = rows.filter(col("v") >= 0, name="wide", parallelism=2).explain(workers=2)
    assert "wide  [filter, 2 tasks]" in wide
