"""The vector machine against its definition in plain Python, over random expressions."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.channels.gate import DONE, RAISED, STOPPED, Gate
from ambergate.errors import ExpressionError
from ambergate.expr import col, lit, max_of, min_of, when
from ambergate.expr.types import annotate
from ambergate.kernels.evaluate import VectorEvaluator, compile_expression
from ambergate.kernels.program import Program, Views
from ambergate.kernels.reference.expression import Misfit, value_of
from ambergate_native.columns import Kind

INTEGERS = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1))
FLOATS = st.one_of(
    st.sampled_from(
        [0.0, -0.0, 1.5, -2.5, math.nan, math.inf, -math.inf, 2.0**53, 2.0**63, -1e-20]
    ),
    st.floats(),
)
TYPES = {
    "i": (pa.int64(), INTEGERS),
    "j": (pa.int64(), st.sampled_from([2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, 0, 7])),
    "s": (pa.int8(), st.integers(-128, 127)),
    "h": (pa.uint16(), st.integers(0, 2**16 - 1)),
    "w": (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "u": (pa.uint64(), st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1))),
    "f": (pa.float64(), FLOATS),
    "g": (pa.float32(), st.floats(width=32)),
    "b": (pa.bool_(), st.booleans()),
    "c": (pa.bool_(), st.booleans()),
}
NUMBERS = [name for name in TYPES if name not in "bc"]
CONSTANTS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([2.5, -0.5, 0.0, 2**53 + 1, 2.0**53, 300, 1e300, -(2**63)]),
)


def extend_numbers(numbers):
    two = st.tuples(numbers, numbers)
    return st.one_of(
        two.map(lambda p: p[0] + p[1]),
        two.map(lambda p: p[0] - p[1]),
        two.map(lambda p: p[0] * p[1]),
        two.map(lambda p: p[0] / p[1]),
        two.map(lambda p: p[0] // p[1]),
        two.map(lambda p: p[0] % p[1]),
        st.tuples(numbers, st.integers(0, 5)).map(lambda p: p[0] ** p[1]),
        numbers.map(lambda e: -e),
        numbers.map(lambda e: e.abs()),
        numbers.map(lambda e: e.floor()),
        numbers.map(lambda e: e.ceil()),
        numbers.map(lambda e: e.round()),
        numbers.map(lambda e: e.sqrt()),
        st.tuples(numbers, CONSTANTS).map(lambda p: p[0] + p[1]),
        st.tuples(numbers, CONSTANTS).map(lambda p: p[0] * p[1]),
        st.tuples(numbers, st.sampled_from([t for t, _ in TYPES.values()]))
        .map(lambda p: p[0].cast(p[1]))
        .filter(lambda e: e.options[0] != pa.bool_()),
        two.map(lambda p: p[0].fill_null(p[1])),
        two.map(lambda p: min_of(*p)),
        two.map(lambda p: max_of(*p, 0)),
        st.tuples(CONDITIONS, numbers, numbers).map(
            lambda p: when(p[0]).then(p[1]).otherwise(p[2])
        ),
        st.tuples(CONDITIONS, numbers).map(lambda p: when(p[0]).then(p[1]).when(True).then(None)),
    )


SIMPLE = st.sampled_from(NUMBERS).map(col)
COMPARED = st.one_of(SIMPLE, CONSTANTS.map(lit))
CONDITIONS = st.recursive(
    st.one_of(
        st.sampled_from("bc").map(col),
        st.tuples(SIMPLE, COMPARED).map(lambda p: p[0] == p[1]),
        st.tuples(SIMPLE, COMPARED).map(lambda p: p[0] != p[1]),
        st.tuples(SIMPLE, COMPARED).map(lambda p: p[0] < p[1]),
        st.tuples(SIMPLE, COMPARED).map(lambda p: p[0] <= p[1]),
        st.tuples(COMPARED, SIMPLE).map(lambda p: p[0] > p[1]),
        st.tuples(COMPARED, SIMPLE).map(lambda p: p[0] >= p[1]),
        st.tuples(SIMPLE, COMPARED, COMPARED).map(lambda p: p[0].is_between(p[1], p[2])),
        st.tuples(SIMPLE, st.lists(CONSTANTS | st.none(), max_size=4)).map(
            lambda p: p[0].is_in(p[1])
        ),
        SIMPLE.map(lambda e: e.is_null()),
        SIMPLE.map(lambda e: e.is_not_null()),
        SIMPLE.map(lambda e: e.cast("bool")),
    ),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: p[0] & p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] | p[1]),
        inner.map(lambda e: ~e),
        st.tuples(inner, inner).map(lambda p: p[0] == p[1]),
        st.tuples(inner, inner).map(lambda p: p[0].fill_null(p[1])),
    ),
    max_leaves=4,
)
NUMBER = st.recursive(SIMPLE, extend_numbers, max_leaves=6)
# branches of which many fail if they are taken
BIG = st.sampled_from([col("j") * col("j"), col("s") * col("i"), -col("i"), col("f").cast("int8")])
GUARDED = st.one_of(
    st.tuples(CONDITIONS, BIG, BIG).map(
        lambda p: when(p[0]).then(p[1]).otherwise(0).fill_null(p[2])
    ),
    st.tuples(CONDITIONS, BIG, SIMPLE).map(lambda p: when(p[0]).then(p[2]).otherwise(p[1])),
    st.tuples(SIMPLE, BIG).map(lambda p: p[0].fill_null(p[1])),
)
EXPRESSIONS = st.one_of(NUMBER, CONDITIONS, GUARDED)


@st.composite
def batches(draw, names, max_rows=20):
    """A sliced batch of ``names``; some columns without nulls, rows repeated over many blocks."""
    rows = draw(st.integers(0, max_rows))
    repeat = draw(st.sampled_from([1, 1, 40]))
    columns = {}
    for name in names:
        of, values = TYPES[name]
        if draw(st.booleans()):
            values = st.none() | values
        drawn = draw(st.lists(values, min_size=rows, max_size=rows))
        columns[name] = pa.array(drawn * repeat, of)
    batch = pa.record_batch(columns)
    skip = draw(st.integers(0, 11))
    return batch.slice(min(skip, batch.num_rows))


def same(found, wanted) -> bool:
    if isinstance(wanted, float) and isinstance(found, float):
        return found == wanted or (math.isnan(found) and math.isnan(wanted))
    return found is wanted or (type(found) is type(wanted) and found == wanted)


def expected(typed, batch):
    """The values up to the first row that raises, and whether one does."""
    values = []
    for row in batch.to_pylist():
        try:
            values.append(value_of(typed, row))
        except Misfit:
            return values, True
    return values, False


@settings(max_examples=150, deadline=None)
@given(data=st.data(), expr=EXPRESSIONS, stops=st.lists(st.integers(0, 800), max_size=4))
def test_random_expressions_mean_what_python_means(data, expr, stops):
    names = sorted(expr.columns()) or ["i"]
    batch = data.draw(batches(names))
    try:
        typed = annotate(expr, batch.schema)
    except ExpressionError:
        return  # no common type, as of int64 and uint64
    evaluator = compile_expression(expr, batch.schema)
    wanted, raises = expected(typed, batch)
    gate = Gate()
    gate.reset()
    gate.at(0)
    rows, start, status = [], 0, STOPPED
    indices = np.empty(batch.num_rows, np.int64)
    for limit in [*sorted(stops), 2**60]:
        gate.set_limit(limit)
        status, cursor, values, error = evaluator.evaluate(batch, start, batch.num_rows, gate)
        values.validate(full=True)
        assert values.type == typed.type and len(values) == cursor - start
        assert cursor == min(max(limit, start), batch.num_rows, len(wanted)) or status == STOPPED
        if typed.type == pa.bool_():
            chosen = evaluator.select(batch, start, batch.num_rows, gate, indices)
            assert chosen[:2] == (status, cursor)
            assert indices[: chosen.selected].tolist() == [
                start + row for row, value in enumerate(values.to_pylist()) if value
            ]
        rows += values.to_pylist()
        start = cursor
        if status == RAISED:
            assert isinstance(error, ExpressionError)
            break
    assert (status == RAISED) == raises
    assert start == len(wanted) and len(rows) == len(wanted)
    assert all(map(same, rows, wanted)), (rows, wanted)


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.none() | st.integers(-(2**40), 2**40), max_size=30),
    of=st.sampled_from(
        [pa.timestamp("us"), pa.timestamp("ms", "UTC"), pa.duration("ns"), pa.date64()]
    ),
)
def test_times_are_compared_and_subtracted_as_integers(values, of):
    column = pa.array(values, pa.int64()).cast(of, safe=False)
    other = pa.array(list(reversed(values)), pa.int64()).cast(of, safe=False)
    batch = pa.record_batch({"x": column, "y": other})
    gate = Gate()
    gate.reset()
    pairs = list(
        zip(column.cast(pa.int64()).to_pylist(), other.cast(pa.int64()).to_pylist(), strict=True)
    )
    for expr, function in [
        (col("x") < col("y"), lambda x, y: x < y),
        (min_of(col("x"), col("y")), min),
        (col("x") - col("y"), lambda x, y: x - y),
    ]:
        evaluator = compile_expression(expr, batch.schema)
        found = evaluator.evaluate(batch, 0, len(pairs), gate).values
        if expr.children[0].type(batch.schema) != pa.date64() or found.type == pa.bool_():
            assert isinstance(evaluator, VectorEvaluator)
        if pa.types.is_duration(found.type) and pa.types.is_date(of):
            continue
        wanted = [
            function(x, y)
            if None not in (x, y)
            else (x if x is not None else y)
            if pa.types.is_temporal(found.type) and found.type == of and function is min
            else None
            for x, y in pairs
        ]
        found = found if found.type == pa.bool_() else found.cast(pa.int64())
        assert found.to_pylist() == wanted


def evaluate(expr, **columns):
    batch = pa.record_batch(columns)
    gate = Gate()
    gate.reset()
    evaluator = compile_expression(expr, batch.schema)
    assert isinstance(evaluator, VectorEvaluator)
    return evaluator.evaluate(batch, 0, batch.num_rows, gate)


def test_an_overflow_stops_at_its_row_and_names_the_values():
    found = evaluate(col("a") + col("b"), a=[1, 2**63 - 1, 3], b=[1, 1, 1])
    assert (found.status, found.cursor, found.values.to_pylist()) == (RAISED, 1, [2])
    assert "a = 9223372036854775807" in str(found.error)
    assert isinstance(found.error, OverflowError)


def test_a_branch_that_is_not_taken_cannot_fail():
    guarded = when(col("a") < 10).then(col("a") * 2**60).otherwise(-1)
    found = evaluate(guarded, a=[1, 2**40, None])
    assert (found.status, found.values.to_pylist()) == (DONE, [2**60, -1, -1])


def test_what_lies_under_a_null_cannot_fail():
    hidden = pa.array(np.array([2**63 - 1, 1]), mask=np.array([True, False]))
    found = evaluate(col("a") + 1, a=hidden)
    assert (found.status, found.values.to_pylist()) == (DONE, [None, 2])


def test_comparisons_of_integers_with_floats_do_not_round():
    found = evaluate(col("a") == col("b"), a=[2**53 + 1, 2**53], b=[2.0**53, 2.0**53])
    assert found.values.to_pylist() == [False, True]
    assert evaluate(col("a") < 2.0**63, a=[2**63 - 1]).values.to_pylist() == [True]


def evaluate_any(expr, batch):
    gate = Gate()
    gate.reset()
    return compile_expression(expr, batch.schema).evaluate(batch, 0, batch.num_rows, gate)


def test_a_long_expression_is_cut_into_programs():
    terms = [col("a") * n for n in range(400)]
    while len(terms) > 1:
        terms = [sum(terms[k : k + 2][1:], terms[k]) for k in range(0, len(terms), 2)]
    found = evaluate_any(terms[0], pa.record_batch({"a": [0, 5]}))
    assert found.values.to_pylist() == [0, 5 * sum(range(400))]


def test_an_expression_that_is_nested_too_deeply_says_so():
    expr = col("a")
    for _ in range(3000):
        expr = expr + 1
    with pytest.raises(ExpressionError, match="nested too deeply"):
        compile_expression(expr, pa.schema({"a": pa.int64()}))
    with pytest.raises(ExpressionError, match="nested too deeply"):
        expr.type(pa.schema({"a": pa.int64()}))


def test_choices_nested_many_times_compile_at_once():
    expr = col("a")
    for n in range(40):
        expr = when(col("a") == n).then(n + 1).otherwise(expr.fill_null(-1))
    found = evaluate_any(expr, pa.record_batch({"a": pa.array([0, 39, 77, None])}))
    assert found.values.to_pylist() == [1, 40, 77, -1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ii", [], [0], [("add_f", 1, 0, 0, -1)], 1, Kind.INT64), "does not fit"),
        (("ii", [], [0], [("add_i", 1, 0, 5, -1)], 1, Kind.INT64), "register 5"),
        (("ii", [], [0], [("add_i", 1, 1, 0, -1)], 1, Kind.INT64), "writes to an operand"),
        (("ii", [], [0], [("add_i", 0, 1, 1, -1)], 1, Kind.INT64), "register of column"),
        (("ii", [], [0], [("plus", 1, 0, 0, -1)], 1, Kind.INT64), "no operation"),
        (("ii", [], [7], [], 1, Kind.INT64), "register 7"),
        (("ii", [], [0], [], 3, Kind.INT64), "result"),
        (("ii", [], [0], [], 1, Kind.FLOAT64), "result"),
    ],
)
def test_a_program_is_checked_when_it_is_made(arguments, message):
    with pytest.raises(ValueError, match=message):
        Program(*arguments)


def test_a_run_is_checked_before_it_writes():
    gate = Gate()
    gate.reset()
    program = Program("ii", [], [0], [("negate_i", 1, 0, -1, -1)], 1, Kind.INT64)
    views = Views([pa.array([1, 2])])
    with pytest.raises(ValueError, match="outside"):
        program.run(views, 0, 3, gate, pa.allocate_buffer)
    with pytest.raises(ValueError, match="no column 0"):
        program.run(Views([]), 0, 1, gate, pa.allocate_buffer)
    with pytest.raises(TypeError, match="not as compiled"):
        program.run(Views([pa.array([1.0])]), 0, 1, gate, pa.allocate_buffer)
    with pytest.raises(TypeError, match="not as compiled"):
        program.run(Views([pa.array(["a"])]), 0, 1, gate, pa.allocate_buffer)
    with pytest.raises(TypeError, match="condition"):
        program.select(views, 0, 2, gate, np.empty(2, np.int64))
    with pytest.raises(ValueError, match="reads 1 columns"):
        program.read_from([1, 2])


def test_columns_of_a_wide_batch_are_read_one_by_one():
    batch = pa.record_batch({f"c{n}": [n, n + 1] for n in range(40)})
    found = evaluate_any(col("c7") * col("c30"), batch)
    assert found.values.to_pylist() == [7 * 30, 8 * 31]
