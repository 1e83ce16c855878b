"""Bounded single-producer single-consumer ring of records over any writable memory."""

from typing import final

from typing_extensions import Buffer

from ambergate_native.bell import Bell
from ambergate_native.leases import Record

RING_HEADER_BYTES: int
RECORD_HEADER_BYTES: int

@final
class Ring:
    """One end of a ring over ``memory[offset:offset + nbytes]``; zeroed memory is an empty ring."""

    def __new__(
        cls,
        memory: Buffer,
        offset: int,
        nbytes: int,
        data_bell: Bell | None = None,
        space_bell: Bell | None = None,
    ) -> Ring: ...
    @property
    def capacity(self) -> int: ...
    @property
    def data_bell(self) -> Bell: ...
    @property
    def space_bell(self) -> Bell: ...
    def claim(self, size: int) -> memoryview | None:
        """Room for a payload of ``size`` bytes; None: not now; ValueError: never."""
    def publish(self, kind: int, rows: int = 0, flags: int = 0, counted: int = -1) -> None:
        """Make the claimed record visible to the reader."""
    def offer(
        self, payload: Buffer, kind: int, rows: int = 0, flags: int = 0, counted: int = -1
    ) -> bool:
        """Claim, copy ``payload`` (any contiguous buffer) and publish; False: no room now."""
    def drop(self, rows: int) -> None:
        """Count rows that were not written because the reader needs no more."""
    def send(self, payload: Buffer, timeout_ns: int, kind: int = 0, rows: int = 0) -> bool:
        """Write one record, waiting for room; False at the timeout."""
    def peek(self) -> Record | None:
        """The next record, or None; the same one until ``advance``."""
    def advance(self) -> None:
        """Go on to the next record; the one peeked at lives on with those who hold it."""
    def unread(self) -> list[tuple[int, int, int, bytes]]:
        """Copies of all records from the cursor on: kind, rows, flags, bytes."""
    def consumed(self, rows: int) -> None:
        """Count rows the task has consumed."""
    def discard(self, rows: int) -> None:
        """Count rows the reader throws away unread."""
    def close(self) -> None:
        """Tell the writer that no more rows are needed."""
    def receive(self, timeout_ns: int) -> bytes | None:
        """A copy of the next record's bytes, waiting for it; None at the timeout."""
    @property
    def closed(self) -> bool: ...
    @property
    def used_bytes(self) -> int: ...
    @property
    def published_rows(self) -> int: ...
    @property
    def consumed_rows(self) -> int: ...
    @property
    def dropped_rows(self) -> int: ...
    @property
    def discarded_rows(self) -> int: ...
