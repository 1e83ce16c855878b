"""The data thread of a worker: steps its runnable tasks in turn, sleeps when none is."""

from __future__ import annotations

import os
import threading
from typing import Any

from ambergate.worker.task import Task

SLEEP_NS = 100_000_000  # a bound, not a poll: every change rings the bell


class DataThread:
    """Runs the tasks of one worker until told to stop.

    Tasks nearer to the sinks go first, so that few batches are under way at any time.
    """

    def __init__(self, tasks: list[Task], bell: Any):
        self.tasks = list(reversed(tasks))
        self.bell = bell
        self.forked = False  # in a child that a user's function forked
        self._stopping = threading.Event()

    def run(self) -> None:
        """The loop; returns after ``stop``."""
        tasks, bell, stopping = self.tasks, self.bell, self._stopping
        while not stopping.is_set():
            heard = bell.heard()
            moved = False
            for task in tasks:
                if task.step():
                    moved = True
                if self.forked:
                    os._exit(0)  # the child came back from the function: it is no worker
            if not moved:
                bell.wait(heard, SLEEP_NS)

    def stop(self) -> None:
        """Leave the loop after the step at hand."""
        self._stopping.set()
        self.bell.ring()
