"""The channel between two tasks of one process."""

from __future__ import annotations

from collections import deque

from ambergate.batch import ROWS, Item, Rows
from ambergate.channels.bell import Bell

MAX_BATCHES = 4
MAX_BYTES = 4 << 20


class LocalChannel:
    """A bounded queue that passes batches by reference; both sides use one object.

    Safe for one writing and one reading thread: each counter has one writer, and the queue is a
    deque.

    Parameters
    ----------
    data_bell, space_bell : rung after a push, and after a pop; None where both sides are tasks of
        one thread
    max_batches : items that may be queued
    max_bytes : bytes of the batches' underlying buffers that may be queued; one batch always fits
    """

    def __init__(
        self,
        data_bell: Bell | None = None,
        space_bell: Bell | None = None,
        max_batches: int = MAX_BATCHES,
        max_bytes: int = MAX_BYTES,
    ):
        self.max_batches, self.max_bytes = max_batches, max_bytes
        self._data_bell, self._space_bell = data_bell, space_bell
        self._queue: deque[tuple[Item, int, int]] = deque()  # item, rows, bytes
        self._closed = False
        # the writer's
        self._wanted = 0
        self._pushed_rows = self._pushed_bytes = self._dropped_rows = 0
        # the reader's
        self._handed_rows = self._popped_bytes = self._consumed_rows = self._discarded_rows = 0

    # the writer's side

    def push(self, item: Item) -> bool:
        """Take a batch or a marker; False: there is no room now, and nothing was taken."""
        rows = size = 0
        if isinstance(item, ROWS):
            rows = item.num_rows
            if self._closed:
                self._dropped_rows += rows
                return True
            size = item.get_total_buffer_size()
        self._wanted = size
        if not self.room():
            return False
        self._pushed_bytes += size
        self._pushed_rows += rows
        self._queue.append((item, rows, size))
        if self._data_bell is not None:
            self._data_bell.ring()
        return True

    def flush(self) -> bool:
        """Nothing is ever left over: True."""
        return True

    def room(self) -> bool:
        """Whether a push like the last one would go through now."""
        queued = len(self._queue)
        return queued == 0 or (
            queued < self.max_batches and self.queued_bytes + self._wanted <= self.max_bytes
        )

    def pending(self) -> list[Item]:
        """Nothing is ever left over."""
        return []

    # the reader's side

    def peek(self) -> Item | None:
        """The next batch or marker, or None; the same one until ``pop``."""
        while self._queue:
            item, rows, _ = self._queue[0]
            if not self._closed or not isinstance(item, ROWS):
                return item
            self._discarded_rows += rows
            self._handed_rows += rows
            self._remove()
        return None

    def pop(self) -> None:
        """Go on to the next item."""
        self._handed_rows += self._queue[0][1]
        self._remove()

    def _remove(self) -> None:
        self._popped_bytes += self._queue.popleft()[2]
        if self._space_bell is not None:
            self._space_bell.ring()

    def consumed(self, rows: int) -> None:
        """Tell that the task consumed ``rows`` more rows."""
        self._consumed_rows += rows

    def close(self) -> None:
        """Need no more rows: what is not told as consumed, and all to come, is discarded."""
        if self._closed:
            return
        self._closed = True
        # the item at the front may be in the task's hand, and partly consumed
        if self._queue and isinstance(self._queue[0][0], ROWS):
            self._handed_rows += self._queue[0][1]
            self._remove()
        self._discarded_rows = self._handed_rows - self._consumed_rows
        self.peek()
        if self._space_bell is not None:
            self._space_bell.ring()

    def items(self) -> list[Item]:
        """All that is queued, the item at hand first; safe to keep."""
        return [item for item, _, _ in self._queue]

    def queued(self) -> list[Rows]:
        """Those of ``items`` that have rows."""
        return [item for item in self.items() if isinstance(item, ROWS)]

    # both sides

    @property
    def closed(self) -> bool:
        """Whether the reader needs no more rows."""
        return self._closed

    @property
    def pushed_rows(self) -> int:
        """Rows given to the channel."""
        return self._pushed_rows + self._dropped_rows

    @property
    def consumed_rows(self) -> int:
        """Rows the reader's task has consumed."""
        return self._consumed_rows

    @property
    def discarded_rows(self) -> int:
        """Rows thrown away because the reader needed no more."""
        return self._dropped_rows + self._discarded_rows

    @property
    def queued_rows(self) -> int:
        """Rows on their way, or in the reader's hand."""
        done = self._consumed_rows + self._discarded_rows
        return self._pushed_rows - done

    @property
    def queued_bytes(self) -> int:
        """Bytes of the buffers of what is on its way."""
        popped = self._popped_bytes
        return self._pushed_bytes - popped
