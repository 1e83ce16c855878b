"""MapBatches: exact batches, wherever it is stopped."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ambergate.channels.gate import DONE, RAISED, Gate
from ambergate.errors import ValueTypeError
from ambergate.operators.base import Seat
from ambergate.operators.map_batches import MapBatches

SCHEMA = pa.schema({"x": pa.int64()})
SEAT = Seat("m", 0, 1)


def executor(function, rows):
    returns = {"n": pa.int64(), "total": pa.int64()}
    return MapBatches(function, returns, rows).open(SEAT, SCHEMA)


def drive(executor, values, stops, batch_rows):
    """Feed ``values`` in batches, stopping at each of ``stops``; the output rows."""
    gate, out, position = Gate(), [], 0
    gate.reset()
    limits = [*sorted(stops), 1 << 62]
    gate.set_limit(limits.pop(0))
    for first in range(0, len(values), batch_rows):
        batch = pa.record_batch({"x": pa.array(values[first : first + batch_rows], pa.int64())})
        cursor = 0
        while cursor < batch.num_rows:
            gate.at(position - cursor)
            status, end, made, error = executor.process(0, batch, cursor, batch.num_rows, gate)
            assert error is None
            assert status == DONE or end < batch.num_rows
            position += end - cursor
            cursor = end
            for each in made:
                out += each.to_pylist()
            while limits and position >= gate.limit:
                gate.set_limit(limits.pop(0))
    for each in executor.end(0):
        out += each.to_pylist()
    return out


@given(
    values=st.lists(st.integers(-1000, 1000), max_size=60),
    rows=st.integers(1, 17),
    batch_rows=st.integers(1, 23),
    stops=st.lists(st.integers(0, 60), max_size=6),
)
def test_batches_are_exact_wherever_it_stops(values, rows, batch_rows, stops):
    def count(batch):
        return {"n": [batch.num_rows], "total": [sum(batch["x"].to_pylist())]}

    expected = [
        {"n": len(part), "total": sum(part)}
        for part in (values[i : i + rows] for i in range(0, len(values), rows))
    ]
    assert drive(executor(count, rows), values, stops, batch_rows) == expected


def test_a_call_that_raises_is_retried_with_the_same_rows():
    seen = []

    def flaky(batch):
        seen.append(batch["x"].to_pylist())
        if len(seen) == 1:
            raise ValueError("first")
        return {"n": [batch.num_rows], "total": [0]}

    gate, batch = Gate(), pa.record_batch({"x": [1, 2, 3, 4, 5]})
    gate.reset()
    gate.at(0)
    run = executor(flaky, 3)
    status, cursor, made, error = run.process(0, batch, 0, 5, gate)
    assert (status, cursor, list(made)) == (RAISED, 2, [])
    assert str(error) == "first"
    assert run.describe()["held"]["x"].to_pylist() == [1, 2]
    status, cursor, made, error = run.process(0, batch, cursor, 5, gate)
    assert (cursor, error) == (3, None)
    assert seen == [[1, 2, 3], [1, 2, 3]]
    assert made[0].to_pylist() == [{"n": 3, "total": 0}]


@pytest.mark.parametrize(
    ("result", "found"),
    [(None, "NoneType"), ({"n": [1]}, "columns n"), ({"n": ["x"], "total": [1]}, "x")],
)
def test_results_that_do_not_fit_name_the_function(result, found):
    run = executor(lambda batch: result, 1)
    gate = Gate()
    gate.reset()
    gate.at(0)
    *_, error = run.process(0, pa.record_batch({"x": [1]}), 0, 1, gate)
    assert isinstance(error, ValueTypeError)
    assert "test_map_batches.py" in error.function
    assert found in error.found
