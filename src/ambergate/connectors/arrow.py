"""Arrow data already in memory: pyarrow, polars, pandas and all that speak the C interface."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pyarrow as pa

from ambergate.connectors.base import (
    Conjunct,
    PieceReader,
    chosen,
    pieces,
    plain_batch,
    plain_schema,
)
from ambergate.errors import InputError

__all__ = ["FromArrow"]

NAME = "from_arrow"
SMALL_CHUNK_ROWS = 4_096
"""Tables of shorter chunks than this, on average, are copied into one."""
SLACK_BYTES = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class FromArrow:
    """Rows of Arrow tables.

    Parameters
    ----------
    tables : a table, a batch, anything with ``__arrow_c_stream__``; or a list of them. One is
        dealt to the tasks in contiguous slices, a list makes one task each

    Raises
    ------
    InputError
        Something that is no table, or tables whose columns differ: names column and types.
    """

    tables: Any
    listed: bool = field(init=False)
    parts: tuple[pa.Table, ...] = field(init=False, repr=False)
    schema: pa.Schema = field(init=False, repr=False)

    kind: ClassVar[str] = "from_arrow"
    in_caller: ClassVar[bool] = False
    skips: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "listed", isinstance(self.tables, list | tuple))
        given = self.tables if self.listed else [self.tables]
        parts = tuple(_table(each) for each in given)
        if not parts:
            raise InputError(NAME, "got an empty list", None, "give at least one table")
        schema = plain_schema(NAME, parts[0].schema)
        for number, part in enumerate(parts[1:], 1):
            _check_same(schema, plain_schema(NAME, part.schema), number)
        object.__setattr__(self, "schema", schema)
        object.__setattr__(self, "parts", tuple(_compact(part) for part in parts))
        object.__setattr__(self, "tables", None)  # not needed any more, and may not pickle

    def tasks(self, wanted: int) -> int:
        """See Source."""
        return len(self.parts) if self.listed else max(1, wanted)

    def open(
        self,
        task: int,
        tasks: int,
        columns: tuple[str, ...] | None = None,
        predicate: Sequence[Conjunct] = (),
        batch_rows: int = 32_768,
    ) -> PieceReader:
        """See Source."""
        if self.listed:
            parts = self.parts[task::tasks]
        else:
            rows = self.parts[0].num_rows
            start, stop = rows * task // tasks, rows * (task + 1) // tasks
            parts = (self.parts[0].slice(start, stop - start),)
        return PieceReader(_batches(parts, chosen(self.schema, columns), batch_rows), NAME)


def _batches(
    parts: Sequence[pa.Table], schema: pa.Schema, batch_rows: int
) -> Iterator[pa.RecordBatch]:
    for part in parts:
        for batch in part.select(schema.names).to_batches():
            for piece in pieces(batch, batch_rows):
                yield plain_batch(piece, schema)


def _table(given: Any) -> pa.Table:
    if isinstance(given, pa.Table):
        return given
    if isinstance(given, pa.RecordBatch):
        return pa.Table.from_batches([given])
    if isinstance(given, dict) or hasattr(given, "__arrow_c_stream__"):
        return pa.table(given)
    if hasattr(given, "__arrow_c_array__"):
        return pa.Table.from_batches([pa.record_batch(given)])
    try:
        return pa.table(given)  # pandas before it spoke the interface
    except (TypeError, ValueError, pa.ArrowInvalid):
        raise InputError(
            NAME,
            f"expected Arrow tables, found {type(given).__name__}",
            None,
            "give a pyarrow.Table, anything with __arrow_c_stream__, or a list of them",
        ) from None


def _check_same(first: pa.Schema, other: pa.Schema, number: int) -> None:
    if first.names != other.names:
        raise InputError(
            NAME,
            f"table {number} has the columns {other.names}, table 0 has {first.names}",
            None,
            "select the same columns in the same order",
        )
    for one, two in zip(first, other, strict=True):
        if one.type != two.type:
            raise InputError(
                NAME,
                f"column {one.name!r} is {two.type} in table {number} and {one.type} in table 0",
                None,
                "cast one of them",
            )


def _compact(table: pa.Table) -> pa.Table:
    """The table to travel: no tiny chunks, nothing that a slice drags along beyond its rows."""
    chunks = max((column.num_chunks for column in table.columns), default=1)
    if chunks > 1 and table.num_rows < chunks * SMALL_CHUNK_ROWS:
        return table.combine_chunks()
    if table.get_total_buffer_size() <= 2 * table.nbytes + SLACK_BYTES:
        return table
    # Writing a slice as a stream leaves out what lies outside it.
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return pa.ipc.open_stream(sink.getvalue()).read_all()
