"""The way out of a task: batches are dealt to the channels of each edge, as room permits."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from ambergate.graph.exchange import Exchange


class Writer(Protocol):
    """The writing end of a channel."""

    @property
    def closed(self) -> bool:
        """Whether the reader needs no more."""
        ...

    def push(self, item: Any) -> bool:
        """Hand on a batch or marker; False when there is no room, and nothing was taken."""
        ...

    def flush(self) -> bool:
        """Send what remains of a large item; False while some of it does."""
        ...


class EdgeOutput:
    """The channels of one edge that start at one task.

    Parameters
    ----------
    exchange : how rows are dealt
    writers : one per task downstream that has a channel from here
    first : which of them gets the first batch of a round robin
    keys : places of the exchange's columns in the schema
    partition : (batch, keys, tasks) -> one batch or None per task
    """

    def __init__(
        self,
        exchange: Exchange,
        writers: list[Writer],
        first: int,
        keys: tuple[int, ...],
        partition: Callable[[Any, tuple[int, ...], int], list[Any]],
    ):
        self.exchange, self.writers, self.keys = exchange, writers, keys
        self._turn = first % max(len(writers), 1)
        self._partition = partition
        self._deal = {
            "hash": self._by_hash,
            "broadcast": self._to_all,
            "round robin": self._in_turn,
        }.get(exchange.way, self._to_first)

    def deal(self, item: Any) -> list[tuple[Writer, Any]]:
        """Which channel gets which part of ``item``."""
        return self._deal(item)

    def _to_first(self, item: Any) -> list[tuple[Writer, Any]]:
        return [(self.writers[0], item)]

    def _to_all(self, item: Any) -> list[tuple[Writer, Any]]:
        return [(writer, item) for writer in self.writers]

    def _in_turn(self, item: Any) -> list[tuple[Writer, Any]]:
        writer = self.writers[self._turn]
        self._turn = (self._turn + 1) % len(self.writers)
        return [(writer, item)]

    def _by_hash(self, item: Any) -> list[tuple[Writer, Any]]:
        parts = self._partition(item, self.keys, len(self.writers))
        return [(w, part) for w, part in zip(self.writers, parts, strict=True) if part is not None]


class Outputs:
    """Pending outputs of one task, released in order to all its edges.

    Batches wait in ``waiting``; the parts of the batch being released in ``parts``. A part goes to
    its channel when there is room; parts for other channels do not wait for it, the next batch
    does, so that each channel keeps the order.
    """

    def __init__(self, edges: list[EdgeOutput]):
        self.edges = edges
        self.waiting: deque[Any] = deque()
        self.parts: list[tuple[Writer, Any]] = []
        self.unsent: list[Writer] = []  # took an item larger than their ring, and not all is sent
        self.releasing = 0  # rows of the batch whose parts are under way
        self.released_rows = 0
        self.released_bytes = 0

    def __bool__(self) -> bool:
        return bool(self.waiting or self.parts)

    @property
    def pending_rows(self) -> int:
        """Rows that were made and not yet handed to every channel they go to."""
        return sum(item.num_rows for item in self.waiting) + self.releasing

    def add(self, items: Any) -> None:
        """Queue what a step made."""
        self.waiting.extend(item for item in items if item.num_rows)

    def release(self) -> bool:
        """Hand on what has room; whether anything moved."""
        moved = False
        while True:
            if self.parts:
                left = []
                for part in self.parts:
                    if not part[0].push(part[1]):
                        left.append(part)
                    elif not part[0].flush():
                        self.unsent.append(part[0])
                moved = moved or len(left) < len(self.parts)
                self.parts = left
                if left:
                    return moved
                self.released_rows += self.releasing
                self.releasing = 0
            if not self.waiting:
                return moved
            item = self.waiting.popleft()
            self.releasing = item.num_rows
            self.released_bytes += item.get_total_buffer_size()
            for edge in self.edges:
                self.parts.extend(edge.deal(item))
            if not self.parts:
                self.released_rows += self.releasing
                self.releasing = 0
                moved = True

    def send_rest(self) -> None:
        """Go on with what was taken and not wholly sent, as room permits."""
        self.unsent = [writer for writer in self.unsent if not writer.flush()]

    def flush(self) -> bool:
        """Send the rest of items larger than a ring; whether nothing remains."""
        return all([writer.flush() for edge in self.edges for writer in edge.writers])

    def mark(self, marker: Any) -> None:
        """Queue ``marker`` for every channel, behind all pending rows (there must be none)."""
        assert not self.waiting
        self.parts.extend((w, marker) for edge in self.edges for w in edge.writers)

    @property
    def unwanted(self) -> bool:
        """Whether there are channels and every reader has closed its own."""
        writers = [writer for edge in self.edges for writer in edge.writers]
        return bool(writers) and all(writer.closed for writer in writers)
