"""Rows kept as chunks, from which any rows are picked into new batches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ambergate_native.gathering import (
    Chunks,
    gather_bytes,
    gather_offsets,
    gather_validity,
    gather_values,
)

__all__ = ["ChunkedRows", "Places", "has_text", "is_native", "place"]

Places = npt.NDArray[np.int64]


def place(chunk: int, row: int) -> int:
    """The number that names ``row`` of ``chunk``."""
    return chunk << 32 | row


def has_text(type_: pa.DataType) -> bool:
    """Whether values of this type are strings or binaries of any size."""
    return (
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or pa.types.is_binary(type_)
        or pa.types.is_large_binary(type_)
    )


def is_native(type_: pa.DataType) -> bool:
    """Whether native loops take values of this type: to pick, to order, and as keys."""
    return (
        pa.types.is_boolean(type_)
        or pa.types.is_integer(type_)
        or pa.types.is_float32(type_)
        or pa.types.is_float64(type_)
        or (pa.types.is_temporal(type_) and not pa.types.is_interval(type_))
        or pa.types.is_decimal128(type_)
        or has_text(type_)
        or pa.types.is_fixed_size_binary(type_)
    )


class ChunkedRows:
    """Batches of one schema, kept, and addressed by place (``chunk << 32 | row``).

    Parameters
    ----------
    schema : pyarrow.Schema

    Attributes
    ----------
    rows : int
        Rows of all chunks.
    batches : list of pyarrow.RecordBatch
        The chunks.
    """

    __slots__ = ("batches", "columns", "rows", "schema")

    def __init__(self, schema: pa.Schema):
        self.schema = schema
        self.rows = 0
        self.batches: list[pa.RecordBatch] = []
        self.columns = [Chunks() if is_native(field.type) else None for field in schema]

    def __len__(self) -> int:
        return len(self.batches)

    def append(self, batch: pa.RecordBatch) -> int:
        """Keep ``batch`` (not a copy of it); returns its chunk number."""
        for chunks, array in zip(self.columns, batch.columns, strict=True):
            if chunks is not None:
                chunks.append(array)
        self.batches.append(batch)
        self.rows += batch.num_rows
        return len(self.batches) - 1

    def gather(
        self,
        places: Places,
        start: int,
        stop: int,
        columns: Sequence[int] | None = None,
        optional: bool = False,
    ) -> list[pa.Array]:
        """The rows at ``places[start:stop]``, one array for each of ``columns`` (all by default).

        Parameters
        ----------
        places : int64, shape (>= stop,)
            Negative places give nulls; then ``optional`` must be True.

        Raises
        ------
        OverflowError
            The texts of a column do not fit its 32-bit offsets: ask for fewer rows.
        """
        wanted = range(len(self.columns)) if columns is None else columns
        arrays = []
        for index in wanted:
            chunks, type_ = self.columns[index], self.schema.field(index).type
            if chunks is not None and len(chunks):
                arrays.append(gather_array(chunks, type_, places, start, stop, optional))
            else:
                arrays.append(self._take(index, type_, places[start:stop]))
        return arrays

    def gather_batch(self, places: Places, start: int, stop: int) -> pa.RecordBatch:
        """The rows at ``places[start:stop]`` with all columns."""
        arrays = self.gather(places, start, stop)
        if not arrays:
            return rows_without_columns(stop - start, self.schema)
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def to_table(self) -> pa.Table:
        """All rows in the order of the chunks."""
        return pa.Table.from_batches(self.batches, schema=self.schema)

    def _take(self, index: int, type_: pa.DataType, places: Places) -> pa.Array:
        """By library calls, for types without a native loop: chunk by chunk, then put in order."""
        if not len(places) or pa.types.is_null(type_):
            return pa.nulls(len(places), type_)
        numbers = np.where(places < 0, -1, places >> 32)
        order = np.argsort(numbers, kind="stable")
        pieces = []
        chunks, firsts = np.unique(numbers[order], return_index=True)
        for chunk, first, end in zip(chunks, firsts, [*firsts[1:], len(places)], strict=True):
            if chunk < 0:
                pieces.append(pa.nulls(end - first, type_))
            else:
                rows = places[order[first:end]] & 0xFFFFFFFF
                pieces.append(self.batches[chunk].column(index).take(pa.array(rows)))
        whole = pa.concat_arrays(pieces) if len(pieces) > 1 else pieces[0]
        back = np.empty(len(places), np.int64)
        back[order] = np.arange(len(places))
        return whole.take(pa.array(back))


def rows_without_columns(rows: int, schema: pa.Schema) -> pa.RecordBatch:
    """A batch of ``rows`` rows and no columns."""
    whole = pa.Array.from_buffers(pa.struct([]), rows, [None])
    return pa.RecordBatch.from_struct_array(whole).replace_schema_metadata(schema.metadata)


def gather_array(
    chunks: Chunks, type_: pa.DataType, places: Places, start: int, stop: int, optional: bool
) -> pa.Array:
    """One column at ``places[start:stop]``; ``optional``: some places are negative."""
    rows = stop - start
    validity, nulls = None, 0
    if optional or chunks.has_nulls:
        validity = pa.allocate_buffer((rows + 7) // 8)
        nulls = gather_validity(chunks, places, start, stop, validity)
        if nulls == 0:
            validity = None
    if not chunks.has_text:
        size = rows * chunks.width
        values = pa.allocate_buffer(size if chunks.width else (rows + 7) // 8)
        gather_values(chunks, places, start, stop, values)
        return pa.Array.from_buffers(type_, rows, [validity, values], nulls)
    offsets = pa.allocate_buffer((rows + 1) * chunks.width)
    size = gather_offsets(chunks, places, start, stop, offsets)
    if size < 0:
        raise OverflowError(f"{rows} texts of type {type_} are longer than 2 GiB together")
    texts = pa.allocate_buffer(size)
    gather_bytes(chunks, places, start, stop, texts)
    return pa.Array.from_buffers(type_, rows, [validity, offsets, texts], nulls)
