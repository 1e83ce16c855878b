"""The way into a task: one reader per channel, grouped by port."""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol

from ambergate.batch import End


class Reader(Protocol):
    """The reading end of a channel."""

    def peek(self) -> Any | None:
        """The next batch or marker, left in place; None when there is none."""
        ...

    def pop(self) -> None:
        """Take the item that ``peek`` gave out of the channel."""
        ...

    def consumed(self, rows: int) -> None:
        """Count rows of the item at hand as consumed."""
        ...

    def close(self) -> None:
        """Need no more: what comes from now on is dropped by the writer."""
        ...

    def items(self) -> list[Any]:
        """All that is queued, the item at hand first; for looking, while paused."""
        ...


class Stash:
    """A reader that takes items out of its channel without bound while they cannot be consumed.

    For the side of a join that waits until the other side has ended, where both come from one
    operator: bounded, the two sides would wait for each other.
    """

    def __init__(self, reader: Reader):
        self.reader = reader
        self._kept: deque[Any] = deque()

    def fill(self) -> bool:
        """Move what has come into the stash; whether anything had."""
        moved = False
        while (item := self.reader.peek()) is not None:
            self._kept.append(item)
            self.reader.pop()
            moved = True
        return moved

    def peek(self) -> Any | None:
        """The oldest item in the stash, else the next of the channel."""
        return self._kept[0] if self._kept else self.reader.peek()

    def pop(self) -> None:
        """Take that item."""
        if self._kept:
            self._kept.popleft()
        else:
            self.reader.pop()

    def consumed(self, rows: int) -> None:
        """Count rows as consumed."""
        self.reader.consumed(rows)

    def close(self) -> None:
        """Need no more."""
        self._kept.clear()
        self.reader.close()

    def items(self) -> list[Any]:
        """Stash and channel."""
        return [*self._kept, *self.reader.items()]


class Port:
    """The channels of one port, read in turn; ends when all of them have."""

    def __init__(self, number: int, readers: list[Reader]):
        self.number = number
        self.readers = readers
        self.open = list(readers)
        self.consumed_rows = 0
        self._turn = 0

    def next(self) -> tuple[Reader, Any] | None:
        """A reader with a batch at hand, ends of channels taken out on the way."""
        tried = 0
        while tried < len(self.open):
            self._turn %= len(self.open)
            reader = self.open[self._turn]
            item = reader.peek()
            if item is None:
                self._turn += 1
                tried += 1
            elif isinstance(item, End):
                reader.pop()
                self.open.remove(reader)
            else:
                self._turn += 1
                return reader, item
        return None

    @property
    def ended(self) -> bool:
        """Whether no channel can bring another row."""
        return not self.open

    def close(self) -> None:
        """Tell every writer that no more is needed."""
        for reader in self.open:
            reader.close()
        self.open = []

    def stash(self) -> bool:
        """Take what cannot wait in the channels; whether anything moved."""
        return any([reader.fill() for reader in self.open if isinstance(reader, Stash)])
