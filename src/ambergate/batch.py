"""What travels in a channel: batches, and the markers in one order with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

__all__ = [
    "ROWS",
    "Barrier",
    "Change",
    "End",
    "Item",
    "Marker",
    "Rows",
    "Skipped",
    "Watermark",
    "shown_row",
]


@dataclass(frozen=True, slots=True)
class End:
    """No row follows."""


@dataclass(frozen=True, slots=True)
class Barrier:
    """The rows before belong to snapshot ``epoch``, those after do not."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Watermark:
    """No row with an event time before ``time`` follows, but for late ones."""

    time: int  # in the unit of the event time column


@dataclass(frozen=True, slots=True)
class Change:
    """Change number ``id`` of the journal takes effect between the rows before and after."""

    id: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """Rows a source did not read, since the filter right behind it would reject all of them.

    They have positions like any others: the source and the filter consume them, nobody sees them,
    but for who looks at a task that stands among them: then they are read after all.
    """

    num_rows: int
    reread: Callable[[int, int], pa.RecordBatch] | None = field(default=None, compare=False)
    first: int = 0  # where these begin in what ``reread`` counts

    def slice(self, start: int, rows: int) -> Skipped:
        """``rows`` of these from ``start`` on."""
        return Skipped(min(rows, self.num_rows - start), self.reread, self.first + start)

    def rows(self) -> pa.RecordBatch | None:
        """The rows themselves, read now; None where they came from afar without their source."""
        return None if self.reread is None else self.reread(self.first, self.num_rows)

    def get_total_buffer_size(self) -> int:
        """Skipped rows take no memory."""
        return 0


Marker = End | Barrier | Watermark | Change
Rows = pa.RecordBatch | Skipped
Item = Rows | Marker
ROWS = (pa.RecordBatch, Skipped)  # the kinds of items that have rows, for isinstance


def shown_row(rows: pa.RecordBatch | pa.Table, at: int) -> dict[str, Any]:
    """One row as Python values, to be looked at; as text where Python has no such value.

    >>> times = pa.array([1], pa.timestamp("ns"))
    >>> shown_row(pa.record_batch({"n": [7], "t": times}), 0)
    {'n': 7, 't': '1970-01-01 00:00:00.000000001'}
    """
    return {name: _shown(rows.column(i)[at]) for i, name in enumerate(rows.schema.names)}


def _shown(value: pa.Scalar) -> Any:
    try:
        return value.as_py()
    except (ValueError, OverflowError):
        try:
            return value.cast(pa.string()).as_py()
        except NotImplementedError:  # nested: its type at least
            return f"<{value.type}>"
