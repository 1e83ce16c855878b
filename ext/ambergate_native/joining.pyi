from typing import final

import numpy as np
import numpy.typing as npt

from ambergate_native.gate import Gate

CHUNK_ROWS: int
_Numbers = npt.NDArray[np.int64]

@final
class RowsByGroup:
    """The build rows of each group, in the order they came."""

    def __init__(self) -> None: ...
    @property
    def rows(self) -> int:
        """Rows added."""
    @property
    def groups(self) -> int:
        """Groups they are of."""
    @property
    def unique(self) -> bool:
        """Whether no group has two rows."""
    @property
    def nbytes(self) -> int:
        """Bytes of memory held."""
    def add(self, ids: _Numbers, start: int, stop: int) -> None:
        """Add the next rows of the build side, of the groups ``ids[start:stop]``."""
    def matches(self, group: int) -> int:
        """Rows of ``group``; 0 where it is negative."""
    def probe(
        self,
        ids: _Numbers,
        start: int,
        stop: int,
        gate: Gate,
        left: _Numbers,
        right: _Numbers,
        filled: int,
        room: int,
        keep_left: bool,
        mark: bool,
        base: int = 0,
    ) -> tuple[int, int, int, bool]:
        """Pair probe rows with build rows: status, cursor, pairs, whether each row made one."""
    def unmatched(self, places: _Numbers, group: int, row: int) -> tuple[int, int, int]:
        """Fill ``places`` with build rows of groups that had no match: count, group, row."""
    def matched_groups(self) -> bytes:
        """A byte for each group: 1 where it had a match."""
    def mark_groups(self, matched: bytes) -> None:
        """Take what ``matched_groups`` gave."""

def select_present(
    ids: _Numbers, present: bool, start: int, stop: int, selected: _Numbers, base: int = 0
) -> int:
    """Write to ``selected`` the rows of ``start:stop`` whose group is (not) in the build side."""
