import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.channels.gate import RAISED
from ambergate.errors import ValueTypeError
from ambergate.operators.base import OUTPUT_ROWS
from ambergate.operators.flat_map import FlatMap
from tests.operators.drive import Driver, run

TABLE = pa.table({"k": list(range(450)), "text": ["a b c"[: n % 6] for n in range(450)]})
EXPECTED = [(k, word) for k, text in enumerate(TABLE["text"].to_pylist()) for word in text.split()]


def words(text):
    yield from text.split()


@settings(max_examples=30)
@given(
    st.sampled_from([1, 7, 400]),
    st.lists(st.integers(0, 449), max_size=4),
    st.booleans(),
    st.sampled_from([str.split, words, lambda text: tuple(text.split())]),
)
def test_other_columns_are_repeated(rows, stops, swap, fn):
    table = run(FlatMap(fn, ("text",), {"word": "string"}), TABLE, rows, stops, swap)
    assert list(zip(table["k"].to_pylist(), table["word"].to_pylist(), strict=True)) == EXPECTED
    assert table.column_names == ["k", "text", "word"]


def test_several_columns_and_a_replaced_one():
    fn = lambda row: [(word, len(word)) for word in row.text.split()]  # noqa: E731
    table = run(FlatMap(fn, None, {"text": "string", "n": "int8"}), TABLE)
    assert table.column_names == ["k", "text", "n"]
    assert table["text"].to_pylist() == [word for _, word in EXPECTED]


def test_no_rows_at_all_keep_the_schema():
    table = run(FlatMap(lambda text: [], ("text",), {"word": "string"}), TABLE, 7)
    assert table.num_rows == 0 and table.schema.field("word").type == pa.string()


def test_only_returned_columns():
    table = run(FlatMap(str.split, ("text",), {"text": "string"}), TABLE.select(["text"]))
    assert table["text"].to_pylist() == [word for _, word in EXPECTED]


def test_one_row_may_give_more_than_a_batch():
    many = OUTPUT_ROWS * 2 + 5
    table = pa.table({"k": [0, 1, 2]})
    operator = FlatMap(lambda k: range(many) if k == 1 else [k], ("k",), {"v": "int64"})
    result = run(operator, table)
    assert result["v"].to_pylist() == [0, *range(many), 2]
    assert result["k"].to_pylist() == [0] + [1] * many + [2]


def test_a_dict_is_refused_and_leaves_nothing():
    operator = FlatMap(lambda k: {"v": 1} if k == 3 else [1], ("k",), {"v": "int64"})
    driver = Driver(operator, TABLE.schema)
    progress = driver.feed(TABLE.to_batches()[0])
    assert (progress.status, progress.cursor, driver.outputs[0].num_rows) == (RAISED, 3, 3)
    assert isinstance(progress.error, ValueTypeError)
    with pytest.raises(ValueTypeError, match=r"test_flat_map.py:\d+\) must return an iterable"):
        raise progress.error
