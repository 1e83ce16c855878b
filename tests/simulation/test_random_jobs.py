"""Random dataflows under random pauses, steps, drains and breakpoints keep their rows.

A failure names its seed; ``random_dataflow(Random(seed))`` makes the dataflow again.
"""

import contextlib
import time
from collections import Counter
from random import Random

import pytest

import ambergate as ag
from tests.conservation import assert_conserved
from tests.simulation.random_dataflows import random_dataflow

END_S = 30.0
SEEDS_A_TEST = 10
DISTURBANCES = ["pause", "pause", "step", "drain", "break", "run"]


def disturb(rng, job):
    """One random thing a user may do to a job at any time."""
    time.sleep(rng.random() * 0.004)
    report = job.pause(timeout="10s")
    if not report.paused:
        assert report.state in ("finished", "running"), (report, job._controller.machine.cause)
        return
    assert_conserved(job)
    names = list(job)
    name = rng.choice(names)
    task = rng.randrange(job[name].tasks)
    what = rng.choice(DISTURBANCES)
    if what == "step":
        job[name].step(rng.randrange(1, 4), task=task)
    elif what == "drain":
        with contextlib.suppress(TimeoutError):  # a join may wait for what is upstream
            job.drain(after=name, timeout=0.3)
    elif what == "break":
        positions = job[name].positions
        job[name].break_at({task: positions[task] + rng.randrange(50)})
    if what in ("break", "run"):  # else the last task may have ended by it
        assert_conserved(job)
    job.resume()


def finish(job):
    """Run to the end, over the breakpoints that are still armed."""
    deadline = time.monotonic() + END_S
    while True:
        try:
            job.wait(timeout=max(0.1, deadline - time.monotonic()))
        except ag.JobPaused:
            assert_conserved(job)
            job.resume()
        else:
            return


def check(seed, backend):
    rng = Random(seed)
    sinks, expected = random_dataflow(rng)
    options = {
        "workers": rng.choice([1, 2, 3] if backend == "inline" else [1, 2]),
        "batch_rows": rng.choice([1, 7, 64, 500, 4096]),
        "ring_bytes": 1 << 16,
        "paused": rng.random() < 0.3,
    }
    with ag.start(*sinks, backend=backend, **options) as job:
        if options["paused"]:
            job.resume()
        for _ in range(rng.randrange(5)):
            disturb(rng, job)
        finish(job)
        for name, flow in expected.items():
            table = job.result(name).select(["k", "v", "s"])
            rows = list(zip(*[column.to_pylist() for column in table.columns], strict=True))
            assert Counter(rows) == Counter(flow.rows), (name, options)
            if flow.ordered:
                assert rows == flow.rows, (name, options)


@pytest.mark.parametrize("first", range(0, 140, SEEDS_A_TEST))
def test_inline(first):
    for seed in range(first, first + SEEDS_A_TEST):
        try:
            check(seed, "inline")
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise


@pytest.mark.parametrize("first", range(1000, 1020, SEEDS_A_TEST))
def test_local(first):
    for seed in range(first, first + SEEDS_A_TEST):
        try:
            check(seed, "local")
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
