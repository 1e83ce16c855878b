"""Jobs held at exact positions: nothing lost, nothing doubled, nothing moves."""

import pytest

import ambergate as ag
from ambergate import col
from tests.conservation import assert_conserved, counts
from tests.sequences import rows_of, seq

BATCHES = [1, 7, 400, 4096]
HELD = {0: 1000, 1: 2500, 2: 0, 3: 25_000}


@pytest.mark.parametrize("batch_rows", [7, 400, 4096])
def test_each_task_is_held_at_its_own_position(backend, batch_rows):
    sink = seq().filter(col("v") < 500, name="low", parallelism=4).to_table(name="t")
    job = ag.start(sink, workers=2, backend=backend, batch_rows=batch_rows, paused=True)
    with job:
        assert job["low"].positions == {0: 0, 1: 0, 2: 0, 3: 0}
        armed = job["low"].break_at(HELD)
        job.resume()
        stop = job.wait_for_stop(timeout="30s")
        assert isinstance(stop, ag.Hit)
        assert stop.breakpoint == armed
        assert job.state == "paused"
        assert job["low"].positions == HELD
        assert (armed.hits, armed.enabled) == (1, True)
        assert_conserved(job)
        held = job["low"].held(task=1)
        assert (held["p"], held["k"], held["id"]) == (1, 2500, 10_001)
        low = {
            task: seen["released"] + seen["pending"]
            for (name, task), seen in counts(job).items()
            if name == "low"
        }
        assert low == {0: 500, 1: 1250, 2: 0, 3: 12_500}
        job.resume()
        job.wait(timeout="60s")
        assert job.state == "finished"
        result = job.result("t")
        assert result.num_rows == 50_000
        assert sorted(result["id"].to_pylist()) == [
            i for i in range(100_000) if (i * 7919) % 1000 < 500
        ]


def test_stepping_moves_one_task_by_exactly_that_many_rows(backend):
    sink = seq(1000).filter(col("v") < 500, name="low", parallelism=4).to_table(name="t")
    with ag.start(sink, workers=2, backend=backend, paused=True) as job:
        job["low"].break_at({0: 10, 1: 10, 2: 10, 3: 10})
        job.resume()
        job.wait_for_stop(timeout="30s")
        before = job["low"].held(task=2)
        assert before["k"] == 10
        assert job["low"].step(task=2) == {0: 10, 1: 10, 2: 11, 3: 10}
        assert job["low"].held(task=2)["k"] == 11
        assert job["low"].step(5, task=3) == {0: 10, 1: 10, 2: 11, 3: 15}
        assert_conserved(job)
        with pytest.raises(ag.AmbergateError, match="4 tasks; say task="):
            job["low"].step()
        job.resume()
        job.wait(timeout="30s")
        assert rows_of(job.result()) == rows_of(seq(1000).filter(col("v") < 500).collect())


def test_a_breakpoint_beyond_the_end_is_reached_by_finishing(backend):
    sink = (
        seq(1000)
        .map(lambda v: v + 1, columns=["v"], returns={"v": "int64"}, name="m", parallelism=4)
        .to_table(name="t")
    )
    with ag.start(sink, workers=2, backend=backend, paused=True) as job:
        armed = job["m"].break_at({0: 100, 1: 10_000})
        job.resume()
        stop = job.wait_for_stop(timeout="30s")
        assert isinstance(stop, ag.Hit)
        assert armed.hits == 1
        assert job["m"].positions[0] == 100
        job.resume()
        job.wait(timeout="30s")
        assert job.result().num_rows == 1000


def test_removing_or_disabling_one_breakpoint_leaves_the_others(backend):
    sink = seq(10_000).filter(col("v") >= 0, name="all", parallelism=4).to_table(name="t")
    with ag.start(sink, workers=2, backend=backend, paused=True) as job:
        first = job["all"].break_at({0: 100})
        second = job["all"].break_at({0: 200})
        third = job["all"].break_at({0: 300})
        first.remove()
        second.enabled = False
        assert [each.id for each in job.breakpoints] == [second.id, third.id]
        job.resume()
        assert job.wait_for_stop(timeout="30s").breakpoint == third
        assert job["all"].positions[0] == 300
        with pytest.raises(ag.AmbergateError, match="at position 300 already"):
            job["all"].break_at({0: 250})
        job.resume()
        job.wait(timeout="30s")


def test_drain_runs_only_what_is_downstream(backend):
    sink = seq(20_000).filter(col("v") >= 0, name="all", parallelism=4).to_table(name="t")
    with ag.start(sink, workers=2, backend=backend, batch_rows=100, paused=True) as job:
        job["all"].break_at({0: 1000, 1: 1000, 2: 1000, 3: 1000})
        job.resume()
        job.wait_for_stop(timeout="30s")
        job.drain(after="all")
        assert job.state == "paused"
        assert job["all"].positions == {0: 1000, 1: 1000, 2: 1000, 3: 1000}
        assert job.result("t").num_rows == 4000
        job.resume()
        job.wait(timeout="30s")
        assert job.result("t").num_rows == 20_000
