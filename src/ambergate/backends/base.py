"""What a backend gives the controller: workers with a link each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ambergate.channels.memory import Memory
from ambergate.controller.workers import WorkerHandle
from ambergate.graph.physical import Plan


class Backend(Protocol):
    """Starts the workers of a job."""

    name: str

    def memory(self, nbytes: int) -> Memory:
        """Memory that all workers of the job can share."""
        ...

    def launch(self, plan: Plan, memory: Memory, job: str) -> Sequence[WorkerHandle]:
        """Start one worker per ``plan.workers`` and send each its deployment."""
        ...
