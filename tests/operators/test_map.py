import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.channels.gate import RAISED
from ambergate.errors import PlanError, ValueTypeError
from ambergate.operators.map import Map
from tests.operators.drive import Driver, cut, run

TABLE = pa.table({"a": list(range(500)), "s": [f"s{n}" if n % 5 else None for n in range(500)]})
SIZES = st.sampled_from([1, 7, 400])
STOPS = st.lists(st.integers(0, 499), max_size=4)


@settings(max_examples=30)
@given(SIZES, STOPS, st.booleans(), st.booleans())
def test_columns_are_added_or_replaced(rows, stops, swap, whole):
    if whole:
        fn = lambda row: (row.a * 2, f"{row.s}!")  # noqa: E731
    else:
        fn = lambda a, s: {"s": f"{s}!", "b": a * 2}  # noqa: E731
    operator = Map(fn, None if whole else ("a", "s"), {"b": "int64", "s": pa.large_string()})
    table = run(operator, TABLE, rows, stops, swap)
    assert table.schema == pa.schema({"a": "int64", "s": "large_string", "b": "int64"})
    assert table["a"].to_pylist() == TABLE["a"].to_pylist()
    assert table["b"].to_pylist() == [2 * n for n in range(500)]
    assert table["s"].to_pylist() == [f"{s}!" for s in TABLE["s"].to_pylist()]


def test_a_raising_row_stops_at_itself_and_can_be_retried():
    broken = {250}

    def fn(a):
        if a in broken:
            raise ZeroDivisionError(a)
        return a

    driver = Driver(Map(fn, ("a",), {"b": "int64"}), TABLE.schema)
    (batch,) = cut(TABLE, 500)
    progress = driver.feed(batch)
    assert (progress.status, progress.cursor, progress.error.args) == (RAISED, 250, (250,))
    assert driver.outputs[0].num_rows == 250
    again = driver.executor.process(0, batch, 250, 500, driver.gate)
    assert (again.status, again.cursor, again.outputs) == (RAISED, 250, ())
    broken.clear()
    driver.take(driver.executor.process(0, batch, 250, 500, driver.gate).outputs)
    assert driver.result()["b"].to_pylist() == list(range(500))


class KeywordOnly(Exception):
    def __init__(self, *, code):
        super().__init__()
        self.code = code


class NoText(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class Base(BaseException):
    pass


@pytest.mark.parametrize(
    "error",
    [
        KeywordOnly(code=1),
        NoText(),
        Base("base"),
        SystemExit(3),
        KeyboardInterrupt(),
        GeneratorExit(),
        Exception(lambda: 1),
        Exception("x" * (50 << 20)),
        ExceptionGroup("two", [ValueError(1), KeyError(2)]),
        StopIteration(5),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_is_raised_is_given_back_at_its_row(error):
    def fn(a):
        if a == 37:
            raise error
        return a

    driver = Driver(Map(fn, ("a",), {"b": "int64"}), TABLE.schema)
    progress = driver.feed(cut(TABLE, 100)[0])
    assert (progress.status, progress.cursor) == (RAISED, 37)
    assert progress.error is error
    assert error.__traceback__.tb_frame.f_code is fn.__code__


def test_a_value_with_no_text_is_refused_with_its_type():
    class Silent:
        def __repr__(self):
            raise RuntimeError

    driver = Driver(Map(lambda a: Silent(), ("a",), {"b": "int64"}), TABLE.schema)
    error = driver.feed(TABLE.slice(0, 3).to_batches()[0]).error
    assert isinstance(error, ValueTypeError)
    assert "test_map.py:" in str(error) and "a Silent that has no text" in str(error)


@pytest.mark.parametrize(
    ("columns", "fn", "text"),
    [
        (("x",), len, "no column 'x' in its input; its columns are 'a', 's'"),
        (("a",), 5, "5 is not a function"),
    ],
)
def test_plan_errors(columns, fn, text):
    with pytest.raises(PlanError, match="'double'") as caught:
        Map(fn, columns, {"b": "int64"}).output_schema("double", TABLE.schema)
    assert text in str(caught.value)


def test_a_column_that_is_there_twice_is_refused():
    twice = pa.schema([("a", pa.int64()), ("a", pa.int8())])
    with pytest.raises(PlanError, match="2 columns are called 'a'"):
        Map(len, None, {"b": "int64"}).output_schema("op", twice)


def test_declarations_are_checked_when_they_are_made():
    with pytest.raises(ValueError, match=r"returns\['b'\]: unknown type 'int46'.*'int64'"):
        Map(len, ("a",), {"b": "int46"})
    with pytest.raises(ValueError, match="names no column"):
        Map(len, ("a",), {})
    with pytest.raises(TypeError, match="dict of column names"):
        Map(len, ("a",), "int64")
    with pytest.raises(TypeError, match=r"returns\['b'\].*'float64'"):
        Map(len, ("a",), {"b": float})
    assert Map(len, "a", {"b": "int64"}).columns == ("a",)


def test_only_what_is_needed_is_asked_for():
    operator = Map(len, ("s",), {"n": "int64"})
    assert operator.needs(0, frozenset({"n"}), TABLE.schema) == {"s"}
    assert operator.needs(0, frozenset({"n", "a"}), TABLE.schema) == {"s", "a"}
    assert Map(len, None, {"n": "int8"}).needs(0, frozenset("n"), TABLE.schema) == {"a", "s"}


def test_no_rows():
    table = run(Map(len, ("s",), {"n": "int64"}), TABLE.slice(0, 0))
    assert table.num_rows == 0 and table.column_names == ["a", "s", "n"]
