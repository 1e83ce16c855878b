"""JSON lines: their columns and types, and their rows block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pyarrow as pa

from ambergate.connectors.base import Conjunct, PieceReader, chosen, pieces, plain_batch
from ambergate.connectors.blocks import BLOCK_BYTES, Rows, text_blocks
from ambergate.connectors.files import ByteStream, files_of
from ambergate.connectors.json_lines import JsonParser, inferred_types
from ambergate.connectors.unify import wider
from ambergate.errors import InputError

__all__ = ["ReadJson"]

LOOK_FILES, LOOK_BYTES = 16, 1 << 20
"""How much is looked at to infer columns and types: of so many files the first bytes."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadJson:
    """Rows of files with one JSON object a line; blank lines do not count.

    Parameters
    ----------
    path : a file, a folder, a glob, or a list of them
    types : column -> type; the others are inferred. Strings stay strings, also those that look
        like times
    block_bytes : read and parsed at once

    Raises
    ------
    InputError
        No such file, types that do not fit together, or a line that cannot be read.
    """

    path: Any
    types: dict[str, pa.DataType] | None = None
    block_bytes: int = BLOCK_BYTES
    files: tuple[str, ...] = field(init=False, repr=False)
    schema: pa.Schema = field(init=False, repr=False)

    kind: ClassVar[str] = "read_json"
    in_caller: ClassVar[bool] = False
    skips: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "files", files_of(self.path))
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

    def _rows(
        self, files: Sequence[str], wanted: pa.Schema, batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        for file in files:
            stream = ByteStream(file)
            try:
                parser = JsonParser(file, self.schema, wanted)
                for block in text_blocks(stream, Rows(), self.block_bytes):
                    for batch in parser.batches(block):
                        for piece in pieces(batch, batch_rows):
                            yield plain_batch(piece, wanted)
            finally:
                stream.close()

    def _look(self) -> pa.Schema:
        """The schema, from the beginning of the first files."""
        declared = dict(self.types or {})
        merged: dict[str, pa.DataType] = {}
        origins: dict[str, str] = {}
        for file in self.files[:LOOK_FILES]:
            stream = ByteStream(file)
            try:
                block = next(text_blocks(stream, Rows(), LOOK_BYTES), b"")
            finally:
                stream.close()
            for name, of in inferred_types(file, block, declared).items():
                known = merged.get(name, pa.null())
                both = wider(known, of, loose=True)
                if both is None:
                    raise self._conflict(file, block, name, known, origins[name], declared)
                if both != known or name not in merged:
                    merged[name], origins[name] = both, file
        if not merged and not declared:
            where = self.files[0] if self.files else str(self.path)
            problem = "is empty: there are no columns" if self.files else "the folder holds no file"
            raise InputError(where, problem, None, "give types={column: type}, or leave it out")
        fields = {**{name: text_for_null(of) for name, of in merged.items()}, **declared}
        return pa.schema(list(fields.items()))

    def _conflict(
        self,
        file: str,
        block: bytes,
        name: str,
        known: pa.DataType,
        other: str,
        declared: dict[str, pa.DataType],
    ) -> InputError:
        """The error for the first line whose type does not fit the other files'."""
        lines = block.splitlines(keepends=True)
        row = 0
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            row += 1
            of = inferred_types(file, line, declared).get(name, pa.null())
            if wider(known, of, loose=True) is None:
                return InputError(
                    file,
                    f"line {number}: column {name!r} is {of} here and {known} in {other}",
                    row,
                    f"give types={{{name!r}: ...}}, or make the files agree",
                )
        return InputError(file, f"column {name!r} does not fit {known} in {other}")


def text_for_null(of: pa.DataType) -> pa.DataType:
    """``of`` with string in place of a type that nothing but nulls told.

    >>> text_for_null(pa.list_(pa.null()))
    ListType(list<item: string>)
    """
    if pa.types.is_null(of):
        return pa.string()
    if pa.types.is_list(of):
        return pa.list_(text_for_null(of.value_type))
    if pa.types.is_struct(of):
        return pa.struct([(each.name, text_for_null(each.type)) for each in of])
    return of
