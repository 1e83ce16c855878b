"""The line protocol between the harness and an engine's process.

The engine's process stays alive over all rounds, so that neither starting it nor the first look
at the files is counted::

    engine:   {"engine": "polars", "version": "1.0"}
    harness:  run
    engine:   {"seconds": 0.12, "answer": {"count": 10, "sum": 1.5}}
    harness:  (end of file: the engine's process ends)

What an engine prints goes to its standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.workloads import WORKLOADS, Answer, Workload


@dataclass(frozen=True, slots=True)
class Order:
    """What the harness wants of an engine's process."""

    workload: Workload
    rows: int  # input rows
    workers: int  # processor cores to use


Program = Callable[[], tuple[float, Answer]]  # seconds of one run, and its answer


def serve(engine: str, version: str, prepare: Callable[[Order], Program]) -> None:
    """Answer the harness until it hangs up; the order is taken from the command line."""
    parser = argparse.ArgumentParser(prog=engine)
    parser.add_argument("--workload", choices=sorted(WORKLOADS), required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    lines = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    order = Order(WORKLOADS[asked.workload], asked.rows, asked.workers)
    order.workload.paths(order.rows)  # written now, not within the first run
    program = prepare(order)
    print(json.dumps({"engine": engine, "version": version}), file=lines)
    for line in sys.stdin:
        if line.strip() != "run":
            raise SystemExit(f"{engine}: expected the line 'run', got {line!r}")
        seconds, answer = program()
        print(json.dumps({"seconds": seconds, "answer": answer}), file=lines)
