"""Where streams begin: files, Arrow data, Python iterables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from ambergate.arguments import parsed_types
from ambergate.connectors.arrow import FromArrow
from ambergate.connectors.csv import ReadCsv
from ambergate.connectors.iterators import FromIterable
from ambergate.connectors.json import ReadJson
from ambergate.connectors.parquet import ReadParquet
from ambergate.graph.logical import Node
from ambergate.stream import Stream, Types


def read_csv(
    path: Any,
    types: Types | None = None,
    null_values: list[str] | None = None,
    delimiter: str = ",",
    header: bool | list[str] = True,
    quote: str = '"',
    *,
    name: str | None = None,
    parallelism: int | None = None,
) -> Stream:
    """Rows of CSV files.

    Parameters
    ----------
    path : a file, a folder, a glob, or a list of them; ``.gz`` is decompressed
    types : column -> Arrow type; other columns are inferred from the beginning of the files
    null_values : texts that mean null
    header : True, False (columns f0, f1, ...), or the list of column names of headless files

    Raises
    ------
    InputError
        No such file, or files that do not fit together; before anything runs.
    """
    description = ReadCsv(
        path,
        types=_parsed(name or "read_csv", types),
        null_values=null_values,
        delimiter=delimiter,
        header=header,
        quote=quote,
    )
    return _source(description, "read_csv", name, parallelism)


def read_json(
    path: Any,
    types: Types | None = None,
    *,
    name: str | None = None,
    parallelism: int | None = None,
) -> Stream:
    """Rows of JSON files, one object a line."""
    description = ReadJson(path, types=_parsed(name or "read_json", types))
    return _source(description, "read_json", name, parallelism)


def read_parquet(path: Any, *, name: str | None = None, parallelism: int | None = None) -> Stream:
    """Rows of Parquet files; row groups are dealt to the tasks in order, i mod tasks."""
    return _source(ReadParquet(path), "read_parquet", name, parallelism)


def from_arrow(tables: Any, *, name: str | None = None, parallelism: int | None = None) -> Stream:
    """Rows of Arrow data: a table, or anything with ``__arrow_c_stream__``, or a dict of columns.

    A list of tables gives one task each; one table is dealt to the tasks in contiguous slices.
    """
    if isinstance(tables, dict):
        tables = pa.table(tables)
    return _source(FromArrow(tables), "from_arrow", name, parallelism)


def from_iter(
    source: Iterable[Any] | Callable[..., Iterable[Any]],
    schema: Types | pa.Schema | None = None,
    *,
    name: str | None = None,
    parallelism: int | None = None,
) -> Stream:
    """Rows of a Python iterable, or of the one that a function returns; one task.

    Parameters
    ----------
    source : an iterable of dicts, or of tuples in schema order; or ``fn()``; or ``fn(offset)``,
        which must begin with the row of that number
    schema : column -> Arrow type; inferred from the first rows without it
    """
    if schema is not None and not isinstance(schema, pa.Schema):
        schema = pa.schema(list(parsed_types(name or "from_iter", schema).items()))
    return _source(FromIterable(source, schema), "from_iter", name, parallelism)


def _source(description: Any, kind: str, name: str | None, parallelism: int | None) -> Stream:
    return Stream(Node("source", kind, description, (), description.schema, name, parallelism))


def _parsed(operator: str, types: Types | None) -> dict[str, pa.DataType] | None:
    return None if types is None else parsed_types(operator, types)
