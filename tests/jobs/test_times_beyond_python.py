"""Times beyond those of Python stop a row function at their row, and can be looked at."""

import pyarrow as pa
import pytest

import ambergate as ag

TIMES = pa.array([1000, 2000, 3001, 4000], pa.timestamp("ns"))


def test_the_function_stops_at_the_row_that_has_such_a_time():
    stream = ag.from_arrow(pa.table({"t": TIMES, "n": [0, 1, 2, 3]}))
    years = stream.map(lambda t: t.year, columns=["t"], returns={"year": "int64"})
    with pytest.raises(ag.JobFailed, match=r"Nanosecond") as caught:
        years.collect(backend="inline")
    assert caught.value.position == 2
    assert caught.value.row == {"t": "1970-01-01 00:00:00.000003001", "n": 2}


def test_a_held_row_shows_it():
    sink = ag.from_arrow(pa.table({"t": TIMES[2:]})).to_table()
    with ag.start(sink, backend="inline", paused=True) as job:
        job["from_arrow"].step()
        assert job["to_table"].held(task=0) == {"t": "1970-01-01 00:00:00.000003001"}
