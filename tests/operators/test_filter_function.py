import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.channels.gate import RAISED
from ambergate.operators.base import OUTPUT_ROWS
from ambergate.operators.filter_function import FilterFunction
from tests.operators.drive import Driver, cut, run

TABLE = pa.table(
    {
        "k": list(range(450)),
        "v": [None if n % 7 == 0 else n / 2 for n in range(450)],
        "l": [[n] for n in range(450)],
    }
)


@settings(max_examples=30)
@given(
    st.sampled_from([1, 7, 400]),
    st.lists(st.integers(0, 449), max_size=4),
    st.booleans(),
    st.booleans(),
)
def test_rows_with_a_true_value_are_kept(rows, stops, swap, whole):
    fn = (
        (lambda row: row.v and row.v > 100) if whole else (lambda v: None if v is None else v > 100)
    )
    operator = FilterFunction(fn, None if whole else ("v",))
    table = run(operator, TABLE, rows, stops, swap)
    assert table.to_pylist() == [row for row in TABLE.to_pylist() if row["v"] and row["v"] > 100]


def test_truth_is_pythons():
    truths = [1, "", "x", [], np.bool_(True), np.bool_(False), 0.0, None]
    table = pa.table({"k": range(len(truths))})
    result = run(FilterFunction(lambda k: truths[k], ("k",)), table)
    assert result["k"].to_pylist() == [0, 2, 4]


def test_a_raising_row_keeps_those_before():
    driver = Driver(FilterFunction(lambda k: 1 / (k - 5), ("k",)), TABLE.schema)
    progress = driver.feed(cut(TABLE, 100)[0])
    assert (progress.status, progress.cursor) == (RAISED, 5)
    assert driver.outputs[0]["k"].to_pylist() == [0, 1, 2, 3, 4]


def test_large_batches_are_emitted_in_pieces():
    table = pa.table({"k": np.arange(OUTPUT_ROWS + 10)})
    assert run(FilterFunction(lambda k: True, ("k",)), table, 1 << 20).equals(table)


def test_needs():
    operator = FilterFunction(bool, ("k",))
    assert operator.needs(0, frozenset("v"), TABLE.schema) == {"k", "v"}
    assert FilterFunction(bool).needs(0, frozenset("v"), TABLE.schema) == {"k", "v", "l"}
