"""What a source and a sink are to the engine, and what their readers have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from ambergate.batch import Skipped
from ambergate.errors import InputError

__all__ = ["BATCH_BYTES", "Reader", "Sink", "Source", "Writer"]

BATCH_BYTES = 1 << 20
"""Bytes of a source's batch at most, but for a single row that is larger."""

Conjunct = tuple[str, str, Any]


class Reader(Protocol):
    """Rows of one task of a source, pulled by one thread."""

    def read(self) -> pa.RecordBatch | Skipped | None:
        """The next rows, the number of rows passed over unread, or None at the end."""
        ...

    def close(self) -> None:
        """Let go of the files; may be called twice."""
        ...

    def describe(self) -> str:
        """Where it is, for messages."""
        ...


class Source(Protocol):
    """A description of rows to come; made where the dataflow is written, opened in a worker."""

    kind: ClassVar[str]
    schema: pa.Schema  # fixed when the description is made
    in_caller: bool  # whether it must be read in the process that made it
    skips: ClassVar[bool]  # whether conjuncts let it pass over rows unread

    def tasks(self, wanted: int) -> int:
        """How many tasks make sense, given how many are wanted."""
        ...

    def open(
        self,
        task: int,
        tasks: int,
        columns: tuple[str, ...] | None,
        predicate: Sequence[Conjunct],
        batch_rows: int,
    ) -> Reader:
        """Begin to read the rows of ``task``.

        Parameters
        ----------
        columns : names to read, in this order; None for all
        predicate : ``(column, op, value)``; rows that fail one of them may be passed over
        batch_rows : rows of a batch at most
        """
        ...


class Writer(Protocol):
    """The output of one task of a sink; nothing of it is visible before ``commit``."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows."""
        ...

    def finish(self) -> None:
        """Bring everything to the disk and close; still invisible."""
        ...

    def prepare(self) -> None:
        """Raise OutputError where something is in the way of ``commit``."""

    def commit(self) -> None:
        """Make it visible; may be called twice."""
        ...

    def abort(self) -> None:
        """Remove what was not committed; may be called at any time."""
        ...

    def withdraw(self) -> None:
        """``abort``, and take back what was committed if it replaced nothing."""


class Sink(Protocol):
    """A description of where rows go."""

    kind: ClassVar[str]
    target: str

    @property
    def single(self) -> bool:
        """Whether all rows go through one task."""
        ...

    def check(self) -> None:
        """Raise OutputError where the target cannot be written."""
        ...

    def open(self, task: int, tasks: int, schema: pa.Schema, job: str) -> Writer:
        """Begin to write; ``job`` is a token unique to the run: the process, a dash, anything."""
        ...

    def discard(self, tasks: int, job: str) -> None:
        """Remove what a run that has ended left unfinished, as tasks that were killed do."""


def plain_type(of: pa.DataType) -> pa.DataType:
    """The type the engine computes with: without dictionaries, run ends, views, extensions.

    >>> plain_type(pa.dictionary(pa.int8(), pa.string()))
    DataType(string)
    """
    if isinstance(of, pa.BaseExtensionType):
        return plain_type(of.storage_type)
    if pa.types.is_dictionary(of) or pa.types.is_run_end_encoded(of):
        return plain_type(of.value_type)
    if pa.types.is_string_view(of):
        return pa.string()
    if pa.types.is_binary_view(of):
        return pa.binary()
    if pa.types.is_list(of):
        return pa.list_(plain_type(of.value_type))
    if pa.types.is_large_list(of):
        return pa.large_list(plain_type(of.value_type))
    if pa.types.is_struct(of):
        return pa.struct([(field.name, plain_type(field.type)) for field in of])
    return of


def plain_schema(where: str, schema: pa.Schema) -> pa.Schema:
    """``schema`` with plain types and no annotations; raises where a name comes twice."""
    repeated = [name for name, times in Counter(schema.names).items() if times > 1]
    if repeated:
        raise InputError(
            where, f"column {repeated[0]!r} comes more than once", None, "give it another name"
        )
    return pa.schema([(field.name, plain_type(field.type)) for field in schema])


def plain_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of ``schema`` from ``batch``, cast where they are of another type."""
    if batch.schema.equals(schema):
        return batch
    if not schema.names:
        return batch.select([])  # keeps the number of rows
    columns = []
    for field in schema:
        column = batch.column(field.name)
        if isinstance(column, pa.ExtensionArray):
            column = column.storage
        if pa.types.is_run_end_encoded(column.type):
            column = pc.run_end_decode(column)
        columns.append(column if column.type == field.type else column.cast(field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def pieces(batch: pa.RecordBatch, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Slices of ``batch`` small enough to travel: by rows, and by bytes on average; no copy."""
    rows = batch.num_rows
    step = max(1, min(batch_rows, rows))
    nbytes = batch.nbytes
    if nbytes * step > BATCH_BYTES * rows:
        step = max(1, BATCH_BYTES * rows // nbytes)
    if step >= rows:
        if rows:
            yield batch
        return
    for start in range(0, rows, step):
        yield batch.slice(start, step)


def chosen(schema: pa.Schema, columns: Sequence[str] | None) -> pa.Schema:
    """``schema`` with ``columns`` alone, in that order."""
    return schema if columns is None else pa.schema([schema.field(name) for name in columns])


def close(rows: Any) -> None:
    """Let go of what an iterator holds: a generator has ``close``, others may have it."""
    if hasattr(rows, "close"):
        rows.close()


class PieceReader:
    """A reader over an iterator of batches, each at most as large as a batch may be."""

    def __init__(self, batches: Iterator[pa.RecordBatch | Skipped], name: str):
        self._batches: Iterator[pa.RecordBatch | Skipped] | None = batches
        self._name, self._rows = name, 0

    def read(self) -> pa.RecordBatch | Skipped | None:
        """See Reader."""
        if self._batches is None:
            return None
        batch = next(self._batches, None)
        if batch is not None:
            self._rows += batch.num_rows
        return batch

    def close(self) -> None:
        """See Reader."""
        batches, self._batches = self._batches, None
        close(batches)

    def describe(self) -> str:
        """See Reader."""
        return f"{self._name}, row {self._rows}"
