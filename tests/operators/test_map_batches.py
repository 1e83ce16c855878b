import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.channels.gate import RAISED
from ambergate.errors import ValueTypeError
from ambergate.operators.map_batches import MapBatches
from tests.operators.drive import Driver, cut, run

TABLE = pa.table({"k": list(range(450)), "s": [str(n) for n in range(450)]})
RETURNS = {"first": "int64", "n": "int64"}


def spans(batch):
    return {"first": [batch["k"][0].as_py()], "n": np.array([batch.num_rows])}


@settings(max_examples=40)
@given(
    rows=st.sampled_from([1, 7, 400]),
    size=st.sampled_from([1, 5, 64, 450, 1000]),
    stops=st.lists(st.integers(0, 449), max_size=4),
    swap=st.booleans(),
)
def test_batches_are_cut_exactly_whatever_the_input(rows, size, stops, swap):
    result = run(MapBatches(spans, RETURNS, size), TABLE, rows, stops, swap)
    firsts = list(range(0, 450, size))
    assert result["first"].to_pylist() == firsts
    assert result["n"].to_pylist() == [min(size, 450 - first) for first in firsts]


@pytest.mark.parametrize(
    "make",
    [
        lambda batch: batch.select(["s", "k"]),
        lambda batch: pa.table(batch),
        lambda batch: {"k": batch["k"], "s": batch["s"].to_pylist()},
        lambda batch: pa.RecordBatchReader.from_batches(batch.schema, [batch, batch.slice(0, 0)]),
    ],
)
def test_what_may_be_returned(make):
    assert run(MapBatches(make, TABLE.schema, 100), TABLE, 70).equals(TABLE)


def test_any_number_of_rows_may_be_returned():
    twice = lambda batch: pa.concat_tables([pa.table(batch)] * 2)  # noqa: E731
    assert run(MapBatches(twice, TABLE.schema, 100), TABLE).num_rows == 900
    assert run(MapBatches(lambda batch: batch.slice(0, 0), TABLE.schema), TABLE).num_rows == 0


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (None, "got None"),
        ([1], "got [1] (list)"),
        ({"first": [1]}, "the columns ['first']"),
        ({"first": [1], "n": [1], "m": [1]}, "'m'"),
        ({"first": [1], "n": [1, 2]}, "lengths {'first': 1, 'n': 2}"),
        ({"first": [1.5], "n": [1]}, "int64 for column 'first'"),
        ({"first": np.array([1.0]), "n": [1]}, "an array of double; cast it, or declare"),
        ({"first": "abc", "n": [1]}, "int64 for column 'first'"),
        ((n for n in [1]), "a generator"),
    ],
)
def test_what_may_not_be_returned(result, text):
    progress = Driver(MapBatches(lambda batch: result, RETURNS, 7), TABLE.schema).feed(
        cut(TABLE, 100)[0]
    )
    assert (progress.status, progress.cursor) == (RAISED, 6)
    assert isinstance(progress.error, ValueTypeError) and text in str(progress.error)


def test_a_raising_function_is_called_again_with_the_same_rows():
    fail = [True]

    def fn(batch):
        if fail[0] and batch["k"][0].as_py() == 40:
            raise ValueError("no")
        return batch

    driver = Driver(MapBatches(fn, TABLE.schema, 20), TABLE.schema)
    batches = cut(TABLE, 45)
    driver.feed(batches[0])
    progress = driver.feed(batches[1])
    assert (progress.status, progress.cursor) == (RAISED, 14)
    assert progress.error.__traceback__.tb_frame.f_code is fn.__code__
    assert driver.executor.describe()["held"].num_rows == 19
    fail[0] = False
    driver.take(driver.executor.process(0, batches[1], 14, 45, driver.gate).outputs)
    assert driver.result()["k"].to_pylist() == list(range(90))


def test_a_snapshot_holds_just_the_rows_held():
    driver = Driver(MapBatches(spans, RETURNS, 400), TABLE.schema)
    driver.feed(cut(TABLE, 450)[0])
    state = driver.executor.snapshot()
    assert state["k"].to_pylist() == list(range(400, 450))
    assert state.get_total_buffer_size() < 2000


def test_rows_must_be_a_number():
    for rows in (0, -1, 2.5):
        with pytest.raises(ValueError, match="rows="):
            MapBatches(spans, RETURNS, rows)
