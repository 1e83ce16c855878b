"""What it costs that every kernel can be stopped at an exact row.

Two builds of the native modules run workload A in turn: the ordinary one, and one in which the
gate's ``bound`` is compiled to nothing (``AMBERGATE_UNGATED=1``, in ``build/ungated``). Told are
the median over pairs of gated / ungated, its 95 % interval (bootstrap over pairs), and the
difference in nanoseconds a row: for the whole job, and for the kernels alone in one thread.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from contextlib import ExitStack
from typing import Any

import numpy as np

from benchmarks.harness import (
    ROOT,
    Contestant,
    Engine,
    WrongAnswer,
    ambergate_engine,
    compete,
    emit_to,
    machine,
)
from benchmarks.workloads import WORKLOADS

UNGATED = ROOT / "build" / "ungated"
MODULES = {"job": "benchmarks.programs", "kernels": "benchmarks.kernel_loop"}


def build_ungated() -> None:
    """Build the package without the checks, beside the ordinary one."""
    subprocess.run(
        [
            *(sys.executable, "setup.py", "-q", "build"),
            *("--build-base", str(UNGATED), "--build-lib", str(UNGATED / "lib")),
        ],
        cwd=ROOT,
        env={**os.environ, "AMBERGATE_UNGATED": "1"},
        check=True,
        stdout=sys.stderr,
        timeout=1_800,
    )


def interval(ratios: list[float], draws: int = 2_000) -> tuple[float, float]:
    """The 95 % bootstrap interval of the median of ``ratios``."""
    stream = np.random.default_rng(1)
    drawn = stream.choice(ratios, size=(draws, len(ratios)))
    low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
    return float(low), float(high)


def compare(what: str, rows: int, workers: int, pairs: int, warm_up: bool) -> dict[str, Any]:
    """One record: the two builds in turn over ``pairs`` pairs."""
    module = MODULES[what]
    engines: list[Engine] = [
        ambergate_engine("gated", module),
        ambergate_engine("ungated", module, UNGATED / "lib"),
    ]
    workload = WORKLOADS["A"]
    with ExitStack() as stack:
        gated, ungated = (
            stack.enter_context(
                Contestant(engine.name, engine.command("A", rows, workers), engine.environment)
            )
            for engine in engines
        )
        compete([gated, ungated], workload.expected(rows), pairs, warm_up)
    if "ungated" in gated.version or "ungated" not in ungated.version:
        raise WrongAnswer(f"the builds are {gated.version!r} and {ungated.version!r}")
    pairs_of_seconds = list(zip(gated.seconds, ungated.seconds, strict=True))
    ratios = [mine / bare for mine, bare in pairs_of_seconds]
    low, high = interval(ratios)
    difference = statistics.median(mine - bare for mine, bare in pairs_of_seconds)
    return {
        "bench": "gate_cost",
        "workload": "A",
        "what": what,
        **machine(),
        "workers": workers,
        "rows": rows,
        "pairs": pairs,
        "gated_seconds": round(statistics.median(gated.seconds), 6),
        "ungated_seconds": round(statistics.median(ungated.seconds), 6),
        "ratio": round(statistics.median(ratios), 4),
        "ratio_95": [round(low, 4), round(high, 4)],
        "ns_per_row": round(difference / rows * 1e9, 3),
    }


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--what", action="append", choices=sorted(MODULES))
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--smoke", action="store_true", help="few rows, two pairs")
    asked = parser.parse_args()
    build_ungated()
    emit = emit_to()
    for what in asked.what or MODULES:
        rows, pairs = (20_000, 2) if asked.smoke else (asked.rows, asked.pairs)
        workers = asked.workers if what == "job" else 1
        emit(compare(what, rows, workers, pairs, warm_up=not asked.smoke))


if __name__ == "__main__":
    main()
