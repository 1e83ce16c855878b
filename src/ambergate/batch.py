"""What travels in a channel besides rows: the markers, in one order with the batches."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

__all__ = ["Barrier", "Change", "End", "Item", "Marker", "Watermark"]


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


Marker = End | Barrier | Watermark | Change
Item = pa.RecordBatch | Marker
