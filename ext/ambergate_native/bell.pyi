"""A doorbell in shared memory: one waiter, many ringers, no ring lost."""

from typing import final

from typing_extensions import Buffer, disjoint_base

BELL_BYTES: int

@disjoint_base
class Listener:
    """One who is told before the bell's waiter goes to sleep."""

@final
class Bell:
    """A doorbell over ``memory[offset:offset + BELL_BYTES]``; zeroed memory is a new bell."""

    def __new__(cls, memory: Buffer | None = None, offset: int = 0) -> Bell: ...
    def ring(self) -> None:
        """Wake the waiter, or keep it from going to sleep on what it heard before."""
    def heard(self) -> int:
        """The sequence to pass to ``wait``; read it before looking for work."""
    def wait(self, seen: int, timeout_ns: int) -> bool:
        """Sleep until the bell has rung since ``seen`` was heard; False at the timeout."""
