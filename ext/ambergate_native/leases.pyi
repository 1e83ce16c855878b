"""Records lent by the reading side of a ring, and the space they give back."""

from typing import final

from typing_extensions import Buffer

from ambergate_native.bell import Listener

@final
class Leases(Listener):
    """The leases of one reading side; kept alive by the ring and by every record."""

@final
class Record:
    """One record in place, read-only; released with the last reference to it or its buffers."""

    @property
    def size(self) -> int: ...
    @property
    def kind(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def flags(self) -> int: ...
    def __len__(self) -> int: ...
    def copy(self, target: Buffer, at: int = 0) -> None:
        """Copy the record's bytes to ``target[at:at + size]``, a writable buffer."""
