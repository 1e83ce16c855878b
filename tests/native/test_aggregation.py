"""Accumulators, against plain Python."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.errors import ExpressionError, OverflowOfSum
from ambergate.expr.aggregates import AGGREGATES, Aggregate
from ambergate.kernels.aggregation import accumulator, newcomers, steps
from ambergate.kernels.reference import aggregation as reference
from tests.native.column_strategies import TYPES, arrays

NESTED = [pa.list_(pa.int64()), pa.struct({"a": pa.int8()}), pa.float16()]
PAIRS = []
for function in AGGREGATES:
    for type_ in TYPES:
        try:
            output = Aggregate(function, "v").output_type(pa.schema({"v": type_}))
        except ExpressionError:
            continue
        PAIRS.append((function, type_, output))


def close(one, other, function):
    if isinstance(one, float) and isinstance(other, float):
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        if function in ("var", "std", "mean"):
            return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(
            close(a, b, "") for a, b in zip(one, other, strict=True)
        )
    return one == other


def plain(array):
    """Python values; times as numbers, which do not lose digits."""
    if pa.types.is_list(array.type) and pa.types.is_temporal(array.type.value_type):
        return [plain(each.values) for each in array]
    if pa.types.is_temporal(array.type):
        width = array.type.bit_width
        array = array.cast(pa.int32() if width == 32 else pa.int64())
    return array.to_pylist()


def fits(value, output):
    if not isinstance(value, int):
        return True
    return 0 <= value < 2**64 if output == pa.uint64() else -(2**63) <= value < 2**63


def dense(ids):
    """Groups renumbered as they come."""
    known = {}
    return np.array([known.setdefault(each, len(known)) for each in ids], np.int64)


@given(draw=st.data(), pair=st.sampled_from(PAIRS), rows=st.integers(0, 40), only=st.booleans())
@settings(max_examples=400, deadline=None)
def test_results_are_those_of_the_reference(draw, pair, rows, only):
    function, type_, output = pair
    array = draw.draw(arrays(type_, rows))
    groups = 1 if only else 4
    ids = dense(draw.draw(st.lists(st.integers(0, groups - 1), min_size=rows, max_size=rows)))
    count = max(ids, default=-1) + 1 + (not only)  # the last group has no rows
    count = max(count, 1)
    made = accumulator(function, type_, "v")
    stops = sorted(min(stop, rows) for stop in draw.draw(st.lists(st.integers(0, 40), max_size=3)))
    start = 0
    for stop in [*stops, rows]:
        made.reserve(int(max(ids[:stop], default=-1)) + 1 if not only else 1)
        made.update(None if only else ids[start:stop], array, start, stop)
        start = stop
        if draw.draw(st.booleans()):
            state = pickle.loads(pickle.dumps(made.export()))
            made = accumulator(function, type_, "v")
            made.load(state)
    made.reserve(count)
    values = plain(array)
    expected = [
        reference.aggregate(function, [v for v, g in zip(values, ids, strict=True) if g == group])
        for group in range(count)
    ]
    if function in ("sum", "min", "max") and pa.types.is_boolean(type_):
        expected = [None if e is None else e if function != "sum" else int(e) for e in expected]
    if not all(fits(each, output) for each in expected):
        with pytest.raises(OverflowOfSum):
            made.check()
        return
    made.check()
    got = made.values(0, count)
    got.validate(full=True)
    assert got.type == output and len(got) == count
    found = plain(got)
    assert all(close(a, b, function) for a, b in zip(found, expected, strict=True)), (
        found,
        expected,
    )
    assert made.values(count // 2, count).equals(got.slice(count // 2)) or function in (
        "first",
        "last",
        "min",
        "max",
        "sum",
        "mean",
        "var",
        "std",
        "collect_list",
    )  # NaN is not equal to itself


@given(draw=st.data(), pair=st.sampled_from(PAIRS), rows=st.integers(1, 30))
@settings(max_examples=200, deadline=None)
def test_a_step_gives_the_result_after_each_row(draw, pair, rows):
    function, type_, output = pair
    if not steps(function, type_):
        return
    array = draw.draw(arrays(type_, rows))
    ids = dense(draw.draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows)))
    made, start, parts = accumulator(function, type_, "v"), 0, []
    made.reserve(5)
    values, expected = plain(array), []
    for row in range(rows):
        before = [values[i] for i in range(row + 1) if ids[i] == ids[row]]
        expected.append(reference.aggregate(function, before))
        if not fits(expected[-1], output):
            expected.pop()
            break
    for stop in sorted({min(draw.draw(st.integers(0, 30)), rows), rows}):
        part, cursor = made.step(ids[start:stop], array, start, stop)
        part.validate(full=True)
        assert len(part) == cursor - start
        parts.append(part)
        start = cursor
        if cursor < stop:
            break
    found = plain(pa.concat_arrays(parts))
    assert len(found) == len(expected)
    assert all(close(a, b, function) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("function", ["first", "last", "collect_list", "count"])
@pytest.mark.parametrize("type_", NESTED, ids=str)
def test_values_of_any_type_are_kept(function, type_):
    items = {pa.float16(): [np.float16(1), None, np.float16(2), None]}.get(type_)
    if items is None:
        items = (
            [[1], None, [], [2]] if pa.types.is_list(type_) else [{"a": 1}, None, {"a": 2}, None]
        )
    array = pa.array(items, type_)
    made = accumulator(function, type_, "v")
    for _ in range(3000 if function == "last" else 2):  # old rows are dropped
        made.reserve(3)
        made.update(np.array([0, 1, 0, 2]), array, 0, 4)
    other = accumulator(function, type_, "v")
    other.load(pickle.loads(pickle.dumps(made.export())))
    other.reserve(4)
    got = other.values(0, 4)
    got.validate(full=True)
    twice = [[items[0], items[2]] * 2, [None] * 2, [items[3]] * 2, []]
    assert got.to_pylist() == [reference.aggregate(function, group) for group in twice]
    assert other.values(1, 3).equals(got.slice(1, 2))


def test_sums_are_exact_in_any_order_or_an_error():
    big = accumulator("sum", pa.int64(), "v")
    big.reserve(1)
    big.update(None, pa.array([2**62, 2**62]), 0, 2)
    with pytest.raises(OverflowOfSum, match="the sum of column 'v' does not fit int64"):
        big.values(0, 1)
    assert big.values(0, 1, strict=False).to_pylist() == [None]
    big.update(None, pa.array([-1]), 0, 1)
    assert big.values(0, 1).to_pylist() == [2**63 - 1]
    least = accumulator("sum", pa.int64(), "v")
    least.reserve(1)
    least.update(None, pa.array([-(2**63), -1, 1]), 0, 3)
    assert least.values(0, 1).to_pylist() == [-(2**63)]


def test_decimals_add_up_beyond_128_bits():
    most, least = Decimal("9" * 38), Decimal("-" + "9" * 38)
    values = pa.array([most] * 20 + [least] * 21, pa.decimal128(38, 0))
    made = accumulator("sum", values.type, "v")
    made.reserve(1)
    made.update(None, values, 0, 20)
    with pytest.raises(OverflowOfSum, match="decimal128"):
        made.check()
    made.update(None, values, 20, 41)
    assert made.values(0, 1).to_pylist() == [least]


def test_rows_of_an_exact_sum_are_taken_back():
    made, ids = accumulator("sum", pa.int64(), "v"), np.array([0, 1, 0, 1])
    array = pa.array([2**63 - 1, -(2**63), 5, None])
    made.reserve(2)
    made.update(ids, array, 0, 4)
    made.undo(ids[1:], array, 1, 4)
    assert made.values(0, 2).to_pylist() == [2**63 - 1, None]


def test_the_sum_of_all_rows_does_not_depend_on_batches():
    values = pa.array(np.random.default_rng(5).normal(size=1000))
    sums = set()
    for rows in (1000, 1, 7, 64):
        made = accumulator("sum", pa.float64(), "v")
        made.reserve(1)
        for start in range(0, 1000, rows):
            made.update(None, values, start, min(start + rows, 1000))
        sums.add(made.values(0, 1)[0].as_py())
    assert len(sums) == 1
    assert math.isclose(sums.pop(), pc.sum(values).as_py(), rel_tol=1e-9, abs_tol=1e-9)


def test_variances_do_not_cancel():
    made = accumulator("var", pa.float64(), "v")
    made.reserve(1)
    made.update(None, pa.array([1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16]), 0, 4)
    assert made.values(0, 1).to_pylist() == [30.0]


def test_newcomers_are_the_first_rows_of_their_groups():
    ids = np.array([0, 2, 1, 3, 3, 0, 4])
    assert np.frombuffer(newcomers(ids, 1, 7, 3), np.int64).tolist() == [3, 6]


def test_unfit_arguments_are_refused():
    made = accumulator("sum", pa.int64(), "v")
    made.reserve(1)
    ids, array = np.zeros(2, np.int64), pa.array([1, 2])
    with pytest.raises(ValueError, match="rows 0:3 are outside 0:2"):
        made.update(np.zeros(3, np.int64), array, 0, 3)
    with pytest.raises(ValueError, match="ids holds 1 of 2 rows"):
        made.update(ids[:1], array, 0, 2)
    with pytest.raises(TypeError, match="no integers"):
        made.update(ids, pa.array([1.0, 2.0]), 0, 2)
    with pytest.raises(ValueError, match="groups 0:2 are outside 0:1"):
        made.values(0, 2)
    assert made.values(0, 1).to_pylist() == [None]
