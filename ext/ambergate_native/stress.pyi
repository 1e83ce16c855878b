"""Two-thread loops over bell, ring and gate without the interpreter lock, for the sanitizers."""

from typing import final

from ambergate_native.gate import Gate
from ambergate_native.ring import Ring

@final
class Work:
    """What a task does: a plain counter, as any state of an executor is."""

    @property
    def rows(self) -> int: ...
    def stop(self) -> None:
        """End ``run_rows``."""

def write_records(ring: Ring, count: int, most: int, timeout_ns: int) -> None:
    """Publish ``count`` records of 0 to ``most`` bytes; waits for room up to ``timeout_ns``."""

def read_records(ring: Ring, count: int, most: int, held: int, timeout_ns: int) -> None:
    """Check ``count`` records as written, each released when ``held`` more have been read."""

def run_rows(gate: Gate, work: Work) -> int:
    """A task: bounded steps under the gate until the work is stopped; gives the rows done."""

def pause_rows(gate: Gate, work: Work, pauses: int, timeout_ns: int) -> None:
    """A controller: pause, look twice, resume, at every other time with a limit."""
