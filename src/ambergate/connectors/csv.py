"""CSV files: their columns and types, and their rows block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pyarrow as pa

from ambergate.connectors.base import Conjunct, PieceReader, chosen, pieces, plain_schema
from ambergate.connectors.blocks import BLOCK_BYTES, UnclosedRow, text_blocks
from ambergate.connectors.csv_dialect import CsvDialect, unclosed
from ambergate.connectors.files import ByteStream, files_of
from ambergate.connectors.unify import wider
from ambergate.errors import InputError

__all__ = ["ReadCsv"]

LOOK_FILES, LOOK_BYTES = 16, 1 << 20
"""How much is looked at to infer types: of so many files the first bytes."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadCsv:
    """Rows of CSV files; a file is read by one task.

    Parameters
    ----------
    path : a file, a folder, a glob, or a list of them
    types : column -> type; the others are inferred
    null_values : texts that mean null, in every column, where they are not quoted; an empty
        field then is null as well. Without them: pyarrow's list, but text is never null
    delimiter : one character
    header : whether the first row names the columns, or the names
    quote : one character, or None where nothing is quoted
    block_bytes : read and parsed at once

    Raises
    ------
    InputError
        No such file, files with different columns, or a row that does not fit.
    """

    path: Any
    types: dict[str, pa.DataType] | None = None
    null_values: list[str] | None = None
    delimiter: str = ","
    header: bool | list[str] = True
    quote: str | None = '"'
    block_bytes: int = BLOCK_BYTES
    files: tuple[str, ...] = field(init=False, repr=False)
    schema: pa.Schema = field(init=False, repr=False)
    dialect: CsvDialect = field(init=False, repr=False)

    kind: ClassVar[str] = "read_csv"
    in_caller: ClassVar[bool] = False
    skips: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "files", files_of(self.path))
        if isinstance(self.null_values, str):
            raise InputError(
                "read_csv", f"null_values={self.null_values!r} is no list", None, "put it into [ ]"
            )
        nulls = None if self.null_values is None else tuple(self.null_values)
        dialect = CsvDialect(self.delimiter, self.quote or "", nulls)
        object.__setattr__(self, "dialect", dialect)
        dialect.check_types(self._where(), self.types or {})
        object.__setattr__(self, "schema", self._look())

    def tasks(self, wanted: int) -> int:
        """See Source."""
        return max(1, min(wanted, len(self.files)))

    def open(
        self,
        task: int,
        tasks: int,
        columns: tuple[str, ...] | None = None,
        predicate: Sequence[Conjunct] = (),
        batch_rows: int = 32_768,
    ) -> PieceReader:
        """See Source."""
        wanted = chosen(self.schema, columns)
        return PieceReader(self._rows(self.files[task::tasks], wanted, batch_rows), self.kind)

    def _where(self) -> str:
        return self.files[0] if self.files else str(self.path)

    def _rows(
        self, files: Sequence[str], wanted: pa.Schema, batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        for file in files:
            stream = ByteStream(file)
            try:
                blocks = _Blocks(self, stream)
                if blocks.names is None:
                    continue
                _check_names(file, blocks.names, self.schema.names, self._where())
                parser = self.dialect.parser(file, blocks.names, self.schema, wanted)
                parser.skip(blocks.head)
                for block in blocks:
                    for batch in parser.batches(block):
                        yield from pieces(batch, batch_rows)
            finally:
                stream.close()

    def _look(self) -> pa.Schema:
        """The schema, from the beginning of the first files."""
        types = dict(self.types or {})
        merged: dict[str, pa.DataType] | None = None
        first = ""
        for file in self.files[:LOOK_FILES]:
            found = self._look_at(file, types)
            if found is None:
                continue
            if merged is None:
                merged, first = dict(found), file
                continue
            _check_names(file, list(found), list(merged), first)
            for name, of in found.items():
                # All text fits string: that is what is left where types do not meet.
                merged[name] = wider(merged[name], of, loose=True) or pa.string()
        if merged is None:
            return self._without_rows(types)
        for name in types:
            if name not in merged:
                raise InputError(
                    first,
                    f"types= names the column {name!r}, which is not among {list(merged)}",
                    None,
                    "correct the name",
                )
        named = [
            (name, types.get(name) or (pa.string() if pa.types.is_null(of) else of))
            for name, of in merged.items()
        ]
        return pa.schema(named)

    def _look_at(self, file: str, types: dict[str, pa.DataType]) -> dict[str, pa.DataType] | None:
        stream = ByteStream(file)
        try:
            blocks = _Blocks(self, stream, LOOK_BYTES)
            if blocks.names is None:
                return None
            plain_schema(file, pa.schema([(name, pa.null()) for name in blocks.names]))
            known = {name: types[name] for name in blocks.names if name in types}
            block = next(iter(blocks), b"")
            return self.dialect.inferred(file, blocks.names, known, block, blocks.head)
        finally:
            stream.close()

    def _without_rows(self, types: dict[str, pa.DataType]) -> pa.Schema:
        """The schema where no file has a row."""
        if isinstance(self.header, list | tuple):
            return pa.schema([(name, types.get(name, pa.string())) for name in self.header])
        if types:
            return pa.schema(list(types.items()))
        problem = "is empty: there are no columns" if self.files else "the folder holds no file"
        raise InputError(self._where(), problem, None, "give types={column: type}, or leave it out")


class _Blocks:
    """The blocks of one file behind its header, and the names of its columns.

    ``names`` is None where there is neither header nor row.
    """

    def __init__(self, source: ReadCsv, stream: ByteStream, block_bytes: int | None = None):
        dialect = source.dialect
        self._blocks = text_blocks(stream, dialect.rows, block_bytes or source.block_bytes)
        self._first, self.head = b"", b""
        for block in self._blocks:
            if isinstance(block, UnclosedRow):
                raise unclosed(stream.path, self._first.count(b"\n") + 1, None)
            self._first += block
            if self._first.strip(b"\r\n"):
                break
        if not self._first.strip(b"\r\n"):
            self.names: list[str] | None = None
            return
        start, end = dialect.first_row(self._first)
        if source.header is True:
            self.head, self._first = self._first[:end], self._first[end:]
            self.names = dialect.header(stream.path, self.head[start:])
        elif source.header is False:
            width = len(dialect.texts(self._first[start:end]))
            self.names = [f"f{number}" for number in range(width)]
        else:
            self.names = list(source.header)

    def __iter__(self) -> Iterator[bytes]:
        if self._first:
            yield self._first
        yield from self._blocks


def _check_names(file: str, names: list[str], expected: list[str], other: str) -> None:
    for name in expected:
        if name not in names:
            raise InputError(
                file,
                f"has no column {name!r}, which {other} has; its columns are {names}",
                None,
                "read files of different columns separately and union them",
            )
    for name in names:
        if name not in expected:
            raise InputError(
                file,
                f"has a column {name!r}, which {other} has not; the columns are {expected}",
                None,
                "read files of different columns separately and union them",
            )
