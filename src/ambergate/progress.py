"""Rows and rates of a running job on the terminal; nothing where there is none."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

from ambergate.handle import Job

TICK_S = 0.2


class Progress:
    """Shows a table that is renewed five times a second, as a context manager.

    Parameters
    ----------
    job : whose counters; they are read from shared memory, the job is not asked
    shown : True, False, or None for "if standard error is a terminal"
    """

    def __init__(self, job: Job, shown: bool | None = None):
        self.job = job
        self.shown = sys.stderr.isatty() if shown is None else shown
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._began = time.monotonic()
        self._before: dict[str, int] = {}
        self._at = self._began

    def __enter__(self) -> Progress:
        if self.shown:
            self._thread = threading.Thread(
                target=self._run, name="ambergate-progress", daemon=True
            )
            self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(5.0)

    def _run(self) -> None:
        from rich.console import Console
        from rich.live import Live

        with Live(
            self._table(), console=Console(stderr=True), refresh_per_second=5, transient=False
        ) as live:
            while not self._stopping.wait(TICK_S):
                live.update(self._table())
            live.update(self._table())

    def _table(self) -> Any:
        from rich.table import Table

        now = time.monotonic()
        table = Table(
            title=f"job {self.job.state}, {now - self._began:.1f} s", title_justify="left"
        )
        for heading in ("operator", "tasks", "rows in", "rows out", "rows/s", "busy"):
            table.add_column(heading, justify="left" if heading == "operator" else "right")
        rows: dict[str, list[dict[str, Any]]] = {}
        for row in self.job.stats().to_pylist():
            rows.setdefault(row["operator"], []).append(row)
        for operator in self.job:
            tasks = rows.get(operator, [])
            read = sum(row["rows_in"] for row in tasks)
            made = sum(row["rows_out"] for row in tasks)
            busy = sum(row["busy_ns"] for row in tasks) / 1e9 / max(now - self._began, 1e-9)
            rate = (read - self._before.get(operator, 0)) / max(now - self._at, 1e-9)
            self._before[operator] = read
            table.add_row(
                operator, str(len(tasks)), f"{read:,}", f"{made:,}", f"{rate:,.0f}", f"{busy:.0%}"
            )
        self._at = now
        return table
