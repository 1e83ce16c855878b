"""Whole jobs against Polars, DuckDB and Bytewax, in turn on the same files.

``python -m benchmarks.jobs`` runs every workload in full; ``--smoke`` runs a few thousand rows
once; ``-w A -w B --rows 1M --rounds 7`` chooses; ``--only peers`` leaves ambergate out and
``--only ambergate`` the others. Ratios are those of ambergate: 2 means it needs half the time.

An engine that calls Python for every row of every operator gets a million rows at most, in a
contest of its own: the harness never divides times over different rows.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import ROOT, Engine, ambergate_engine, contest, emit_to
from benchmarks.workloads import WORKLOADS

PEERS_PYTHON = ROOT / ".venv-peers" / "bin" / "python"
SMOKE_ROWS = {"text": 4_000}
SMOKE_ROWS_OTHERWISE = 20_000


@dataclass(frozen=True, slots=True)
class Peer:
    """Another engine, the workloads it has a program for, and the most rows it is given."""

    name: str
    workloads: frozenset[str]
    most_rows: int | None = None

    def engine(self, python: str) -> Engine:
        """Its program in the peers' environment."""
        return Engine(self.name, python, f"benchmarks.peers.{self.name}", {"PYTHONPATH": ""})


ALL = frozenset(WORKLOADS)
PEERS = (
    Peer("polars", ALL),
    Peer("duckdb", ALL),
    Peer("bytewax", ALL - {"A"}, most_rows=1_000_000),
)
# the text has ten words a line
MOST_LINES = 400_000


def count(text: str) -> int:
    """A number of rows, with M for millions and k for thousands.

    >>> count("10M"), count("2.5k"), count("7")
    (10000000, 2500, 7)
    """
    unit = {"k": 1_000, "M": 1_000_000}.get(text[-1:], 1)
    return round(float(text.rstrip("kM")) * unit)


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-w", "--workload", action="append", choices=sorted(WORKLOADS))
    parser.add_argument("--rows", type=count, help="input rows; 1M, 10M or 100M for A")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", choices=["ambergate", "peers"])
    parser.add_argument("--peer", action="append", choices=[peer.name for peer in PEERS])
    parser.add_argument("--peers-python", default=str(PEERS_PYTHON))
    parser.add_argument("--smoke", action="store_true", help="few rows, one round, no warm-up")
    parser.add_argument("--output", type=Path, help="append the JSON lines to this file too")
    return parser


def contests(name: str, rows: int, peers: list[Peer]) -> list[tuple[int, list[Peer]]]:
    """Which peers run over how many rows: those with few rows apart from the others."""
    most = {
        peer: min(rows, MOST_LINES if name == "E" else peer.most_rows) if peer.most_rows else rows
        for peer in peers
        if name in peer.workloads
    }
    return [
        (few, [peer for peer, allowed in most.items() if allowed == few])
        for few in sorted(set(most.values()) or {rows}, reverse=True)
    ]


def main() -> None:
    """Measure what the command line asks for."""
    asked = arguments().parse_args()
    present = Path(asked.peers_python).exists() and asked.only != "ambergate"
    if not present and (asked.only == "peers" or asked.peer):
        raise SystemExit(f"{asked.peers_python} is not there; run `make bench-peers` first")
    peers = [peer for peer in PEERS if present and (not asked.peer or peer.name in asked.peer)]
    own = [] if asked.only == "peers" else [ambergate_engine()]
    file = asked.output.open("a") if asked.output else None
    for name in asked.workload or WORKLOADS:
        workload = WORKLOADS[name]
        smoke_rows = SMOKE_ROWS.get(workload.table, SMOKE_ROWS_OTHERWISE)
        rows = smoke_rows if asked.smoke else asked.rows or workload.rows
        for few, group in contests(name, rows, peers):
            contest(
                "jobs",
                [*own, *(peer.engine(asked.peers_python) for peer in group)],
                workload,
                few,
                asked.workers,
                1 if asked.smoke else asked.rounds,
                emit_to(file),
                warm_up=not asked.smoke,
            )
    if file is not None:
        file.close()


if __name__ == "__main__":
    main()
