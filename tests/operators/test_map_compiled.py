import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.channels.gate import RAISED
from ambergate.errors import PlanError, ValueTypeError
from ambergate.operators.map import Map
from tests.operators.drive import Driver, cut, run

ROWS = 9000
TABLE = pa.table(
    {
        "a": pa.array(range(ROWS), pa.int32()),
        "x": [None if n % 11 == 3 else n / 4 for n in range(ROWS)],
        "t": [n % 3 == 0 for n in range(ROWS)],
        "s": ["x"] * ROWS,
    }
)


def mixed(a, x, t):
    return a * 2 if t else a, x * 0.5, not t


MIXED = Map(mixed, ("a", "x", "t"), {"b": "int64", "x": "float64", "u": "bool"}, jit=True)


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from([7, 400, ROWS]), st.lists(st.integers(0, ROWS - 1), max_size=4), st.booleans()
)
def test_it_gives_what_python_gives_and_null_for_null(rows, stops, swap):
    result = run(MIXED, TABLE, rows, stops, swap).to_pylist()
    for found, row in zip(result, TABLE.to_pylist(), strict=True):
        b, x, u = mixed(row["a"], row["x"] or 0.0, row["t"])
        null = row["x"] is None
        assert (found["b"], found["x"], found["u"]) == ((None,) * 3 if null else (b, x, u))


def test_an_exception_is_found_at_its_row():
    operator = Map(lambda a: 10 // (a - 5000), ("a",), {"b": "int64"}, jit=True)
    driver = Driver(operator, TABLE.schema)
    progress = driver.feed(cut(TABLE, ROWS)[0])
    assert (progress.status, progress.cursor) == (RAISED, 5000)
    assert isinstance(progress.error, ZeroDivisionError)
    assert driver.outputs[0]["b"].to_pylist() == [10 // (n - 5000) for n in range(5000)]


def test_a_value_that_does_not_fit_is_found_at_its_row():
    driver = Driver(Map(lambda a: a - 1, ("a",), {"b": "int8"}, jit=True), TABLE.schema)
    progress = driver.feed(cut(TABLE, ROWS)[0])
    assert (progress.status, progress.cursor) == (RAISED, 129)
    assert isinstance(progress.error, ValueTypeError) and "128 (int)" in str(progress.error)
    driver = Driver(Map(lambda a: a - 1, ("a",), {"b": "uint64"}, jit=True), TABLE.schema)
    assert driver.feed(cut(TABLE, ROWS)[0]).cursor == 0


def test_none_is_null():
    def fn(a):
        if a % 2:
            return None
        return a

    table = run(Map(fn, ("a",), {"b": "int64"}, jit=True), TABLE)
    assert table["b"].to_pylist() == [None if n % 2 else n for n in range(ROWS)]


@pytest.mark.parametrize(
    ("columns", "returns", "text"),
    [
        (None, {"b": "int64"}, "needs columns="),
        (("s",), {"b": "int64"}, "takes column 's' of type string"),
        (("a",), {"b": "string"}, "returns column 'b' of type string"),
    ],
)
def test_plan_errors_before_start(columns, returns, text):
    with pytest.raises(PlanError, match="'op'") as caught:
        Map(abs, columns, returns, jit=True).output_schema("op", TABLE.schema)
    assert text in str(caught.value)


def uncompilable(a):
    return {"b": {a}.union(open("/dev/null"))}


@pytest.mark.parametrize(
    ("fn", "returns", "text"),
    [
        (uncompilable, {"b": "int64"}, "Numba cannot compile it"),
        (lambda a: a * 0.5, {"b": "int64"}, "gives float64 for a column declared int64"),
        (lambda a: a > 1, {"b": "int64"}, "gives bool"),
        (lambda a: (a, a), {"b": "int64"}, "for 1 declared columns"),
        (lambda a: a, {"b": "int64", "c": "int64"}, "for 2 declared columns"),
    ],
)
def test_plan_errors_at_open(fn, returns, text):
    with pytest.raises(PlanError, match=r"'op': .*test_map_compiled.py:\d+") as caught:
        Driver(Map(fn, ("a",), returns, jit=True), TABLE.schema)
    assert text in str(caught.value)


def test_unsigned_and_narrow_columns():
    table = pa.table({"u": np.array([0, 2**64 - 1], np.uint64), "f": np.array([1, 2], np.float32)})
    result = run(Map(lambda u: u, ("u",), {"v": "uint64"}, jit=True), table)
    assert result["v"].to_pylist() == [0, 2**64 - 1]
    with pytest.raises(ValueTypeError, match="does not fit"):
        run(Map(lambda u: u, ("u",), {"v": "int64"}, jit=True), table)
    result = run(Map(lambda f: f * f, ("f",), {"g": "float32"}, jit=True), table)
    assert result["g"].to_pylist() == [1.0, 4.0]


def test_numba_is_imported_only_when_used():
    code = "import sys, ambergate.operators.map; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
