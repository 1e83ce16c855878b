"""How JSON lines become columns, and which line is at fault where they do not."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.json

from ambergate.connectors.blocks import first_failing
from ambergate.errors import InputError

__all__ = ["JsonParser", "inferred_types"]

FOUND_CHARACTERS = 80
REMEDY = "correct the line; each must be one JSON object"


def parse(text: bytes, schema: pa.Schema | None, unexpected: str = "infer") -> pa.Table:
    """The rows of ``text``; ``unexpected``: what to do with columns not in ``schema``."""
    dated = [] if schema is None else [each for each in schema if _is_dated(each.type)]
    read = schema
    if schema is not None and dated:  # pyarrow reads them from numbers only
        fields = [pa.field(e.name, pa.string()) if _is_dated(e.type) else e for e in schema]
        read = pa.schema(fields, schema.metadata)
    table = pa.json.read_json(
        pa.BufferReader(text),
        pa.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
        pa.json.ParseOptions(explicit_schema=read, unexpected_field_behavior=unexpected),
    )
    for each in dated:
        place = table.schema.get_field_index(each.name)
        table = table.set_column(place, each.name, _dated(table.column(place), each.type))
    return table


def _dated(texts: pa.ChunkedArray, of: pa.DataType) -> pa.ChunkedArray | pa.Array:
    if pa.types.is_date(of):
        return texts.cast(of)
    try:  # pyarrow has no cast to a time of day
        times = [
            None if text is None else datetime.time.fromisoformat(text)
            for text in texts.to_pylist()
        ]
    except ValueError as error:
        raise pa.ArrowInvalid(str(error)) from None
    return pa.array(times, of)


def _is_dated(of: pa.DataType) -> bool:
    return pa.types.is_date(of) or pa.types.is_time(of)


def count_lines(text: bytes) -> int:
    """Lines that are not blank."""
    return sum(1 for line in text.split(b"\n") if line.strip())


def one_a_line(text: bytes, rows: int) -> bool:
    """Whether ``text`` has as many lines that are not blank as it gave rows."""
    if b"\n\n" not in text and rows == text.count(b"\n"):
        return True  # the usual case, at a glance
    return rows == count_lines(text)


def as_text(of: pa.DataType) -> pa.DataType:
    """``of`` with the strings that pyarrow took for times as strings again."""
    if pa.types.is_timestamp(of):
        return pa.string()
    if pa.types.is_list(of):
        return pa.list_(as_text(of.value_type))
    if pa.types.is_struct(of):
        return pa.struct([(each.name, as_text(each.type)) for each in of])
    return of


def inferred_types(
    file: str, block: bytes, declared: dict[str, pa.DataType]
) -> dict[str, pa.DataType]:
    """Column types that the lines of ``block`` suggest.

    Raises
    ------
    InputError
        A line that cannot be read, or that does not fit those before: names the line.
    """
    if not block.strip():
        return {}
    schema = pa.schema(list(declared.items())) if declared else None
    try:
        found = parse(block, schema).schema
    except (pa.ArrowException, UnicodeDecodeError):
        lines = block.splitlines(keepends=True)
        raise _Fault(file, lines, schema, "infer").error(0, 0) from None
    return {each.name: each.type if each.name in declared else as_text(each.type) for each in found}


class JsonParser:
    """Parses the blocks of one file, counting rows and lines.

    Parameters
    ----------
    schema : of the file's rows; any other column in them is an error, unless not all are wanted
    wanted : the columns to read
    """

    def __init__(self, file: str, schema: pa.Schema, wanted: pa.Schema):
        self._file = file
        self._unexpected = "error" if wanted.names == schema.names else "ignore"
        # Without any column to read nothing would count the rows.
        self._schema = wanted if wanted.names else pa.schema([schema.field(0)])
        self._rows = self._lines = 0

    def batches(self, block: bytes) -> Iterator[pa.RecordBatch]:
        """The rows of one block; those before a line at fault come before the error."""
        if not block.strip():
            self._lines += block.count(b"\n")
            return
        try:
            table = parse(block, self._schema, self._unexpected)
            # An object over several lines, or several in one, would depend on where blocks end.
            if not one_a_line(block, table.num_rows):
                raise pa.ArrowInvalid("not one object a line")
        except (pa.ArrowException, UnicodeDecodeError):
            fault = _Fault(self._file, block.splitlines(keepends=True), self._schema)
            fault.unexpected = self._unexpected
            good = fault.before()
            if good is not None:
                yield from good.to_batches()
            raise fault.error(self._rows, self._lines) from None
        yield from table.to_batches()
        self._rows += table.num_rows
        self._lines += block.count(b"\n")


class _Fault:
    """The first of some lines that cannot be read."""

    def __init__(
        self, file: str, lines: list[bytes], schema: pa.Schema | None, unexpected: str = "error"
    ):
        self.file, self.schema, self.unexpected = file, schema, unexpected
        self._lines = lines
        self._place: int | None = None

    @property
    def place(self) -> int:
        """Number of the line, from 0."""
        if self._place is None:
            self._place = first_failing(len(self._lines), self._fails) - 1
        return self._place

    def _fails(self, count: int) -> bool:
        text = b"".join(self._lines[:count])
        if not text.strip():
            return False
        try:
            return parse(text, self.schema, self.unexpected).num_rows != count_lines(text)
        except (pa.ArrowException, UnicodeDecodeError):
            return True

    def before(self) -> pa.Table | None:
        """The rows of the lines before."""
        text = b"".join(self._lines[: self.place])
        return parse(text, self.schema, self.unexpected) if text.strip() else None

    def error(self, rows: int, lines: int) -> InputError:
        """What is wrong with the line, ``rows`` and ``lines`` after the beginning of the file."""
        before = b"".join(self._lines[: self.place])
        row = rows + count_lines(before) + 1
        line = self._lines[self.place]
        problem, remedy = self._problem(line, before)
        return InputError(self.file, f"line {lines + self.place + 1}: {problem}", row, remedy)

    def _problem(self, line: bytes, before: bytes) -> tuple[str, str]:
        try:
            found = json.loads(line)
        except UnicodeDecodeError:
            return "is not UTF-8", "convert the file"
        except ValueError as error:
            return f"no JSON: {error}; found {_short(line)}", REMEDY
        if not isinstance(found, dict):
            return f"expected an object, found {_short(line)}", REMEDY
        known = self.schema or pa.schema([])
        if self.unexpected == "infer" and before.strip():
            earlier = parse(before, self.schema).schema
            known = pa.schema(
                [(f.name, f.type if f.name in known.names else as_text(f.type)) for f in earlier]
            )
        for name, value in found.items():
            place = known.get_field_index(name)
            if place < 0:
                if self.unexpected == "error":
                    return self._unknown(name)
                continue
            expected = known.field(place).type
            if not _fits(name, value, expected):
                of = _type_of(value)
                kind = "expects" if self.schema is not None else "was"
                return (
                    f"column {name!r} {kind} {expected}, found {of} {_short(value)}",
                    f"give types={{{name!r}: ...}} that fits all lines, or correct the line",
                )
        try:
            parse(line, self.schema, self.unexpected)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            return str(error), "correct the line, or give types="
        return f"cannot be read after the lines before it; found {_short(line)}", REMEDY

    def _unknown(self, name: str) -> tuple[str, str]:
        known = [] if self.schema is None else self.schema.names
        return (
            f"unknown column {name!r}; the columns are {known}",
            f"give types={{{name!r}: ...}}: it is not at the beginning of the files",
        )


def _fits(name: str, value: Any, expected: pa.DataType) -> bool:
    text = json.dumps({name: value}).encode()
    try:
        parse(text, pa.schema([(name, expected)]), "error")
    except (pa.ArrowException, UnicodeDecodeError):
        return False
    return True


def _type_of(value: Any) -> str:
    try:
        return str(pa.infer_type([value]))
    except (pa.ArrowException, OverflowError):
        return type(value).__name__


def _short(value: Any) -> str:
    text = value.decode("utf-8", "replace").strip() if isinstance(value, bytes) else value
    text = text if isinstance(value, bytes) else repr(value)
    return text if len(text) <= FOUND_CHARACTERS else text[:FOUND_CHARACTERS] + "..."
