"""How CSV text becomes columns, and which row is at fault where it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv

from ambergate.connectors.blocks import BYTE_ORDER_MARK, Rows, UnclosedRow, first_failing
from ambergate.errors import InputError

__all__ = ["CsvDialect", "CsvParser"]

FOUND_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """Delimiter, quote and texts that mean null."""

    delimiter: str
    quote: str
    nulls: tuple[str, ...] | None

    def __post_init__(self) -> None:
        if self.nulls is not None and any(not isinstance(text, str) for text in self.nulls):
            raise InputError("read_csv", f"null_values={self.nulls!r} are not all texts")
        for what, text in (("delimiter", self.delimiter), ("quote", self.quote)):
            if len(text.encode()) != 1 and not (what == "quote" and not text):
                raise InputError(
                    "read_csv", f"{what}={text!r} is not one ASCII character", None, "give one"
                )

    @property
    def rows(self) -> Rows:
        """Where rows end."""
        return Rows(self.delimiter.encode(), self.quote.encode())

    def parse(
        self,
        text: bytes,
        names: list[str],
        types: dict[str, pa.DataType] | None = None,
        wanted: list[str] | None = None,
    ) -> pa.Table:
        """The rows of ``text``; columns without a type in ``types`` are inferred."""
        if text.startswith(BYTE_ORDER_MARK):
            text = BYTE_ORDER_MARK + text  # one is dropped, and this one belongs to a value
        if self.nulls is None:
            return self._read(text, names, types, wanted)
        try:
            return self._read(text, names, types, wanted, self._nulls(quoted=False))
        except pa.ArrowInvalid:
            # In columns that are not text a quoted null is one too: "" is no number.
            kept = names if wanted is None else wanted
            others = [name for name in kept if not _is_text((types or {}).get(name))]
            if not others:
                raise
            table = self._read(text, names, types, others, self._nulls(quoted=True))
            texts = [name for name in kept if name not in others]
            if texts:
                beside = self._read(text, names, types, texts, self._nulls(quoted=False))
                for name in texts:
                    table = table.append_column(name, beside[name])
            return table.select(kept)

    def _nulls(self, quoted: bool) -> dict[str, object]:
        return {
            "null_values": ["", *(self.nulls or ())],
            "strings_can_be_null": True,
            "quoted_strings_can_be_null": quoted,
        }

    def _read(
        self,
        text: bytes,
        names: list[str],
        types: dict[str, pa.DataType] | None,
        wanted: list[str] | None,
        nulls: dict[str, object] | None = None,
    ) -> pa.Table:
        return pa.csv.read_csv(
            pa.BufferReader(text),
            pa.csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
            self._parse_options(),
            pa.csv.ConvertOptions(column_types=types, include_columns=wanted, **(nulls or {})),
        )

    def _parse_options(self) -> pa.csv.ParseOptions:
        return pa.csv.ParseOptions(
            delimiter=self.delimiter,
            quote_char=self.quote or False,
            double_quote=bool(self.quote),
            newlines_in_values=True,
        )

    def first_row(self, text: bytes) -> tuple[int, int]:
        """Where the first row that is not blank begins and ends."""
        start = 0
        while text[start : start + 1] in (b"\r", b"\n"):
            start += 1
        ends = self.rows.first_end(text, start)
        return start, ends

    def header(self, file: str, row: bytes) -> list[str]:
        """The names in a header row."""
        try:
            return self.texts(row)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise InputError(file, f"the header cannot be read: {error}", 0) from None

    def texts(self, row: bytes) -> list[str]:
        """The fields of one row, as they are."""
        options = pa.csv.ReadOptions(use_threads=False, block_size=len(row) + 1)
        if row.startswith(BYTE_ORDER_MARK):
            row = BYTE_ORDER_MARK + row
        if not row.endswith((b"\n", b"\r")):
            row += b"\n"
        # Read as a header, no field is taken for a number or a null.
        return pa.csv.read_csv(pa.BufferReader(row), options, self._parse_options()).column_names

    def check_types(self, where: str, types: dict[str, pa.DataType]) -> None:
        """Raise InputError where text cannot be converted to one of the types."""
        for name, of in types.items():
            try:
                self.parse(b"x\n", [name], {name: of})
            except pa.ArrowNotImplementedError:
                raise InputError(
                    where,
                    f"column {name!r}: text cannot be read as {of}",
                    None,
                    "read it as string, and convert it later",
                ) from None
            except pa.ArrowInvalid:
                continue  # that x is none does not matter

    def inferred(
        self, file: str, names: list[str], known: dict[str, pa.DataType], block: bytes, head: bytes
    ) -> dict[str, pa.DataType]:
        """Column types that the rows of ``block`` suggest; null where all is null."""
        if not block.strip(b"\r\n"):
            return {name: known.get(name, pa.null()) for name in names}
        # Columns whose type is known are not converted here: what does not fit them is an error
        # of the run, at its row.
        text = dict.fromkeys(known, pa.string())
        try:
            table = self.parse(block, names, text)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            parser = CsvParser(self, file, names, text, names)
            parser.skip(head)
            good, failure = parser.fault(block, error)
            if good is None:
                raise failure from None
            table = good
        return {each.name: known.get(each.name, each.type) for each in table.schema}

    def parser(
        self, file: str, names: list[str], schema: pa.Schema, wanted: pa.Schema
    ) -> CsvParser:
        """A parser of one file whose columns are ``names``."""
        types = {each.name: each.type for each in schema}
        return CsvParser(self, file, names, types, wanted.names)


class CsvParser:
    """Parses the blocks of one file, counting rows and lines."""

    def __init__(
        self,
        dialect: CsvDialect,
        file: str,
        names: list[str],
        types: dict[str, pa.DataType],
        wanted: list[str],
    ):
        self._dialect, self._file, self._names, self._types = dialect, file, names, types
        self._wanted = wanted
        self._rows = self._lines = 0

    def skip(self, head: bytes) -> None:
        """Count the lines of what was taken away before: the header."""
        self._lines += head.count(b"\n")

    def batches(self, block: bytes) -> Iterator[pa.RecordBatch]:
        """The rows of one block; those before a row at fault come before the error."""
        if not block.strip(b"\r\n"):
            self._lines += block.count(b"\n")
            return
        if isinstance(block, UnclosedRow):
            raise unclosed(self._file, self._lines + 1, self._rows + 1)
        try:
            table = self._parse(block)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            good, failure = self.fault(block, error)
            yield from self._fitted(good)
            raise failure from None
        yield from self._fitted(table)
        self._rows += table.num_rows
        self._lines += block.count(b"\n")

    def _parse(self, text: bytes) -> pa.Table:
        # Without any column to read nothing would count the rows.
        return self._dialect.parse(text, self._names, self._types, self._wanted or self._names[:1])

    def _fitted(self, table: pa.Table | None) -> list[pa.RecordBatch]:
        if table is None:
            return []
        return table.select(self._wanted).to_batches()

    def fault(self, block: bytes, error: Exception) -> tuple[pa.Table | None, InputError]:
        """The rows before the first one at fault, and the error that names it."""
        ends = self._dialect.rows.all_ends(block)
        if not ends or ends[-1] < len(block):
            ends.append(len(block))

        def fails(count: int) -> bool:
            text = block[: ends[count - 1]]
            if not text.strip(b"\r\n"):
                return False
            try:
                self._parse(text)
            except (pa.ArrowException, UnicodeDecodeError):
                return True
            return False

        count = first_failing(len(ends), fails)
        start = ends[count - 2] if count > 1 else 0
        before, row = block[:start], block[start : ends[count - 1]]
        good = self._parse(before) if before.strip(b"\r\n") else None
        number = self._rows + (good.num_rows if good is not None else 0) + 1
        line = self._lines + before.count(b"\n") + 1
        return good, self._described(row, number, line, error)

    def _described(self, row: bytes, number: int, line: int, error: Exception) -> InputError:
        try:
            self._parse(row)
        except (pa.ArrowException, UnicodeDecodeError) as alone:
            error = alone
        place = f"line {line}: "
        try:
            texts = self._dialect.texts(row)
        except (pa.ArrowException, UnicodeDecodeError):
            texts = []
        column = re.search(r"CSV column #(\d+)", str(error))
        if column is not None and "UTF8" in str(error):
            name = self._names[int(column[1])]
            return InputError(
                self._file,
                f"{place}column {name!r} is not UTF-8",
                number,
                f"convert the file to UTF-8, or read it with types={{{name!r}: 'binary'}}",
            )
        if column is not None and len(texts) == len(self._names):
            name, found = self._names[int(column[1])], texts[int(column[1])]
            return InputError(
                self._file,
                f"{place}column {name!r} expects {self._types[name]}, found {_short(found)}",
                number,
                f"give types={{{name!r}: 'string'}} or another type, "
                f"or null_values=[{_short(found)}] if it means null",
            )
        if texts and len(texts) != len(self._names):
            return InputError(
                self._file,
                f"{place}expected {len(self._names)} fields ({', '.join(self._names)}), "
                f"found {len(texts)}",
                number,
                "correct the row, or give delimiter= or quote= as the file has them",
            )
        return InputError(self._file, f"{place}{error}", number)


def _is_text(of: pa.DataType | None) -> bool:
    return of is not None and (
        pa.types.is_string(of)
        or pa.types.is_large_string(of)
        or pa.types.is_binary(of)
        or pa.types.is_large_binary(of)
    )


def unclosed(file: str, line: int, row: int | None) -> InputError:
    """The error for a row that is still inside quotes where the file ends."""
    return InputError(
        file,
        f"line {line}: a quote is not closed before the file ends",
        row,
        "correct the row, or give quote= as the file has it",
    )


def _short(text: str) -> str:
    return repr(text if len(text) <= FOUND_CHARACTERS else text[:FOUND_CHARACTERS] + "...")
