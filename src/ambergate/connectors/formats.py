"""How rows look in a file: CSV, JSON lines, Parquet."""

from __future__ import annotations

import base64
import json
import lzma
import re
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from ambergate.errors import PlanError

__all__ = ["CsvFormat", "JsonFormat", "ParquetFormat", "check_flat"]

GROUP_ROWS, GROUP_BYTES = 1 << 18, 32 << 20
"""A Parquet row group is written at so many rows, or so many bytes."""


class ParquetFormat:
    """A Parquet file being written; rows are kept back until they fill a row group."""

    def __init__(self, path: str, schema: pa.Schema):
        self._schema = schema
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._nbytes = 0
        self._writer = pq.ParquetWriter(path, schema)

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows."""
        self._waiting.append(batch)
        self._rows += batch.num_rows
        self._nbytes += batch.nbytes
        if self._rows >= GROUP_ROWS or self._nbytes >= GROUP_BYTES:
            self._write_group()

    def _write_group(self) -> None:
        if self._rows:
            table = pa.Table.from_batches(self._waiting, schema=self._schema)
            self._writer.write_table(table, row_group_size=self._rows)
        self._waiting, self._rows, self._nbytes = [], 0, 0

    def close(self) -> None:
        """Write the rest and the footer."""
        try:
            self._write_group()
        finally:
            self._writer.close()


class CsvFormat:
    """A CSV file being written; the header is there even where no row follows."""

    def __init__(self, path: str, schema: pa.Schema):
        self._file = _opened(path)
        self._alone = len(schema) == 1
        self._schema = schema
        self._writer = pa.csv.CSVWriter(self._file, schema)

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows."""
        if self._alone and batch.column(0).null_count:
            # A null alone in its line would be a blank line, which readers pass over.
            self._writer.close()
            text = batch.column(0).cast(pa.string()).fill_null("")
            quoted = pa.RecordBatch.from_arrays([text], [self._schema.names[0]])
            options = pa.csv.WriteOptions(include_header=False)
            pa.csv.write_csv(quoted, self._file, options)
            self._writer = pa.csv.CSVWriter(self._file, self._schema, write_options=options)
            return
        self._writer.write_batch(batch)

    def close(self) -> None:
        """Write the rest."""
        try:
            self._writer.close()
        finally:
            self._file.close()


class JsonFormat:
    """A file of JSON lines being written."""

    def __init__(self, path: str, schema: pa.Schema):
        self._file = _opened(path)
        keys = [json.dumps(name, ensure_ascii=False).replace("%", "%%") for name in schema.names]
        self._line = "{" + ", ".join(f"{key}: %s" for key in keys) + "}\n"

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows."""
        columns = [json_texts(column) for column in batch.columns]
        if columns:
            lines = map(self._line.__mod__, zip(*columns, strict=True))
            self._file.write("".join(lines).encode("utf-8"))
        else:
            self._file.write(b"{}\n" * batch.num_rows)

    def close(self) -> None:
        """Write the rest."""
        self._file.close()


CODECS = {"gz": "gzip", "bz2": "bz2", "zst": "zstd", "lz4": "lz4"}
# names as Target.unfinished makes them
COMPRESSED = re.compile(r"\.(gz|bz2|xz|zst|lz4)\.\d+-\w+-\d+\.part$")


def _opened(path: str) -> Any:
    """A file to write, compressed by the suffix its name will have."""
    found = COMPRESSED.search(path)
    if found is None:
        return open(path, "wb", buffering=1 << 18)  # closed by the form
    if found[1] == "xz":  # not among Arrow's codecs
        return lzma.open(path, "wb")
    return _Compressed(path, CODECS[found[1]])


class _Compressed:
    """A compressed file that closes both of its halves."""

    def __init__(self, path: str, codec: str):
        self._file = pa.OSFile(path, "wb")
        self._stream = pa.CompressedOutputStream(self._file, codec)
        self.closed = False

    def write(self, content: Any) -> int:
        self._stream.write(content)
        return len(content)

    def flush(self) -> None:
        self._stream.flush()

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            try:
                self._stream.close()
            finally:
                self._file.close()


ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def json_texts(column: pa.Array) -> list[str]:
    """Each value of a column as JSON text.

    >>> json_texts(pa.array([1.5, None, float("nan")]))
    ['1.5', 'null', 'null']
    """
    of = column.type
    try:
        values = column.to_pylist()
    except (ValueError, OverflowError):  # times that Python cannot say
        values = _iso_texts(column)
    if pa.types.is_integer(of):
        return ["null" if value is None else str(value) for value in values]
    if pa.types.is_boolean(of) or pa.types.is_string(of) or pa.types.is_large_string(of):
        return [ENCODE(value) for value in values]
    return [ENCODE(_plain(value)) for value in values]


def _iso_texts(column: pa.Array) -> list[str | None]:
    """Dates and times as Arrow writes them, made ISO 8601.

    >>> _iso_texts(pa.array([1], pa.timestamp("ns", "Asia/Tokyo")))
    ['1970-01-01T09:00:00.000000001+09:00']
    """
    texts = column.cast(pa.string()).to_pylist()
    if not pa.types.is_timestamp(column.type):
        return texts
    return [
        None
        if text is None
        else re.sub(r"([+-]\d\d)(\d\d)$", r"\1:\2", text.replace(" ", "T").replace("Z", "+00:00"))
        for text in texts
    ]


def _plain(value: Any) -> Any:
    """``value`` as JSON knows it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None  # JSON has no NaN and no infinities
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def check_flat(name: str, schema: pa.Schema) -> None:
    """Raise PlanError where a column holds more than one value a row, which CSV cannot."""
    for field in schema:
        if pa.types.is_nested(field.type) or pa.types.is_binary(field.type):
            raise PlanError(
                name,
                f"column {field.name!r} is {field.type}, which CSV cannot hold",
                "write_parquet or write_json can; or explode or drop the column",
            )
