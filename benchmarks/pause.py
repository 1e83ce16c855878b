"""How soon a running job stands still.

A job is paused at random moments; the time is that of ``job.pause()``, which returns when every
task stands between two rows. The pauses of one line all fall into running jobs: one that ended
before the pause is not counted and another is started. Now and then the counters are read twice,
to see that a paused job does not move; the results of all jobs are compared in the end.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import ambergate as ag
from benchmarks.harness import WrongAnswer, alone, emit_to, machine
from benchmarks.programs import RESULT, answer, sink
from benchmarks.protocol import Order
from benchmarks.workloads import WORKLOADS, difference

PAUSE = "10s"
WAIT_S = 600
LONGEST_RUN_S = 0.02  # between two pauses
LOOK_EVERY = 10  # pauses between two looks at the counters


class NotStill(Exception):
    """A job did not pause in time, or moved while paused."""


def pauses(order: Order, count: int, seed: int) -> np.ndarray:
    """Seconds of ``count`` pauses; float64, shape (count,)."""
    stream = np.random.default_rng(seed)
    expected = order.workload.expected(order.rows)
    taken: list[float] = []
    while len(taken) < count:
        with ag.start(sink(order), workers=order.workers, paused=True) as job:
            while len(taken) < count:
                job.resume()
                time.sleep(stream.uniform(0, LONGEST_RUN_S))
                started = time.perf_counter()
                report = job.pause(timeout=PAUSE)
                seconds = time.perf_counter() - started
                if job.state == "finished":
                    break
                if not report.paused:
                    raise NotStill(f"{order.workload.name}: waits for {report.waiting_for}")
                taken.append(seconds)
                if len(taken) % LOOK_EVERY == 0:
                    check_still(job, stream.uniform(0, LONGEST_RUN_S))
            if job.state != "finished":
                job.resume()
            job.wait(timeout=WAIT_S)
            wrong = difference(answer(order.workload.name, job.result(RESULT)), expected)
            if wrong:
                raise WrongAnswer(f"{order.workload.name} with pauses: {wrong}")
    return np.array(taken)


def check_still(job: Any, seconds: float) -> None:
    """Rows in and out of every task are the same before and after a while."""
    before = job.stats().select(["operator", "task", "rows_in", "rows_out"])
    time.sleep(seconds)
    if not job.stats().select(before.column_names).equals(before):
        raise NotStill("rows moved while the job was paused")


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-w", "--workload", action="append", choices=sorted(WORKLOADS))
    parser.add_argument("--rows", type=int)
    parser.add_argument("--pauses", type=int, default=200)
    parser.add_argument("--workers", type=int, action="append")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--smoke", action="store_true", help="few rows, five pauses, two workers")
    asked = parser.parse_args()
    emit = emit_to()
    for name in asked.workload or ["B", "C", "A_udf"]:
        workload = WORKLOADS[name]
        for workers in [2] if asked.smoke else asked.workers or [2, 8]:
            rows = 1_000_000 if asked.smoke else asked.rows or workload.rows
            count = 5 if asked.smoke else asked.pauses
            with alone():
                seconds = pauses(Order(workload, rows, workers), count, asked.seed)
            microseconds = np.percentile(seconds, [50, 99, 100]) * 1e6
            emit(
                {
                    "bench": "pause",
                    "workload": name,
                    "engine": "ambergate",
                    **machine(),
                    "workers": workers,
                    "rows": rows,
                    "pauses": count,
                    "p50_us": round(microseconds[0], 1),
                    "p99_us": round(microseconds[1], 1),
                    "max_us": round(microseconds[2], 1),
                }
            )


if __name__ == "__main__":
    main()
