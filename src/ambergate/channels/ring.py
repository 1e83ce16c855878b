"""The channel between two processes: batches and markers as records of a ring.

A batch that would fill more than a quarter of the ring is cut by rows; a single row that does is
cut into fragments, and put together again by the reader.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import pyarrow as pa

from ambergate.batch import ROWS, Item, Marker, Rows, Skipped
from ambergate.channels.bell import RECORD_HEADER_BYTES, Record, Ring
from ambergate.channels.encoding import (
    BATCH,
    FRAGMENT,
    SKIPPED,
    copied,
    decode,
    encode_marker,
    encoding_of,
)

LEAST_PAYLOAD = 64


class RingChannel:
    """The counters of a channel over a ring, as any process that maps its memory reads them."""

    def __init__(self, ring: Ring):
        self.ring = ring

    @staticmethod
    def writer(ring: Ring, schema: pa.Schema) -> RingWriter:
        """The writing side for batches of ``schema``."""
        return RingWriter(ring, schema)

    @staticmethod
    def reader(ring: Ring, schema: pa.Schema, copy: bool = False) -> RingReader:
        """The reading side; with ``copy`` its batches may be kept, else they hold up the ring."""
        return RingReader(ring, schema, copy)

    @property
    def closed(self) -> bool:
        """Whether the reader needs no more rows."""
        return self.ring.closed

    @property
    def pushed_rows(self) -> int:
        """Rows given to the channel."""
        return self.ring.published_rows + self.ring.dropped_rows

    @property
    def consumed_rows(self) -> int:
        """Rows the reader's task has consumed."""
        return self.ring.consumed_rows

    @property
    def discarded_rows(self) -> int:
        """Rows thrown away because the reader needed no more."""
        return self.ring.dropped_rows + self.ring.discarded_rows

    @property
    def queued_rows(self) -> int:
        """Rows on their way, or in the reader's hand."""
        done = self.ring.consumed_rows + self.ring.discarded_rows  # before what was published
        return self.ring.published_rows - done

    @property
    def queued_bytes(self) -> int:
        """Bytes of the ring in use."""
        return self.ring.used_bytes


class RingWriter(RingChannel):
    """The writing side of a channel over a ring."""

    def __init__(self, ring: Ring, schema: pa.Schema):
        super().__init__(ring)
        self.schema = schema
        quarter = ring.capacity // 4 // 64 * 64 - RECORD_HEADER_BYTES
        self.most_bytes = max(LEAST_PAYLOAD, quarter)  # of one payload
        self._encoding = encoding_of(schema)
        self._wanted = 0  # bytes of the payload last offered
        # what is left of a batch that was taken, the first slice perhaps as fragments
        self._slices: deque[pa.RecordBatch] = deque()
        self._payload: Any = None
        self._sent = 0  # bytes of the payload

    def push(self, item: Item) -> bool:
        """Take a batch or a marker; False: there is no room now, and nothing was taken."""
        if self._slices and not self.flush():
            return False
        if not isinstance(item, pa.RecordBatch):
            return self._push_bare(item)
        if not item.schema.equals(self.schema):
            raise ValueError(f"a channel of {self.schema} was given a batch of {item.schema}")
        rows = item.num_rows
        if self.ring.closed:
            self.ring.drop(rows)
            return True
        size = self._wanted = self._encoding.size(item)
        if size <= self.most_bytes:
            return self._encoding.offer(self.ring, item, size, rows)
        self._slices.append(item)
        if self._send(rows):
            self.flush()
            return True
        self._slices.clear()
        self._payload = None
        return False

    def _push_bare(self, item: Marker | Skipped) -> bool:
        """Take what has no payload."""
        self._wanted = 0
        if not isinstance(item, Skipped):
            kind, number = encode_marker(item)
            return self.ring.offer(b"", kind, 0, number)
        if self.ring.closed:
            self.ring.drop(item.num_rows)
            return True
        return self.ring.offer(b"", SKIPPED, item.num_rows)

    def flush(self) -> bool:
        """Send what is left of a batch too big for one record; True when nothing is left."""
        while self._slices:
            if not self._send(0):
                return False
        return True

    def room(self) -> bool:
        """Whether a push like the last one would go through now."""
        return self.flush() and self.ring.claim(self._wanted) is not None

    def pending(self) -> list[Item]:
        """What was taken and is not yet, or not wholly, visible to the reader."""
        return list(self._slices)

    @property
    def queued_bytes(self) -> int:
        """Bytes of the ring in use, and of what waits to be put into it."""
        return self.ring.used_bytes + sum(batch.nbytes for batch in self._slices)

    def _send(self, counted: int) -> bool:
        """Send one record of the first slice, and with it count all rows of the batch."""
        if self._payload is None:
            batch, size = self._cut()
            if size <= self.most_bytes:
                self._wanted = size
                if not self._encoding.offer(self.ring, batch, size, counted):
                    return False
                self._slices.popleft()
                return True
            self._payload = self._encoding.encode(batch, size)
            self._sent = 0
        total, rows = self._payload.size, self._slices[0].num_rows
        fragment = self._payload.slice(self._sent, min(self.most_bytes, total - self._sent))
        self._wanted = fragment.size
        if not self.ring.offer(fragment, self._encoding.kind + FRAGMENT, rows, total, counted):
            return False
        self._sent += fragment.size
        if self._sent == total:
            self._slices.popleft()
            self._payload = None
        return True

    def _cut(self) -> tuple[pa.RecordBatch, int]:
        """The first slice, made small enough for one record, or of a single row; and its size."""
        while True:
            batch = self._slices[0]
            size, rows = self._encoding.size(batch), batch.num_rows
            if size <= self.most_bytes or rows <= 1:
                return batch, size
            # an eighth less than the share: rows differ
            rows = max(1, min(rows - 1, rows * self.most_bytes // size * 7 // 8))
            self._slices[0] = batch.slice(rows)
            self._slices.appendleft(batch.slice(0, rows))


class RingReader(RingChannel):
    """The reading side of a channel over a ring."""

    def __init__(self, ring: Ring, schema: pa.Schema, copy: bool = False):
        super().__init__(ring)
        self.schema = schema
        self.copy = copy
        self._item: Any = None
        self._in_ring = False  # the item at hand is the ring's current record
        self._whole: Any = None  # fragments put together so far
        self._filled = 0
        self._closed = ring.closed
        self._handed_rows = 0  # rows of batches popped, less rows told as consumed

    def peek(self) -> Item | None:
        """The next batch or marker, or None; the same one until ``pop``."""
        while self._item is None:
            record = self.ring.peek()
            if record is None:
                return None
            if record.kind == BATCH:
                payload = copied(record) if self.copy else pa.py_buffer(record)
                self._item = pa.ipc.read_record_batch(payload, self.schema)
                self._in_ring = True
            else:
                self._item = self._open(record)
                self._in_ring = False
                self.ring.advance()
            if self._closed and isinstance(self._item, ROWS):
                self.ring.discard(self._item.num_rows)
                self._remove()
        return self._item

    def pop(self) -> None:
        """Go on to the next item; the ring's space is released with its last reference."""
        item = self.peek()
        if item is None:
            raise IndexError("pop from an empty channel")
        if isinstance(item, ROWS):
            self._handed_rows += item.num_rows
        self._remove()

    def consumed(self, rows: int) -> None:
        """Tell that the task consumed ``rows`` more rows."""
        self._handed_rows -= rows
        self.ring.consumed(rows)

    def close(self) -> None:
        """Need no more rows: what is not told as consumed, and all to come, is discarded."""
        if self._closed:
            return
        if isinstance(self._item, ROWS):
            self.pop()
        self.ring.discard(self._handed_rows)
        self._handed_rows = 0
        self._closed = True
        self.ring.close()
        self.peek()

    def items(self) -> list[Item]:
        """All that is queued, the item at hand first; safe to keep."""
        items: list[Item] = []
        records = self.ring.unread()
        if self._item is not None and not self._in_ring:
            items.append(self._item)
        whole = b"" if self._whole is None else self._whole.slice(0, self._filled).to_pybytes()
        for kind, rows, flags, payload in records:
            if kind >= FRAGMENT:
                whole += payload
                if len(whole) < flags:
                    continue
                kind, payload, whole = kind - FRAGMENT, whole, b""
            items.append(decode(kind, rows, flags, pa.py_buffer(payload), self.schema))
        return items

    def queued(self) -> list[Rows]:
        """Those of ``items`` that have rows."""
        return [item for item in self.items() if isinstance(item, ROWS)]

    def _remove(self) -> None:
        self._item = None
        if self._in_ring:
            self._in_ring = False
            self.ring.advance()

    def _open(self, record: Record) -> Item | None:
        """A marker, a stream copied out, or None for a fragment that is not the last."""
        if record.kind < FRAGMENT:
            return decode(record.kind, record.rows, record.flags, copied(record), self.schema)
        if self._whole is None:
            self._whole = pa.allocate_buffer(record.flags)
            self._filled = 0
        record.copy(self._whole, self._filled)
        self._filled += record.size
        if self._filled < record.flags:
            return None
        whole, self._whole = self._whole, None
        return decode(record.kind - FRAGMENT, 0, 0, whole, self.schema)
