"""What flows in channels besides record batches: markers and skipped rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skipped:
    """Rows a source did not read, since the filter right behind it would reject all of them.

    They have positions like any others: the source and the filter consume them, nobody sees them.
    """

    num_rows: int

    def slice(self, start: int, rows: int) -> Skipped:
        """``rows`` of these from ``start`` on."""
        return Skipped(min(rows, self.num_rows - start))

    def get_total_buffer_size(self) -> int:
        """Skipped rows take no memory."""
        return 0
