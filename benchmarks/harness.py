"""Engines in turn: A B B A ..., under a lock, answers compared, one JSON line each.

Two figures taken at different times do not compare on a machine that others use. So each round
runs every engine once, and what is quoted is the median over rounds of the ratio within a round.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import select
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.workloads import Answer, difference

ROOT = Path(__file__).parents[1]
START_S = 900.0  # an engine's process may have to write the tables first
RUN_S = 900.0


class WrongAnswer(Exception):
    """An engine's answer is not the expected one; its time means nothing."""


class EngineFailed(Exception):
    """An engine's process ended, or was silent for too long; holds its last words."""


def lock_path() -> Path:
    """The file that timed runs of this machine lock, this project's and others'."""
    return Path(tempfile.gettempdir(), "bench.lock")


@contextmanager
def alone() -> Iterator[None]:
    """Hold the machine's lock for timed runs."""
    with lock_path().open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def machine() -> dict[str, Any]:
    """The processor's name, its cores, and the commit that is measured."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [
            line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")
        ]
        name = models[0].partition(":")[2].strip() if models else name
    return {"commit": commit(), "cpu": name, "cores": os.cpu_count()}


def commit() -> str:
    """The short hash of the checkout, marked where files differ from it; empty without git."""
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--exclude=*"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=30,
        )
    except OSError:
        return ""
    return described.stdout.strip()


@dataclass(frozen=True, slots=True)
class Engine:
    """A program to start: ``python -m module`` in one of two environments."""

    name: str
    python: str
    module: str
    environment: Mapping[str, str] = field(default_factory=dict)

    def command(self, workload: str, rows: int, workers: int) -> list[str]:
        """The command line that serves one workload."""
        options = ["--workload", workload, "--rows", str(rows), "--workers", str(workers)]
        return [self.python, "-m", self.module, *options]


class Contestant:
    """One engine's process over all rounds of one workload; a context manager that ends it."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str]):
        self.name = name
        self.version = ""
        self.seconds: list[float] = []
        self.words = tempfile.TemporaryFile("w+")  # noqa: SIM115 - standard error, closed with us
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.words,
            text=True,
            env={**os.environ, **environment},
        )

    def __enter__(self) -> Contestant:
        return self

    def __exit__(self, *exception: object) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.close()
            self.process.wait(timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.words.close()

    def greet(self) -> None:
        """Wait until the process is ready to be timed."""
        self.version = self.hear(START_S)["version"]

    def run(self) -> tuple[float, Answer]:
        """One timed run: seconds by the engine's own clock, and its answer."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write("run\n")
            self.process.stdin.flush()
        except OSError:
            raise self.failed("ended") from None
        heard = self.hear(RUN_S)
        return heard["seconds"], heard["answer"]

    def hear(self, timeout_s: float) -> dict[str, Any]:
        """The next line of the process, waiting at most ``timeout_s``."""
        assert self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], timeout_s)[0]:
            raise self.failed(f"said nothing for {timeout_s:g} s")
        line = self.process.stdout.readline()
        if not line:
            raise self.failed("ended")
        return json.loads(line)

    def failed(self, how: str) -> EngineFailed:
        """The error that holds the last words of the process."""
        self.words.seek(0)
        return EngineFailed(f"{self.name} {how}; its last words:\n{self.words.read()[-2_000:]}")


def compete(
    contestants: Sequence[Contestant], expected: Answer, rounds: int, warm_up: bool = True
) -> None:
    """Run all in turn, ``rounds`` times; every answer is compared, every time kept.

    Every other round goes the other way round, so that a drift of the machine favours nobody. A
    first round that is not kept brings the files into memory and compiles what is compiled.
    """
    for contestant in contestants:
        contestant.greet()
    for number in range(-1 if warm_up else 0, rounds):
        for contestant in contestants if number % 2 == 0 else reversed(contestants):
            with alone():
                seconds, answer = contestant.run()
            wrong = difference(answer, expected)
            if wrong:
                raise WrongAnswer(f"{contestant.name}: {wrong}")
            if number >= 0:
                contestant.seconds.append(seconds)


def ratio(own: Sequence[float], other: Sequence[float]) -> float:
    """How many times faster ``own`` is: the median over rounds of other / own.

    >>> ratio([1.0, 2.0, 1.0], [2.0, 4.0, 8.0])
    2.0
    """
    return statistics.median(theirs / ours for ours, theirs in zip(own, other, strict=True))


def records(
    bench: str, workload: str, rows: int, workers: int, contestants: Sequence[Contestant]
) -> Iterator[dict[str, Any]]:
    """One record for each contestant: medians, and the ratio of the first to each other."""
    fixed = machine()
    first = contestants[0]
    for contestant in contestants:
        seconds = statistics.median(contestant.seconds)
        yield {
            "bench": bench,
            "workload": workload,
            "engine": contestant.name,
            "version": contestant.version,
            **fixed,
            "workers": workers,
            "rows": rows,
            "seconds": round(seconds, 6),
            "least_seconds": round(min(contestant.seconds), 6),
            "runs": len(contestant.seconds),
            "rows_per_s": round(rows / seconds),
            **(
                {
                    f"ratio_to_{other.name}": round(ratio(first.seconds, other.seconds), 3)
                    for other in contestants[1:]
                }
                if contestant is first
                else {}
            ),
        }


def contest(
    bench: str,
    engines: Sequence[Engine],
    workload: Any,
    rows: int,
    workers: int,
    rounds: int,
    emit: Callable[[dict[str, Any]], None],
    warm_up: bool = True,
) -> None:
    """Measure one workload on several engines in turn and hand each record to ``emit``."""
    with ExitStack() as stack:
        contestants = [
            stack.enter_context(
                Contestant(
                    engine.name, engine.command(workload.name, rows, workers), engine.environment
                )
            )
            for engine in engines
        ]
        compete(contestants, workload.expected(rows), rounds, warm_up)
        for record in records(bench, workload.name, rows, workers, contestants):
            emit(record)


def emit_to(file: Any = None) -> Callable[[dict[str, Any]], None]:
    """A function that prints a record as one JSON line, to ``file`` too where one is given."""

    def emit(record: dict[str, Any]) -> None:
        line = json.dumps(record)
        print(line, flush=True)
        if file is not None:
            print(line, file=file, flush=True)

    return emit


def ambergate_engine(
    name: str = "ambergate", module: str = "benchmarks.programs", *ahead: Path
) -> Engine:
    """The engine of this checkout, by the interpreter that runs the harness.

    ``ahead`` are folders whose packages come before those of the checkout.
    """
    path = os.pathsep.join(str(folder) for folder in (*ahead, ROOT / "src", ROOT / "ext"))
    return Engine(name, sys.executable, module, {"PYTHONPATH": path})
