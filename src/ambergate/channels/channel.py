"""The path of rows and markers between two tasks: bounded, first in first out.

Two kinds with one interface. ``LocalChannel`` passes batches by reference inside a worker;
``RingChannel`` passes their bytes through a ring in shared memory. A writer that finds no room, or
a reader that finds nothing, does not wait here: it goes on with another task, or waits for a bell.

The rows given to a channel are, at any time,

    pushed_rows == consumed_rows + discarded_rows + queued_rows

where a row that was handed out and not yet told as consumed counts as queued.
"""

from __future__ import annotations

from typing import Protocol

from ambergate.batch import Item, Rows
from ambergate.channels.local import LocalChannel
from ambergate.channels.ring import RingChannel, RingReader, RingWriter

__all__ = ["Channel", "ChannelReader", "ChannelWriter", "LocalChannel", "RingChannel"]


class Channel(Protocol):
    """What both sides, and for rings any process that maps the memory, can read."""

    @property
    def closed(self) -> bool:
        """Whether the reader needs no more rows."""
        ...

    @property
    def pushed_rows(self) -> int:
        """Rows given to the channel."""
        ...

    @property
    def consumed_rows(self) -> int:
        """Rows the reader's task has consumed."""
        ...

    @property
    def discarded_rows(self) -> int:
        """Rows thrown away because the reader needed no more."""
        ...

    @property
    def queued_rows(self) -> int:
        """Rows on their way, or in the reader's hand."""
        ...

    @property
    def queued_bytes(self) -> int:
        """Bytes of memory held by what is on its way."""
        ...


class ChannelWriter(Channel, Protocol):
    """The writing side, used by one thread."""

    def push(self, item: Item) -> bool:
        """Take a batch or a marker; False: there is no room now, and nothing was taken.

        Rows for a reader that has closed are discarded, markers still go through.
        """
        ...

    def flush(self) -> bool:
        """Send what is left of a batch too big for one record; True when nothing is left."""
        ...

    def room(self) -> bool:
        """Whether a push like the last one would go through now."""
        ...

    def pending(self) -> list[Item]:
        """What was taken and is not yet, or not wholly, visible to the reader."""
        ...


class ChannelReader(Channel, Protocol):
    """The reading side, used by one thread."""

    def peek(self) -> Item | None:
        """The next batch or marker, or None; the same one until ``pop``."""
        ...

    def pop(self) -> None:
        """Go on to the next item."""
        ...

    def consumed(self, rows: int) -> None:
        """Tell that the task consumed ``rows`` more rows."""
        ...

    def close(self) -> None:
        """Need no more rows; markers still come.

        Those handed out and not told as consumed, and all to come, are discarded.
        """
        ...

    def items(self) -> list[Item]:
        """All that is queued, the item at hand first; safe to keep. Call it while paused."""
        ...

    def queued(self) -> list[Rows]:
        """Those of ``items`` that have rows."""
        ...


def _check(local: LocalChannel, writer: RingWriter, reader: RingReader) -> None:
    """Let the type checker see that the kinds keep the interface; never called."""
    sides: tuple[ChannelWriter, ChannelReader, ChannelWriter, ChannelReader]
    sides = (local, local, writer, reader)
    del sides
