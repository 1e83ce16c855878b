import datetime
import gc
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.channels.gate import DONE, FULL, RAISED, STOPPED, Gate
from ambergate.errors import ValueTypeError
from ambergate.kernels.reference import rows as reference
from ambergate.kernels.rows import Row, RowFilter, RowFunction
from tests.native.arrays import OTHER_VALUES, VALUES, batches

STOPS = st.lists(st.integers(0, 40), max_size=5)


def open_gate(limit=None):
    gate = Gate()
    gate.reset()
    if limit is not None:
        gate.set_limit(limit)
    return gate


def same(found, expected):
    assert str(found) == str(expected)  # NaN and -0.0 too


@settings(max_examples=150)
@given(batch=batches([*VALUES, *OTHER_VALUES]), stops=STOPS)
def test_values_go_in_and_out_unchanged_however_often_it_stops(batch, stops):
    names, types = batch.schema.names, batch.schema.types
    seen = []

    def identity(*values):
        seen.append(values)
        return values[0] if len(values) == 1 else values

    returns = dict(zip(names, types, strict=True))
    call = RowFunction(identity, "f", batch.schema, names, returns)
    gate, cursor, parts = open_gate(), 0, []
    for limit in [*sorted(stops), batch.num_rows]:
        gate.set_limit(limit)
        outcome = call.map(batch, cursor, batch.num_rows, gate)
        cursor = outcome.cursor
        assert outcome.error is None and gate.position in (0, cursor)
        assert outcome.status == (DONE if cursor == batch.num_rows else STOPPED)
        for column in outcome.columns:
            column.validate(full=True)
        parts.append(pa.RecordBatch.from_arrays(outcome.columns, schema=pa.schema(returns.items())))
    same(pa.Table.from_batches(parts).to_pylist(), batch.to_pylist())
    same(seen, [tuple(row.values()) for row in batch.to_pylist()])


@settings(max_examples=80)
@given(batch=batches(max_columns=3), stops=STOPS, raising=st.integers(0, 60), whole=st.booleans())
def test_a_row_that_raises_leaves_nothing_and_is_found(batch, stops, raising, whole):
    def make():
        left = [raising]

        def function(*values):
            left[0] -= 1
            if left[0] < 0:
                raise KeyError("row")
            return values[0] is not None

        return function

    if whole:
        name = batch.schema.names[0]
        call = RowFilter(
            (lambda inner: lambda row: inner(row[name]))(make()), "f", batch.schema, None
        )
    else:
        call = RowFilter(make(), "f", batch.schema, batch.schema.names)
    gate, cursor, kept, error = open_gate(), 0, [], None
    for limit in [*sorted(stops), batch.num_rows]:
        gate.set_limit(limit)
        status, cursor, rows, error = call(batch, cursor, batch.num_rows, gate)
        kept += rows.tolist()
        if status == RAISED:
            break
    expected = reference.filter_rows(make(), batch.columns)
    assert (cursor, kept) == expected[:2]
    assert type(error) is type(expected[2])


@settings(max_examples=80)
@given(
    counts=st.lists(st.integers(0, 5), max_size=30),
    stops=STOPS,
    most=st.integers(1, 8),
    way=st.sampled_from([list, tuple, iter, lambda rows: (row for row in rows)]),
)
def test_flat_map_stops_at_row_boundaries(counts, stops, most, way):
    batch = pa.record_batch({"n": pa.array(counts, pa.int64())})
    function = lambda n: way([f"{n}.{k}" for k in range(n)])  # noqa: E731
    call = RowFunction(function, "f", batch.schema, ["n"], {"x": pa.string()})
    gate, cursor, made, repeats = open_gate(), 0, [], []
    for limit in [*sorted(stops), len(counts)]:
        gate.set_limit(limit)
        status = FULL
        while status == FULL:
            outcome = call.flat_map(batch, cursor, len(counts), gate, most)
            status, cursor = outcome.status, outcome.cursor
            if status == FULL:
                assert len(outcome.columns[0]) >= most
            assert len(outcome.columns[0]) < most + 5
            made += outcome.columns[0].to_pylist()
            repeats += outcome.counts.tolist()
    assert repeats == counts
    assert made == reference.flat_map_rows(function, batch.columns)[1]


def call_map(result, returns, column="v"):
    batch = pa.record_batch({column: [1, 2, 3]})
    function = lambda v: result(v) if callable(result) else result  # noqa: E731
    call = RowFunction(function, "answer (x.py:1)", batch.schema, [column], returns)
    return call.map(batch, 0, 3, open_gate())


@pytest.mark.parametrize(
    ("value", "kind", "plain"),
    [
        (np.int16(5), pa.int64(), 5),
        (np.float32(1.5), pa.float64(), 1.5),
        (np.int8(-3), pa.float64(), -3.0),
        (np.bool_(True), pa.bool_(), True),
        (np.str_("x"), pa.string(), "x"),
        (7, pa.float64(), 7.0),
        (pa.scalar(5), pa.int32(), 5),
        (None, pa.string(), None),
        ((5,), pa.int64(), 5),
        ({"x": None}, pa.int64(), None),
        (bytearray(b"ab"), pa.binary(), b"ab"),
        (-128, pa.int8(), -128),
        ((1 << 64) - 1, pa.uint64(), (1 << 64) - 1),
        (datetime.date(2020, 1, 2), pa.date32(), datetime.date(2020, 1, 2)),
        (np.datetime64("2020-01-02"), pa.timestamp("us"), datetime.datetime(2020, 1, 2)),
        (Decimal("1.5"), pa.decimal128(5, 2), Decimal("1.50")),
        ((1, 2), pa.list_(pa.int64()), [1, 2]),
        (np.array([1.0]), pa.list_(pa.float64()), [1.0]),
        ({"a": 1}, pa.struct([("a", pa.int64())]), {"a": 1}),
        ({"a": 1}, pa.map_(pa.string(), pa.int64()), [("a", 1)]),
        ("a", pa.dictionary(pa.int32(), pa.string()), "a"),
    ],
)
def test_values_that_are_taken(value, kind, plain):
    outcome = call_map(value, {"x": kind})
    assert outcome.error is None
    assert outcome.columns[0].type == kind and outcome.columns[0].to_pylist() == [plain] * 3


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (True, pa.int64(), "int64 for column 'x', got True (bool)"),
        (1.0, pa.int64(), "int(value)"),
        ("5", pa.int64(), "got '5' (str)"),
        (300, pa.int8(), "300 (int), which does not fit"),
        (-1, pa.uint64(), "does not fit"),
        (-1, pa.uint8(), "does not fit"),
        (1 << 63, pa.int64(), "decimal128(38, 0)"),
        (True, pa.float64(), "got True"),
        (10**400, pa.float64(), "does not fit"),
        (Decimal(1), pa.float64(), "float(value)"),
        (1, pa.bool_(), "bool(value)"),
        (b"a", pa.string(), "decode it"),
        (5, pa.string(), "str(value)"),
        ("a", pa.binary(), "encode it"),
        (np.array([1]), pa.int64(), "ndarray"),
        (datetime.datetime(2020, 1, 1), pa.date32(), "datetime.date"),
        (5, pa.timestamp("us"), "datetime.datetime"),
        (1.5, pa.decimal128(5, 2), "Decimal"),
        (Decimal("1.555"), pa.decimal128(5, 2), "quantize"),
        ("abc", pa.list_(pa.string()), "return a list"),
        ([1.5], pa.list_(pa.int64()), "1.5 (float)"),
        ({"b": 1}, pa.struct([("a", pa.int64())]), "['a']"),
        (5, pa.null(), "declare the type"),
        ((1, 2), pa.int64(), "(1, 2) (tuple)"),
        ("\ud800", pa.string(), "surrogates"),
    ],
)
def test_values_that_are_refused_at_their_row(value, kind, text):
    outcome = call_map(lambda v: value if v == 2 else None, {"x": kind})
    assert (outcome.status, outcome.cursor, len(outcome.columns[0])) == (RAISED, 1, 1)
    assert text in str(outcome.error)
    if "surrogates" not in text:
        assert isinstance(outcome.error, ValueTypeError)
        assert str(outcome.error).startswith("answer (x.py:1) must return ")


TWO = {"x": pa.int64(), "y": pa.string()}


@pytest.mark.parametrize("result", [(1, "a"), [1, "a"], {"y": "a", "x": 1}])
def test_rows_of_several_columns(result):
    outcome = call_map(result, TWO)
    assert [column.to_pylist() for column in outcome.columns] == [[1] * 3, ["a"] * 3]


def test_none_is_a_row_of_nulls():
    assert [c.to_pylist() for c in call_map(None, TWO).columns] == [[None] * 3] * 2


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (5, "got 5 (int)"),
        ((1,), "got 1 values"),
        ({"x": 1}, "a dict without ['y']"),
        ({"x": 1, "z": 1}, "without ['y'] and with ['z'] too"),
        ({"x": 1, "y": "a", "z": 1}, "with ['z'] too"),
        ("ab", "'ab'"),
        ((1, 2), "string for column 'y', got 2 (int)"),
    ],
)
def test_rows_of_another_shape_are_refused_and_leave_nothing(result, text):
    outcome = call_map(lambda v: result if v == 3 else (1, "a"), TWO)
    assert (outcome.status, outcome.cursor) == (RAISED, 2)
    assert [column.to_pylist() for column in outcome.columns] == [[1, 1], ["a", "a"]]
    assert text in str(outcome.error)


async def coroutine(v):
    return v


def generator(v):
    yield v


async def asynchronous_generator(v):
    yield v


@pytest.mark.parametrize("kind", [pa.int64(), pa.list_(pa.int64())])
def test_what_has_not_run_is_refused(kind):
    for function, text in ((coroutine, "a coroutine"), (generator, "use flat_map"),
                           (asynchronous_generator, "asynchronous generator")):  # fmt: skip
        for returns in ({"x": kind}, {"x": kind, "y": kind}):
            assert text in str(call_map(function, returns).error)
        batch = pa.record_batch({"v": [1]})
        error = RowFilter(function, "f", batch.schema, ["v"])(batch, 0, 1, open_gate())[3]
        assert isinstance(error, ValueTypeError)


@pytest.mark.parametrize("result", ["abc", b"abc", {"x": 1}, None, 5])
def test_flat_map_refuses_what_is_one_value(result):
    batch = pa.record_batch({"v": [1, 2]})
    function = lambda v: [v] if v == 1 else result  # noqa: E731
    call = RowFunction(function, "words (x.py:1)", batch.schema, ["v"], {"x": pa.int64()})
    outcome = call.flat_map(batch, 0, 2, open_gate(), 100)
    assert (outcome.status, outcome.cursor) == (RAISED, 1)
    assert outcome.columns[0].to_pylist() == [1] and outcome.counts.tolist() == [1]
    assert str(outcome.error).startswith("words (x.py:1) must return an iterable of rows, got ")


def test_a_generator_that_raises_leaves_nothing_of_its_row():
    def function(v):
        yield v
        if v == 2:
            raise ValueError("two")
        yield -v

    batch = pa.record_batch({"v": [1, 2]})
    call = RowFunction(function, "f", batch.schema, ["v"], {"x": pa.int64()})
    outcome = call.flat_map(batch, 0, 2, open_gate(), 100)
    assert (outcome.status, outcome.cursor, outcome.columns[0].to_pylist()) == (RAISED, 1, [1, -1])
    again = call.flat_map(batch, 0, 1, open_gate(), 100)
    assert again.columns[0].to_pylist() == [1, -1]


def test_the_traceback_begins_in_the_users_function():
    def inner():
        raise RuntimeError("deep")

    outcome = call_map(lambda v: inner(), {"x": pa.int64()})
    trace = outcome.error.__traceback__
    assert trace.tb_frame.f_code.co_name == "<lambda>"
    assert trace.tb_next.tb_next.tb_frame.f_code.co_name == "inner"


def test_the_text_of_results_is_bounded():
    batch = pa.record_batch({"v": list(range(10))})
    call = RowFunction(lambda v: "x" * (24 << 20), "f", batch.schema, ["v"], {"x": pa.string()})
    outcome = call.map(batch, 0, 10, open_gate())
    assert (outcome.status, outcome.cursor) == (FULL, 3)


def test_a_row_is_a_mapping():
    batch = pa.record_batch({"a": [1, 2], "keys": ["x", None], "größe": [[1], [2]]})
    seen = []

    def function(row):
        assert (row.a, row["a"], row["keys"], row.größe) == tuple(
            row.as_dict()[name] for name in ("a", "a", "keys", "größe")
        )
        assert len(row) == 3 and list(row) == ["a", "keys", "größe"] and "a" in row
        assert dict(row) == row.as_dict() and row == dict(row) and row.get("b", 7) == 7
        with pytest.raises(AttributeError, match=r"no column 'b'; columns: a, keys, größe"):
            row.b  # noqa: B018
        with pytest.raises(KeyError, match="no column 'b'"):
            row["b"]
        with pytest.raises(AttributeError):
            row.a = 5
        seen.append(repr(row))
        return row.a

    call = RowFunction(function, "f", batch.schema, None, {"x": pa.int64()})
    outcome = call.map(batch, 0, 2, open_gate())
    assert outcome.error is None and outcome.columns[0].to_pylist() == [1, 2]
    assert seen[1] == "Row(a=2, keys=None, größe=[2])"
    with pytest.raises(TypeError, match="made by ambergate"):
        Row()


def test_a_kept_row_goes_on_showing_itself():
    kept, bound = [], []

    def function(row):
        if row.v % 2:
            kept.append(row)
        elif row.v % 4 == 0:
            bound.append(row.as_dict)
        return 1

    values = [f"text {n}" for n in range(20)]
    batch = pa.record_batch({"v": list(range(20)), "s": values})
    call = RowFunction(function, "f", batch.schema, None, {"x": pa.int64()})
    call.map(batch, 0, 20, open_gate())
    del batch
    gc.collect()
    assert [(row.v, row.s) for row in kept] == [(n, values[n]) for n in range(1, 20, 2)]
    assert [method()["v"] for method in bound] == [0, 4, 8, 12, 16]
    assert kept[0] == {"v": 1, "s": "text 1"} and len(kept[0]) == 2


def test_a_row_in_a_traceback_goes_on_showing_itself():
    def function(row):
        if row.v == 1:
            raise ValueError
        return 1

    batch = pa.record_batch({"v": [0, 1, 2]})
    call = RowFunction(function, "f", batch.schema, None, {"x": pa.int64()})
    outcome = call.map(batch, 0, 3, open_gate())
    call.map(batch, 2, 3, open_gate())
    assert outcome.error.__traceback__.tb_frame.f_locals["row"].v == 1


def test_nothing_leaks():
    value = object()
    batch = pa.record_batch({"v": list(range(100)), "s": ["x"] * 100})

    def function(v, s):
        if v == 50:
            raise ValueError
        return value if v == 40 else v

    call = RowFunction(function, "f", batch.schema, ["v", "s"], {"x": pa.int64()})
    before = sys.getrefcount(value)
    for start in (0, 41):
        outcome = call.map(batch, start, 100, open_gate())
        assert outcome.status == RAISED
    del outcome
    gc.collect()
    assert sys.getrefcount(value) == before
    before = sys.getallocatedblocks()
    for _ in range(300):
        call.map(batch, 0, 40, open_gate())
        call.map(batch, 41, 60, open_gate())
    gc.collect()
    assert sys.getallocatedblocks() - before < 200


def test_text_that_is_not_utf8_is_an_error_of_its_row():
    values = pa.array([b"ok", b"\xff"]).view(pa.string())
    batch = pa.record_batch({"v": [1, 2], "s": values})
    call = RowFunction(lambda v, s: s, "f", batch.schema, ["v", "s"], {"x": pa.string()})
    for _ in range(3):
        outcome = call.map(batch, 0, 2, open_gate())
        assert (outcome.status, outcome.cursor) == (RAISED, 1)
        assert isinstance(outcome.error, UnicodeDecodeError)
