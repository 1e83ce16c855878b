"""A started worker as the controller holds it, whatever backend started it."""

from __future__ import annotations

from typing import Protocol

from ambergate.channels.link import Link


class WorkerHandle(Protocol):
    """One started worker as the controller holds it."""

    link: Link

    def watched(self) -> list[int]:
        """Descriptors that become readable when the worker ends, or has printed something."""
        ...

    def heard(self, descriptor: int) -> None:
        """Deal with a readable descriptor of ``watched``."""
        ...

    def ended(self) -> int | None:
        """The exit code (negative: the signal) once the worker has ended, else None."""
        ...

    def last_words(self) -> str:
        """The end of what the worker printed to its standard error."""
        ...

    def end(self, timeout_s: float) -> None:
        """Wait for the worker to end, then make it; release what it held. Idempotent."""
        ...
