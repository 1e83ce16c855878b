"""What expressions outside the vector machine give, and how they stop."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.channels.gate import DONE, RAISED, STOPPED, Gate
from ambergate.expr import col, lit, max_of, min_of, when
from ambergate.kernels.evaluate import compile_expression

TEXTS = ["  Ab c ", "", "ä1-2", None, "x.y", "日本"]
TIMES = [dt.datetime(2024, 2, 29, 23, 59, 58, 5), dt.datetime(1969, 12, 31), None]


def values(expr, **columns):
    batch = pa.record_batch(columns or {"row": [0]})
    gate = Gate()
    gate.reset()
    found = compile_expression(expr, batch.schema).evaluate(batch, 0, batch.num_rows, gate)
    assert found.status == DONE, found.error
    found.values.validate(full=True)
    assert found.values.type == expr.type(batch.schema)
    return found.values.to_pylist()


def each(function, items=TEXTS):
    return [None if item is None else function(item) for item in items]


@pytest.mark.parametrize(
    ("expr", "function"),
    [
        (col("t").str.lower(), str.lower),
        (col("t").str.upper(), str.upper),
        (col("t").str.strip(), str.strip),
        (col("t").str.strip(" c"), lambda t: t.strip(" c")),
        (col("t").str.length(), len),
        (col("t").str.contains("[0-9]"), lambda t: "1" in t),
        (col("t").str.contains(".", literal=True), lambda t: "." in t),
        (col("t").str.starts_with("x"), lambda t: t.startswith("x")),
        (col("t").str.ends_with(" "), lambda t: t.endswith(" ")),
        (col("t").str.replace(r"(\d)-(\d)", r"\2-\1"), lambda t: t.replace("1-2", "2-1")),
        (col("t").str.replace(".", "!", literal=True), lambda t: t.replace(".", "!")),
        (col("t").str.split(" "), lambda t: t.split(" ")),
        (col("t").str.slice(1, 2), lambda t: t[1:3]),
        (col("t").str.slice(2), lambda t: t[2:]),
        (col("t").str.slice(-2, 1), lambda t: t[-2:-1]),
        (col("t").str.slice(-2, 5), lambda t: t[-2:]),
        (col("t").str.extract(r"(\d)-(\d)", 2), lambda t: "2" if "1-2" in t else None),
        (col("t").str.extract(r"\d-", 0), lambda t: "1-" if "1-2" in t else None),
        (col("t").str.concat("/", col("t")), lambda t: f"{t}/{t}"),
        (col("t") == "x.y", lambda t: t == "x.y"),
        (col("t") < "b", lambda t: t < "b"),
        (col("t").is_in(["", "x.y", None]), lambda t: t in ("", "x.y")),
    ],
)
@pytest.mark.parametrize("of", [pa.string(), pa.large_string()])
def test_strings(expr, function, of):
    assert values(expr, t=pa.array(TEXTS, of)) == each(function)


@pytest.mark.parametrize(
    ("expr", "function"),
    [
        (col("t").dt.year(), lambda t: t.year),
        (col("t").dt.month(), lambda t: t.month),
        (col("t").dt.day(), lambda t: t.day),
        (col("t").dt.hour(), lambda t: t.hour),
        (col("t").dt.minute(), lambda t: t.minute),
        (col("t").dt.second(), lambda t: t.second),
        (col("t").dt.weekday(), lambda t: t.weekday()),
        (col("t").dt.truncate("hour"), lambda t: t.replace(minute=0, second=0, microsecond=0)),
        (col("t").dt.truncate("month"), lambda t: dt.datetime(t.year, t.month, 1)),
        (col("t") + dt.timedelta(seconds=1), lambda t: t + dt.timedelta(seconds=1)),
        (col("t") - dt.datetime(2000, 1, 1), lambda t: t - dt.datetime(2000, 1, 1)),
        (col("t") > dt.date(2000, 1, 1), lambda t: t > dt.datetime(2000, 1, 1)),
        (col("t").cast("date32"), lambda t: t.date()),
    ],
)
def test_times(expr, function):
    assert values(expr, t=pa.array(TIMES, pa.timestamp("us"))) == each(function, TIMES)


def test_zones():
    berlin = pa.array([1_700_000_000], pa.timestamp("s", "Europe/Berlin"))
    utc = pa.array([1_700_000_000_000], pa.timestamp("ms", "UTC"))
    assert values(col("a").dt.hour(), a=berlin) == [23]
    assert values(col("a").dt.hour(), a=utc) == [22]
    assert values(col("a") == col("b"), a=berlin, b=utc) == [True]
    assert values(col("a") - col("b"), a=berlin, b=utc) == [dt.timedelta(0)]


def test_lists():
    lists = pa.array([[1, 2], [], None, [3]])
    assert values(col("l").list.length(), l=lists) == [2, 0, None, 1]
    assert values(col("l").list.get(0), l=lists) == [1, None, None, 3]
    assert values(col("l").list.get(-2), l=lists) == [1, None, None, None]
    assert values(col("l").list.get(1), l=lists.cast(pa.large_list(pa.int64()))) == [2, *[None] * 3]
    assert values(col("l").list.get(0) + 1, l=lists.slice(1)) == [None, None, 4]


def test_decimals():
    money = pa.array([Decimal("1.25"), None, Decimal("-3.50")])
    assert values(col("d") * 2, d=money) == [Decimal("2.50"), None, Decimal("-7.00")]
    assert values(col("d") + col("d"), d=money) == [Decimal("2.50"), None, Decimal("-7.00")]
    assert values(col("d") > 1, d=money) == [True, None, False]
    assert values(col("d").round(1), d=money) == [Decimal("1.20"), None, Decimal("-3.50")]
    assert values(col("d") * 0.5, d=money) == [0.625, None, -1.75]


def test_dictionaries_are_their_values_within_expressions():
    code = pa.array(["x", None, "y", "x"]).dictionary_encode()
    assert values(col("c") == "x", c=code) == [True, None, False, True]
    assert values(col("c"), c=code) == ["x", None, "y", "x"]
    assert values(col("c").str.concat("!"), c=code) == ["x!", None, "y!", "x!"]


def test_constants_fill_the_batch():
    assert values(lit(5), a=[1, 2, 3]) == [5, 5, 5]
    assert values(lit(None), a=[1, 2]) == [None, None]
    assert values(lit([1, 2]), a=[1]) == [[1, 2]]
    assert values(lit(2) + 3, a=[1, 2]) == [5, 5]
    assert values(lit("a").str.upper(), a=[1]) == ["A"]


def test_is_in_many_values():
    wanted = [*range(0, 100, 2), 0.5, None, float("nan")]
    assert values(col("a").is_in(wanted), a=[1, 2, None, 98]) == [False, True, None, True]
    floats = [0.0, -0.0, 0.5, math.nan, None, 3.0]
    assert values(col("a").is_in(wanted), a=floats) == [True, True, True, False, None, False]
    assert values(col("a").is_in([]), a=[1, None]) == [False, None]


def test_extremes_of_strings_and_nan():
    assert values(min_of(col("t"), "b"), t=["a", None, "c"]) == ["a", "b", "b"]
    assert values(max_of(col("x"), 1.0), x=[math.nan, 2.0, None]) == [1.0, 2.0, 1.0]


def test_conversions():
    assert values(col("t").cast("int64"), t=["12", None]) == [12, None]
    assert values(col("x").cast("int64"), x=[1.9, -1.9, None]) == [1, -1, None]
    assert values(col("i").cast("float64"), i=[2**53 + 1]) == [2.0**53]
    assert values(col("i").cast("string"), i=[1, None]) == ["1", None]
    assert values(col("b").cast("int8"), b=[True, False, None]) == [1, 0, None]


def test_a_branch_that_is_not_taken_cannot_fail_outside_the_machine_either():
    number = when(col("t") != "").then(col("t").cast("int64")).otherwise(0)
    assert values(number, t=["1", "", None, "4"]) == [1, 0, 0, 4]
    nested = when(col("k") > 0).then(number + 1).when(col("k") == 0).then(-1)
    assert values(nested, t=["1", "x", "", "x"], k=[1, 0, 1, None]) == [2, -1, 1, None]
    filled = col("k").fill_null(col("t").cast("int64"))
    assert values(filled, t=["x", "7"], k=[1, None]) == [1, 7]


@settings(max_examples=60, deadline=None)
@given(
    rows=st.integers(1, 10_000),
    bad=st.lists(st.integers(0, 12_000), max_size=3),
    stops=st.lists(st.integers(0, 10_000), max_size=3),
    skip=st.integers(0, 9),
)
def test_slices_stop_at_the_limit_and_at_the_first_row_that_raises(rows, bad, stops, skip):
    texts = ["x" if row in bad else str(row) for row in range(rows)]
    batch = pa.record_batch({"t": texts}).slice(skip)
    first = min([row - skip for row in bad if skip <= row < rows], default=None)
    evaluator = compile_expression(col("t").cast("int64") + 1, batch.schema)
    gate = Gate()
    gate.reset()
    gate.at(0)
    start, made = 0, []
    for limit in [*sorted(stops), 2**60]:
        gate.set_limit(limit)
        found = evaluator.evaluate(batch, start, batch.num_rows, gate)
        made += found.values.to_pylist()
        start = found.cursor
        assert len(made) == start
        if found.status == RAISED:
            assert start == first and "'x'" in str(found.error)
            break
        assert start == min(max(limit, start), batch.num_rows)
        assert found.status == (DONE if start == batch.num_rows else STOPPED)
    assert start == (batch.num_rows if first is None else first)
    assert made == [row + skip + 1 for row in range(start)]


def test_select_writes_row_numbers():
    batch = pa.record_batch({"t": ["ab", None, "b", "a"]})
    gate = Gate()
    gate.reset()
    rows = np.empty(3, np.int64)
    found = compile_expression(col("t").str.contains("a"), batch.schema).select(
        batch, 1, 4, gate, rows
    )
    assert found[:3] == (DONE, 4, 1) and rows[0] == 3
