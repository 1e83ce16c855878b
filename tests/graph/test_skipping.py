"""Row groups that are not read change nothing that can be seen: positions, counts, rows held."""

import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ambergate as ag
from ambergate import col
from tests.sequences import rows_of

ROWS, GROUP = 2000, 100
LOW, HIGH = 1010, 1290  # in row groups 10 to 12 of 20; the others hold no match


@pytest.fixture
def stored(tmp_path):
    """A Parquet file of 20 row groups, ordered by id, with statistics."""
    table = pa.table(
        {
            "id": range(ROWS),
            "text": [f"row {number}" for number in range(ROWS)],
            "maybe": [None if number < 500 else number % 7 for number in range(ROWS)],
        }
    )
    path = tmp_path / "ordered.parquet"
    pq.write_table(table, path, row_group_size=GROUP)
    return str(path)


def narrow(path):
    """The rows between two ids: most row groups hold none."""
    source = ag.read_parquet(path, name="rows", parallelism=2)
    predicate = (col("id") >= LOW) & (col("id") <= HIGH)
    return source.filter(predicate, name="some", parallelism=2)


def skipped_groups(stream):
    """How many row groups the plan's sources pass over, so that no test passes by reading all."""
    from ambergate.batch import Skipped
    from ambergate.engine import make_plan

    plan = make_plan([stream.to_table().node], 2, "inline")
    source = plan.operators[0]
    found = 0
    for task in range(source.tasks):
        opened = source.description.open(task, source.tasks, source.columns, source.predicate)
        while (item := opened.read()) is not None:
            found += isinstance(item, Skipped)
        opened.close()
    return found


def test_the_plan_does_skip(stored):
    assert skipped_groups(narrow(stored)) == 17
    assert "skips row groups without id >= 1010 & id <= 1290" in narrow(stored).explain()
    between = ag.read_parquet(stored, parallelism=2).filter(col("id").is_between(LOW, HIGH))
    assert skipped_groups(between) == 17
    raising = ag.read_parquet(stored).filter((col("id") < 5) & (col("maybe") + 1 > 0))
    assert "skips" not in raising.explain()


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("batch_rows", [7, 400])
def test_rows_counts_and_positions_are_equal(backend, stored, workers, batch_rows):
    seen = []
    for skipping in (True, False):
        job = ag.run(
            narrow(stored).to_table(name="t"),
            workers=workers,
            backend=backend,
            batch_rows=batch_rows,
            skipping=skipping,
        )
        counted = job.stats().select(["operator", "task", "state", "rows_in", "rows_out"])
        seen.append((rows_of(job.result()), counted.to_pylist()))
    assert seen[0] == seen[1]
    assert [row[0] for row in seen[0][0]] == list(range(LOW, HIGH + 1))
    read = sum(row["rows_in"] for row in seen[0][1] if row["operator"] == "some")
    assert read == ROWS


def stored_id(position):
    """The id at a position of task 1, which has every second row group, from the second on."""
    return (2 * (position // GROUP) + 1) * GROUP + position % GROUP


@pytest.mark.parametrize("operator", ["rows", "some"])
@pytest.mark.parametrize("position", [0, 50, 100, 199, 510, 999])
def test_a_breakpoint_shows_the_same_row(backend, stored, operator, position):
    seen = []
    for skipping in (True, False):
        sink = narrow(stored).to_table(name="t")
        with ag.start(sink, workers=2, backend=backend, skipping=skipping, paused=True) as job:
            job[operator].break_at({1: position})
            job.resume()
            stop = job.wait_for_stop(timeout="30s")
            assert isinstance(stop, ag.Hit)
            found = [stop.position, stop.row, job[operator].held(task=1)]
            found.append(job[operator].inspect(task=1)["held"])
            found.append(job[operator].queued(task=1).to_pylist()[:1])
            found.append(job[operator].step(task=1)[1])
            after = job[operator].held(task=1)  # None where it has not come yet
            assert after is None or after["id"] == stored_id(position + 1)
            job.resume()
            job.wait(timeout="30s")
            found.append(rows_of(job.result()))
        seen.append(found)
    assert seen[1][1]["id"] == stored_id(position)
    assert seen[0] == seen[1]


def test_what_raises_raises_with_and_without(backend, tmp_path):
    path = str(tmp_path / "extremes.parquet")
    largest = 2**63 - 1
    table = pa.table({"id": range(40), "v": [largest if i == 25 else 1 for i in range(40)]})
    pq.write_table(table, path, row_group_size=10)
    stream = ag.read_parquet(path, parallelism=1).filter(
        (col("id") < 10) & (col("v") + 1 > 0), name="some", parallelism=1
    )
    seen = []
    for skipping in (True, False):
        with pytest.raises(ag.JobFailed) as caught:
            ag.run(stream.to_table(), backend=backend, workers=1, skipping=skipping)
        seen.append((caught.value.operator, caught.value.position, caught.value.row))
    assert seen[0] == seen[1] == ("some", 25, {"id": 25, "v": largest})


def test_the_rows_queued_include_those_not_read(backend, stored):
    seen = []
    for skipping in (True, False):
        source = ag.read_parquet(stored, name="rows", parallelism=1)
        sink = source.filter(col("id") >= 1950, name="some", parallelism=1).to_table(name="t")
        with ag.start(sink, workers=1, backend=backend, skipping=skipping, paused=True) as job:
            job["some"].break_at({0: 130})
            job.resume()
            job.wait_for_stop(timeout="30s")
            queued = job["some"].queued()
            assert queued.num_rows == job["some"].inspect()["queued_rows"]
            seen.append(queued["id"].to_pylist()[:70])
    assert seen[0] == seen[1] == list(range(130, 200))


VALUES = {
    "i": st.none() | st.integers(-3, 3),
    "f": st.none() | st.sampled_from([-1.0, -0.0, 0.0, 0.5, 2.0, math.inf, math.nan]),
    "s": st.none() | st.sampled_from(["", "a", "ab", "b", "\u00e9"]),
}
OPERATIONS = ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]


@st.composite
def conditions(draw):
    """A comparison of a column with a constant, a check for null, or two of them joined."""
    column = draw(st.sampled_from(sorted(VALUES)))
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return col(column).is_null()
    if kind == 1:
        return col(column).is_not_null()
    if kind in (2, 3):
        left, right = draw(conditions()), draw(conditions())
        return left & right if kind == 2 else left | right
    value = draw(VALUES[column].filter(lambda value: value is not None))
    return getattr(col(column), draw(st.sampled_from(OPERATIONS)))(value)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rows=st.lists(st.fixed_dictionaries(VALUES), max_size=30),
    group=st.integers(1, 7),
    condition=conditions(),
)
def test_any_condition_keeps_the_same_rows(tmp_path, rows, group, condition):
    schema = pa.schema({"i": pa.int64(), "f": pa.float64(), "s": pa.string()})
    path = str(tmp_path / "any.parquet")
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, row_group_size=group)
    seen = []
    for skipping in (True, False):
        stream = ag.read_parquet(path, parallelism=1).filter(condition)
        table = stream.collect(backend="inline", workers=1, skipping=skipping)
        seen.append(repr(table.to_pylist()))
    assert seen[0] == seen[1]
