"""Parquet files: row groups dealt to tasks, columns unified by name over the files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from ambergate.batch import Skipped
from ambergate.connectors.base import Conjunct, PieceReader, chosen, pieces, plain_schema
from ambergate.connectors.files import files_of
from ambergate.connectors.statistics import rejects
from ambergate.connectors.unify import unified
from ambergate.errors import InputError

__all__ = ["ReadParquet"]

WHOLE_GROUP_BYTES = 8 << 20
"""Row groups up to this size, decoded, are read at once; larger ones in parts."""
PART_BYTES, PART_ROWS = 2 << 20, 65_536
"""Bytes, about, and rows at most of a part."""
TRIAL_ROWS = 256
"""Rows decoded to learn how wide they are: texts in dictionaries take little room in the file."""
BUFFER_BYTES = 1 << 20
"""Read ahead of a column chunk that is decoded in parts."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadParquet:
    """Rows of Parquet files; columns are matched by name, missing ones are null.

    Parameters
    ----------
    path : a file, a folder, a glob, or a list of them

    Raises
    ------
    InputError
        No such file, no Parquet file, or a column whose types do not fit together; before
        anything runs.
    """

    path: Any
    files: tuple[str, ...] = field(init=False, repr=False)
    schema: pa.Schema = field(init=False, repr=False)
    groups: tuple[tuple[int, int], ...] = field(init=False, repr=False)  # (file, row group)

    kind: ClassVar[str] = "read_parquet"
    in_caller: ClassVar[bool] = False
    skips: ClassVar[bool] = True

    def __post_init__(self) -> None:
        files = files_of(self.path)
        if not files:
            raise InputError(str(self.path), "the folder holds no file")
        schemas, groups = [], []
        for number, file in enumerate(files):
            opened = _open(file)
            try:
                schemas.append(plain_schema(file, opened.schema_arrow))
                groups += [(number, group) for group in range(opened.num_row_groups)]
            finally:
                opened.close()
        object.__setattr__(self, "files", files)
        object.__setattr__(
            self, "schema", unified(files, schemas, "cast the column in one of them")
        )
        object.__setattr__(self, "groups", tuple(groups))

    def tasks(self, wanted: int) -> int:
        """See Source; a row group is read by one task."""
        return max(1, min(wanted, len(self.groups)))

    def open(
        self,
        task: int,
        tasks: int,
        columns: tuple[str, ...] | None = None,
        predicate: Sequence[Conjunct] = (),
        batch_rows: int = 32_768,
    ) -> PieceReader:
        """See Source."""
        schema = chosen(self.schema, columns)
        reader = _GroupReader(self.files, self.groups[task::tasks], schema, tuple(predicate))
        return PieceReader(reader.batches(batch_rows), self.kind)


class _GroupReader:
    """Decodes some row groups, one after the other."""

    def __init__(
        self,
        files: tuple[str, ...],
        groups: tuple[tuple[int, int], ...],
        schema: pa.Schema,
        predicate: tuple[Conjunct, ...],
    ):
        self.files, self.groups, self.schema, self.predicate = files, groups, schema, predicate

    def batches(self, batch_rows: int) -> Iterator[pa.RecordBatch | Skipped]:
        opened, current = None, -1
        try:
            for file, group in self.groups:
                if file != current:
                    if opened is not None:
                        opened.close()
                    opened, current = _open(self.files[file]), file
                try:
                    yield from self._group(self.files[file], opened, group, batch_rows)
                except (pa.ArrowException, OSError) as error:
                    raise InputError(
                        self.files[file], f"row group {group} cannot be read: {error}"
                    ) from None
        finally:
            if opened is not None:
                opened.close()

    def _group(
        self, file: str, opened: pq.ParquetFile, group: int, batch_rows: int
    ) -> Iterator[pa.RecordBatch | Skipped]:
        described = opened.metadata.row_group(group)
        if rejects(described, opened.schema_arrow, self.schema, self.predicate):
            yield Skipped(described.num_rows, partial(self._reread, file, group))
            return
        yield from self._decoded(file, opened, group, batch_rows)

    def _reread(self, file: str, group: int, first: int, rows: int) -> pa.RecordBatch:
        """Some rows of a row group that was passed over."""
        opened = _open(file)
        try:
            found, place = [], 0
            for piece in self._decoded(file, opened, group, 4096):
                start, stop = max(first - place, 0), min(first + rows - place, piece.num_rows)
                if start < stop:
                    found.append(piece.slice(start, stop - start))
                place += piece.num_rows
                if place >= first + rows:
                    break
            return pa.concat_batches(found)
        finally:
            opened.close()

    def _decoded(
        self, file: str, opened: pq.ParquetFile, group: int, batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        """A row group's rows with the columns and types of the source."""
        described = opened.metadata.row_group(group)
        present = [name for name in self.schema.names if name in opened.schema_arrow.names]
        if not present:
            nothing = pa.nulls(described.num_rows)
            whole = pa.RecordBatch.from_arrays([nothing], ["nothing"])
            decoded: Any = [whole]
        elif described.num_rows * _width(opened.schema_arrow, present) <= WHOLE_GROUP_BYTES:
            table = opened.read_row_group(group, columns=present, use_threads=False)
            decoded = table.to_batches()
        else:
            decoded = _parts(file, group, present)
        for batch in decoded:
            for piece in pieces(batch, batch_rows):
                yield self._fitted(piece)

    def _fitted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """``batch`` with all columns of the schema, in its order and of its types."""
        if batch.schema.equals(self.schema):
            return batch
        if not self.schema.names:
            return batch.select([])  # keeps the number of rows
        columns = []
        for each in self.schema:
            place = batch.schema.get_field_index(each.name)
            if place < 0:
                columns.append(pa.nulls(batch.num_rows, each.type))
                continue
            column = batch.column(place)
            if isinstance(column, pa.ExtensionArray):
                column = column.storage
            columns.append(column if column.type == each.type else column.cast(each.type))
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


def _width(schema: pa.Schema, names: list[str]) -> float:
    """Decoded bytes of a row; infinite where they differ from row to row."""
    total = 0.0
    for name in names:
        of = schema.field(name).type
        fixed = pa.types.is_primitive(of) or pa.types.is_decimal(of)
        total += of.bit_width / 8 if fixed else math.inf
    return total


def _parts(file: str, group: int, names: list[str]) -> Iterator[pa.RecordBatch]:
    """A row group decoded some rows at a time."""
    opened = _open(file, BUFFER_BYTES)
    try:

        def decoded(rows: int) -> Iterator[pa.RecordBatch]:
            return opened.iter_batches(rows, row_groups=[group], columns=names, use_threads=False)

        trial = next(decoded(TRIAL_ROWS))
        in_file = opened.metadata.row_group(group)
        width = max(1, trial.nbytes // trial.num_rows, in_file.total_byte_size // in_file.num_rows)
        yield from decoded(max(16, min(PART_ROWS, PART_BYTES // width)))
    finally:
        opened.close()


def _open(file: str, buffer_bytes: int = 0) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(file, buffer_size=buffer_bytes)
    except (pa.ArrowException, OSError) as error:
        raise InputError(file, f"is no readable Parquet file: {error}") from None
