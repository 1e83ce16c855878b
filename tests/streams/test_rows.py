"""Methods that look at one row, or one batch, at a time, against plain Python."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ambergate as ag
from ambergate import col
from tests.streams.everywhere import assert_rows

SCHEMA = pa.schema({"a": pa.int64(), "b": pa.float64(), "s": pa.string()})
ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(-50, 50),
        st.none() | st.sampled_from([-1.5, 0.0, 2.0, 1e9]),
        st.none() | st.text("ab ", max_size=4),
    ),
    max_size=20,
)
few = settings(max_examples=12, deadline=None)


def stream(rows):
    return ag.from_arrow(
        pa.Table.from_pylist([dict(zip("abs", row, strict=True)) for row in rows], schema=SCHEMA)
    )


@few
@given(ROWS)
def test_filter(rows):
    kept = [row for row in rows if row[0] is not None and row[0] > 3]
    assert_rows(stream(rows).filter(col("a") > 3), kept)
    assert_rows(stream(rows).filter(lambda a: a is not None and a > 3, columns=["a"]), kept)
    assert_rows(stream(rows).filter(lambda row: row.a is not None and row["a"] > 3), kept)


@few
@given(ROWS)
def test_select_with_columns_and_drop(rows):
    one_more = [None if a is None else a + 1 for a, _, _ in rows]
    assert_rows(
        stream(rows).select("s", x=col("a") + 1, b=col("b")),
        [(s, x, b) for (_, b, s), x in zip(rows, one_more, strict=True)],
    )
    assert_rows(
        stream(rows).with_columns(a=col("a") + 1, c=col("a")),
        [(x, b, s, a) for (a, b, s), x in zip(rows, one_more, strict=True)],
    )
    assert_rows(stream(rows).drop("a"), [(b, s) for _, b, s in rows])
    assert_rows(stream(rows).select(col("a").alias("name")), [(a,) for a, _, _ in rows])


def words(s):
    return len((s or "").split())


MAPS = {
    "positional": (
        lambda s: s.map(
            lambda a, t: (a or 0) + words(t), columns=["a", "s"], returns={"n": "int64"}
        ),
        lambda a, b, t: (a, b, t, (a or 0) + words(t)),
    ),
    "one row view": (
        lambda s: s.map(lambda row: (row["a"] or 0) + words(row.s), returns={"n": "int64"}),
        lambda a, b, t: (a, b, t, (a or 0) + words(t)),
    ),
    "tuple": (
        lambda s: s.map(
            lambda t: (words(t), t), columns=["s"], returns={"n": "int64", "again": "string"}
        ),
        lambda a, b, t: (a, b, t, words(t), t),
    ),
    "dict": (
        lambda s: s.map(
            lambda t: {"again": t, "n": words(t)},
            columns=["s"],
            returns={"n": "int64", "again": pa.string()},
        ),
        lambda a, b, t: (a, b, t, words(t), t),
    ),
    "replaced": (
        lambda s: s.map(words, columns=["s"], returns={"s": "int64"}),
        lambda a, b, t: (a, b, words(t)),
    ),
    "replaced by another type": (
        lambda s: s.map(str, columns=["a"], returns={"a": "string"}),
        lambda a, b, t: (str(a), b, t),
    ),
}


@pytest.mark.parametrize("what", MAPS)
@few
@given(rows=ROWS)
def test_map(what, rows):
    write, oracle = MAPS[what]
    assert_rows(write(stream(rows)), [oracle(*row) for row in rows])


@few
@given(ROWS)
def test_flat_map(rows):
    made = stream(rows).flat_map(
        lambda s: (s or "").split(), columns=["s"], returns={"w": "string"}
    )
    assert_rows(made, [(*row, word) for row in rows for word in (row[2] or "").split()])
    pairs = stream(rows).flat_map(
        lambda a: ({"n": k, "a": -k} for k in range((a or 0) % 3)),
        columns=["a"],
        returns={"a": "int64", "n": "int64"},
    )
    assert_rows(pairs, [(-k, b, s, k) for a, b, s in rows for k in range((a or 0) % 3)])


@few
@given(ROWS, st.integers(1, 7))
def test_map_batches_gets_exactly_so_many_rows(rows, size):
    made = stream(rows).map_batches(
        lambda batch: {"n": [batch.num_rows]}, returns={"n": "int64"}, rows=size
    )
    full, rest = divmod(len(rows), size)
    assert_rows(
        made, [(size,)] * full + [(rest,)] * bool(rest), settings=[(1, 1), (1, 5), (1, 400)]
    )


@few
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.none() | st.lists(st.integers(-9, 9), max_size=3)),
        max_size=10,
    )
)
def test_explode(rows):
    schema = pa.schema({"a": pa.int64(), "l": pa.list_(pa.int64())})
    table = pa.Table.from_pylist([{"a": a, "l": each} for a, each in rows], schema=schema)
    small = [(a, each) for a, several in rows for each in (several or [None])]
    assert_rows(ag.from_arrow(table).explode("l"), small)


@few
@given(ROWS, ROWS)
def test_union_goes_by_name(left, right):
    both = stream(left).union(stream(right).select("s", "b", "a"))
    assert_rows(both, left + right)
    assert_rows(stream(left).union(stream(right), stream(left)), left + right + left)


@few
@given(ROWS)
def test_distinct(rows):
    assert_rows(stream(rows).distinct(), set(rows))
    firsts = {row[0]: row for row in reversed(rows)}
    one = stream(rows).distinct("a")
    assert_rows(one, firsts.values(), settings=[(1, 1), (1, 400)])
    found = one.collect(backend="inline", workers=4, batch_rows=3)
    assert sorted(found["a"].to_pylist(), key=repr) == sorted(firsts, key=repr)


def compiled(a, b):
    total = 0.0
    for step in range(a % 10):
        total += step * b
    return total


@few
@given(st.lists(st.tuples(st.integers(-50, 50), st.floats(-10, 10)), max_size=20))
def test_compiled_functions_equal_plain_ones(rows):
    table = pa.Table.from_pylist(
        [{"a": a, "b": b} for a, b in rows], schema=pa.schema({"a": pa.int64(), "b": pa.float64()})
    )
    made = ag.from_arrow(table).map(
        compiled, columns=["a", "b"], returns={"t": "float64"}, jit=True
    )
    assert_rows(made, [(a, b, compiled(a, b)) for a, b in rows])
