"""Join: every kind, against nested loops, in any stretches, over snapshots."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.errors import PlanError
from ambergate.kernels.reference import joining as reference
from ambergate.operators.base import OUTPUT_ROWS
from ambergate.operators.join import Join
from ambergate.operators.matching import HOWS, key_type
from tests.operators.stepping import Stepper, batches_of, run

BUILD_FIRST = (1, 0)
NAN = float("nan")


def expected(left: pa.Table, right: pa.Table, join: Join) -> list[tuple]:
    """Rows by nested loops; keys of one name stand once."""
    mine = list(zip(*(left[name].to_pylist() for name in join.left_on), strict=True))
    other = list(zip(*(right[name].to_pylist() for name in join.right_on), strict=True))
    shared = {a for a, b in zip(join.left_on, join.right_on, strict=True) if a == b}
    rows = []
    left_rows, right_rows = left.to_pylist(), right.to_pylist()
    for a, b in reference.pairs(mine, other, join.how):
        row = [
            left_rows[a][name] if a is not None else right_rows[b][name] if name in shared else None
            for name in left.schema.names
        ]
        if join.how not in ("semi", "anti"):
            row += [
                None if b is None else right_rows[b][name]
                for name in right.schema.names
                if name not in shared
            ]
        rows.append(tuple(row))
    return rows


def rows_of(table: pa.Table) -> list[tuple]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def multiset(rows: list[tuple]) -> list[str]:
    return sorted(map(repr, rows))  # as text, NaN equals NaN


KEYS = {
    pa.int64(): st.none() | st.integers(-2, 2),
    pa.string(): st.none() | st.sampled_from(["", "a", "é", "a\0"]),
    pa.float64(): st.none() | st.sampled_from([0.0, 1.5, NAN]),
    pa.bool_(): st.none() | st.booleans(),
    pa.decimal128(20, 2): st.none() | st.sampled_from([Decimal("0.01"), Decimal("9" * 18)]),
    pa.date32(): st.none() | st.integers(-1, 1),
}


@st.composite
def two_tables(draw: st.DrawFn) -> tuple[pa.Table, pa.Table, tuple[str, ...]]:
    types = draw(st.lists(st.sampled_from(list(KEYS)), min_size=1, max_size=2))
    names = tuple(f"k{index}" for index in range(len(types)))
    tables = []
    for value in ("v", "w"):
        rows = draw(st.integers(0, 25))
        columns = {
            name: pa.array(draw(st.lists(KEYS[type_], min_size=rows, max_size=rows)), type_)
            for name, type_ in zip(names, types, strict=True)
        }
        columns[value] = pa.array([f"{value}{row}" for row in range(rows)], pa.string())
        tables.append(pa.table(columns))
    return *tables, names


@given(
    tables=two_tables(),
    how=st.sampled_from(HOWS),
    rows=st.sampled_from([1, 7, 400]),
    seed=st.integers(0, 9),
    moves=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_a_join_is_its_nested_loops(tables, how, rows, seed, moves):
    left, right, names = tables
    join = Join(names, names, how)
    result = run(join, left, right, rows=rows, seed=seed, moves=moves, ports=BUILD_FIRST)
    assert multiset(rows_of(result)) == multiset(expected(left, right, join))
    if how in ("inner", "left", "semi", "anti"):
        assert str(rows_of(result)) == str(expected(left, right, join))  # left rows stay in order


@pytest.mark.parametrize("how", HOWS)
def test_keys_of_two_names_both_stay(how):
    left = pa.table({"a": [1, 2, None], "x": [10, 20, 30]})
    right = pa.table({"b": [2, 2, 3, None], "x": [1, 2, 3, 4]})
    join = Join(("a",), ("b",), how)
    result = run(join, left, right, ports=BUILD_FIRST)
    assert multiset(rows_of(result)) == multiset(expected(left, right, join))
    names = ["a", "x"] if how in ("semi", "anti") else ["a", "x", "b", "x_right"]
    assert result.schema.names == names


@pytest.mark.parametrize("how", ["inner", "left", "right", "full"])
def test_agrees_with_arrow(how):
    rng = np.random.default_rng(5)
    left = pa.table({"k": rng.integers(0, 300, 2000), "v": rng.random(2000)})
    right = pa.table({"k": rng.integers(100, 400, 500), "w": rng.random(500)})
    word = {"inner": "inner", "left": "left outer", "right": "right outer", "full": "full outer"}
    theirs = left.join(right, "k", join_type=word[how], use_threads=False).select(["k", "v", "w"])
    ours = run(Join(("k",), ("k",), how), left, right, ports=BUILD_FIRST)
    assert multiset(rows_of(ours)) == multiset(rows_of(theirs))


@pytest.mark.parametrize(
    ("how", "rows"),
    [
        ("inner", [(1, "a", "x")]),
        ("left", [(1, "a", "x"), (None, "b", None), (None, "c", None)]),
        ("right", [(1, "a", "x"), (None, None, "y")]),
        ("full", [(1, "a", "x"), (None, "b", None), (None, "c", None), (None, None, "y")]),
    ],
)
def test_nulls_never_match(how, rows):
    left = pa.table({"k": [1, None, None], "v": ["a", "b", "c"]})
    right = pa.table({"k": [1, None], "w": ["x", "y"]})
    assert rows_of(run(Join(("k",), ("k",), how), left, right, ports=BUILD_FIRST)) == rows


def test_a_million_null_keys():
    nulls = pa.table({"k": pa.nulls(1_000_000, pa.int64()), "v": np.arange(1_000_000)})
    stepper = Stepper(Join(("k",), ("k",), "full"), nulls.schema, nulls.schema)
    for port in BUILD_FIRST:
        for batch in batches_of(nulls, 100_000):
            stepper.feed(port, batch, stops=False)
        stepper.end(port)
    assert stepper.result().num_rows == 2_000_000
    assert max(output.num_rows for output in stepper.outputs) <= OUTPUT_ROWS


def test_every_nan_matches_every_nan():
    bits = np.array([0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001], np.uint64)
    left = pa.table({"k": bits.view(np.float64), "v": [1, 2, 3]})
    right = pa.table({"k": [NAN, 1.0], "w": ["p", "q"]})
    result = run(Join(("k",), ("k",)), left, right, ports=BUILD_FIRST)
    assert result["v"].to_pylist() == [1, 2, 3]
    assert result["w"].to_pylist() == ["p", "p", "p"]


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("rows", [1, 400])
def test_integers_of_two_widths_match(how, rows):
    left = pa.table({"k": pa.array([7, 8, -1], pa.int32()), "v": [1, 2, 3]})
    right = pa.table({"k": pa.array([7, 1 << 40, -1], pa.int64()), "w": [1, 2, 3]})
    join = Join(("k",), ("k",), how)
    result = run(join, left, right, rows=rows, ports=BUILD_FIRST)
    assert multiset(rows_of(result)) == multiset(expected(left, right, join))
    assert result.schema.field("k").type == (pa.int64() if how in ("right", "full") else pa.int32())


@pytest.mark.parametrize("how", HOWS)
def test_dictionaries_match_by_their_values(how):
    left = pa.table({"k": pa.array(["b", None, "a", "b"]).dictionary_encode(), "v": range(4)})
    right = pa.table({"k": ["a", "c", None], "w": pa.array(["x", "y", "x"]).dictionary_encode()})
    join = Join(("k",), ("k",), how)
    result = run(join, left, right, rows=400, ports=BUILD_FIRST)
    assert multiset(rows_of(result)) == multiset(expected(left, right, join))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (pa.int64(), pa.uint64()),
        (pa.int64(), pa.float64()),
        (pa.float32(), pa.int8()),
        (pa.string(), pa.int64()),
        (pa.bool_(), pa.int8()),
        (pa.timestamp("us"), pa.timestamp("ns")),
        (pa.decimal128(9, 2), pa.decimal128(9, 3)),
    ],
)
def test_types_that_are_never_equal_are_a_plan_error_naming_both(a, b):
    join = Join(("k",), ("q",))
    for left, right in ((a, b), (b, a)):
        with pytest.raises(PlanError) as caught:
            join.output_schema("match", pa.schema({"k": left}), pa.schema({"q": right}))
        for word in ("'match'", "'k'", f"{left}", "'q'", f"{right}", "cast"):
            assert word in str(caught.value)


def test_types_that_are_compared_in_a_wider_one():
    assert key_type(pa.uint32(), pa.int32()) == pa.int64()
    assert key_type(pa.float32(), pa.float64()) == pa.float64()
    assert key_type(pa.string(), pa.large_string()) == pa.large_string()
    assert key_type(pa.dictionary(pa.int32(), pa.string()), pa.string()) == pa.string()
    assert key_type(pa.decimal128(9, 2), pa.decimal128(12, 2)) == pa.decimal128(12, 2)


@pytest.mark.parametrize(
    ("join", "words"),
    [
        (Join(("kk",), ("k",)), ["left input has no column 'kk'", "did you mean 'k'"]),
        (Join(("k",), ("q",)), ["right input has no column 'q'"]),
        (Join(("k",), ("k",), "outer"), ["'outer'", "inner, left, right, full, semi, anti"]),
        (Join(("k", "v"), ("k",)), ["2 key columns on the left, 1 on the right"]),
        (Join((), ()), ["at least one"]),
        (Join(("l",), ("l",)), ["list<item: int64>", "cannot be joined on"]),
        (Join(("k",), ("k",), suffix="_x"), ["'v_x' would come out twice"]),
    ],
)
def test_joins_that_cannot_be_are_plan_errors(join, words):
    left = pa.schema({"k": "int64", "v": "int64", "v_x": "int64", "l": pa.list_(pa.int64())})
    right = pa.schema({"k": "int64", "v": "int64", "l": pa.list_(pa.int64())})
    with pytest.raises(PlanError) as caught:
        join.output_schema("match", left, right)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize("moves", [False, True])
def test_a_key_with_more_partners_than_a_batch_has_rows(moves):
    right = pa.table({"k": np.zeros(70_000, np.int64), "w": np.arange(70_000)})
    left = pa.table({"k": [1, 0, 0, 2], "v": ["a", "b", "c", "d"]})
    stepper = Stepper(Join(("k",), ("k",), "full"), left.schema, right.schema, moves=moves)
    stepper.feed(1, right.combine_chunks().to_batches()[0], stops=False)
    stepper.end(1)
    stepper.feed(0, left.combine_chunks().to_batches()[0])
    stepper.end(0)
    assert max(output.num_rows for output in stepper.outputs) <= OUTPUT_ROWS
    result = stepper.result()
    assert result["v"].to_pylist() == ["a", *["b"] * 70_000, *["c"] * 70_000, "d"]
    assert result["w"].to_pylist() == [None, *range(70_000), *range(70_000), None]


def test_long_right_rows_come_in_small_batches():
    right = pa.table({"k": range(32), "s": ["x" * (1 << 20)] * 32})
    left = pa.table({"k": list(range(32)) * 4})
    stepper = Stepper(Join(("k",), ("k",)), left.schema, right.schema)
    stepper.feed(1, right.combine_chunks().to_batches()[0], stops=False)
    stepper.end(1)
    stepper.feed(0, left.combine_chunks().to_batches()[0], stops=False)
    assert stepper.result().num_rows == 128
    assert max(output.nbytes for output in stepper.outputs) < 10 << 20


@pytest.mark.parametrize("how", HOWS)
def test_the_right_rows_can_be_seen(how):
    right = pa.table({"k": [1, 2, 1], "w": [1, 2, 3]})
    stepper = Stepper(Join(("k",), ("k",), how), right.select(["k"]).schema, right.schema)
    stepper.feed(1, right.combine_chunks().to_batches()[0])
    seen = stepper.executor.describe()["right"]
    if how in ("semi", "anti"):
        assert seen.to_pydict() == {"k": [1, 2]}
    else:
        assert seen.to_pydict() == right.to_pydict()


def test_pruning_keeps_keys_and_names():
    left = pa.schema({"k": "int64", "v": "int64", "x": "int64"})
    right = pa.schema({"q": "int64", "v": "int64", "y": "int64"})
    join = Join(("k",), ("q",))
    assert join.needs(0, frozenset({"x"}), left, right) == {"k", "x"}
    assert join.needs(1, frozenset({"x"}), left, right) == {"q"}
    # left v is kept, or right v would not come out as v_right
    assert join.needs(0, frozenset({"v_right"}), left, right) == {"k", "v"}
    assert join.needs(1, frozenset({"v_right"}), left, right) == {"q", "v"}
    assert join.needs(1, frozenset({"v"}), left, right) == {"q"}
