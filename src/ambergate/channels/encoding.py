"""Batches and markers as the records of a ring.

A batch is one record with the bytes of its Arrow IPC message, read in place. Markers and skipped
rows are records without a payload; a marker's number stands in the record's flags.

The native encoder writes all layouts but a few; those it cannot write are pyarrow's: views, unions
and run ends as messages aligned to 8 bytes, dictionary columns as whole IPC streams, each with its
dictionaries (slow, but true to their type).
"""

from __future__ import annotations

from typing import Any, Protocol

import pyarrow as pa

from ambergate.batch import Barrier, Change, End, Item, Marker, Skipped, Watermark
from ambergate.channels.bell import Record, Ring
from ambergate_native.message import Encoder

BATCH, STREAM, SKIPPED, END, BARRIER, WATERMARK, CHANGE = range(7)
FRAGMENT = 8  # added to BATCH or STREAM; the flags then hold the bytes of the whole
MARKERS = {BARRIER: Barrier, WATERMARK: Watermark, CHANGE: Change}


class Encoding(Protocol):
    """A way of writing batches of one schema."""

    kind: int  # of the records it makes

    def size(self, batch: pa.RecordBatch) -> int:
        """Bytes of the batch as a payload; to be asked before ``offer`` and ``encode``."""
        ...

    def offer(self, ring: Ring, batch: pa.RecordBatch, size: int, counted: int) -> bool:
        """Write the batch as one record and publish it; False: no room now."""
        ...

    def encode(self, batch: pa.RecordBatch, size: int) -> pa.Buffer:
        """The payload in memory of its own."""
        ...


class Aligned:
    """IPC messages whose buffers begin at multiples of 64 bytes, written in place."""

    kind = BATCH

    def __init__(self, schema: pa.Schema):
        self._encoder = Encoder(schema)
        self.size = self._encoder.plan

    def offer(self, ring: Ring, batch: pa.RecordBatch, size: int, counted: int) -> bool:
        """Write the batch as one record and publish it; False: no room now."""
        view = ring.claim(size)
        if view is None:
            return False
        self._encoder.write(view)
        ring.publish(BATCH, batch.num_rows, 0, counted)
        return True

    def encode(self, batch: pa.RecordBatch, size: int) -> pa.Buffer:
        """The payload in memory of its own."""
        payload = pa.allocate_buffer(size)
        self._encoder.write(payload)
        return payload


class Serialized:
    """IPC messages written by pyarrow."""

    kind = BATCH

    def size(self, batch: pa.RecordBatch) -> int:
        """Bytes of the batch as a payload."""
        return pa.ipc.get_record_batch_size(batch)

    def offer(self, ring: Ring, batch: pa.RecordBatch, size: int, counted: int) -> bool:
        """Write the batch as one record and publish it; False: no room now."""
        if ring.claim(size) is None:
            return False
        return ring.offer(batch.serialize(), BATCH, batch.num_rows, 0, counted)

    def encode(self, batch: pa.RecordBatch, size: int) -> pa.Buffer:
        """The payload in memory of its own."""
        return batch.serialize()


class Streams:
    """Whole IPC streams of one batch and its dictionaries."""

    kind = STREAM

    def __init__(self, schema: pa.Schema):
        self._schema = schema
        self._payload: Any = None  # a buffer, once a size was asked for

    def size(self, batch: pa.RecordBatch) -> int:
        """Bytes of the batch as a payload."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self._schema) as stream:
            stream.write_batch(batch)
        self._payload = sink.getvalue()
        return self._payload.size

    def offer(self, ring: Ring, batch: pa.RecordBatch, size: int, counted: int) -> bool:
        """Write the batch as one record and publish it; False: no room now."""
        return ring.offer(self._payload, STREAM, batch.num_rows, 0, counted)

    def encode(self, batch: pa.RecordBatch, size: int) -> pa.Buffer:
        """The payload in memory of its own."""
        return self._payload


def encoding_of(schema: pa.Schema) -> Encoding:
    """The fastest encoding that can write batches of ``schema``."""
    if any(has_dictionary(field.type) for field in schema):
        return Streams(schema)
    try:
        return Aligned(schema)
    except TypeError:
        return Serialized()


def has_dictionary(kind: pa.DataType) -> bool:
    """Whether a type, or one nested in it, is dictionary-encoded."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_dictionary(kind):
        return True
    return any(has_dictionary(kind.field(child).type) for child in range(kind.num_fields))


def encode_marker(marker: Marker) -> tuple[int, int]:
    """Kind and flags of a marker's record."""
    match marker:
        case End():
            return END, 0
        case Barrier(number):
            return BARRIER, number
        case Watermark(number):
            return WATERMARK, number
        case Change(number):
            return CHANGE, number
    raise TypeError(f"a channel carries record batches and markers, got {type(marker).__name__}")


def decode(kind: int, rows: int, flags: int, payload: pa.Buffer, schema: pa.Schema) -> Item:
    """The item of a whole record."""
    if kind == BATCH:
        return pa.ipc.read_record_batch(payload, schema)
    if kind == STREAM:
        return pa.ipc.open_stream(payload).read_next_batch()
    if kind == SKIPPED:
        return Skipped(rows)
    return End() if kind == END else MARKERS[kind](flags)


def copied(record: Record) -> pa.Buffer:
    """The record's bytes in memory of their own."""
    payload = pa.allocate_buffer(record.size)
    record.copy(payload)
    return payload
