"""Python rows to Arrow batches, with the row and column at fault where they do not fit."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ambergate.connectors.base import pieces, plain_batch
from ambergate.errors import InputError

__all__ = ["RowBatcher", "inferred_schema"]

REFUSALS = (pa.ArrowException, TypeError, ValueError, OverflowError)
"""What pyarrow raises for a value that does not fit."""


class RowBatcher:
    """Makes batches of rows that are dicts, or tuples in schema order.

    Parameters
    ----------
    where : name of the source, for messages
    schema : of the rows
    wanted : of the batches; a part of ``schema``
    first : number of the first row to come
    """

    def __init__(self, where: str, schema: pa.Schema, wanted: pa.Schema, first: int = 0):
        self._where, self._names, self._wanted, self.rows = where, schema.names, wanted, first
        self._known = frozenset(schema.names)
        self._kinds: set[type] = set()  # of the rows at hand
        self._places = [schema.names.index(name) for name in wanted.names]

    def batch(self, rows: Sequence[Any]) -> pa.RecordBatch:
        """The rows as a batch.

        Raises
        ------
        InputError
            A row of another shape, or a value of another type: names row number and column.
        """
        self._check_shapes(rows)
        if not self._places:
            made = pa.RecordBatch.from_arrays([pa.nulls(len(rows))], ["nothing"]).select([])
        else:
            arrays = [
                self._array(rows, place, field)
                for place, field in zip(self._places, self._wanted, strict=True)
            ]
            made = pa.RecordBatch.from_arrays(arrays, schema=self._wanted)
        self.rows += len(rows)
        return made

    def pieces_of(
        self, table: pa.RecordBatch | pa.Table, batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        """Rows that come as Arrow data: columns by name, absent ones null."""
        batches = table.to_batches() if isinstance(table, pa.Table) else [table]
        for name in table.schema.names:
            if name not in self._known:
                raise self._misshapen({name: None}, self.rows)
        for batch in batches:
            for each in self._wanted:
                if each.name not in batch.schema.names:
                    batch = batch.append_column(each.name, pa.nulls(batch.num_rows, each.type))
            try:
                whole = plain_batch(batch, self._wanted)
            except pa.ArrowException as error:
                raise InputError(self._where, f"a batch does not fit: {error}", self.rows) from None
            self.rows += batch.num_rows
            yield from pieces(whole, batch_rows)

    def _array(self, rows: Sequence[Any], place: int, field: pa.Field) -> pa.Array:
        name = field.name
        if self._kinds <= {dict}:  # the usual cases first: one question less for each value
            values = [row.get(name) for row in rows]
        elif self._kinds <= {tuple, list}:
            values = [row[place] for row in rows]
        else:
            values = [row.get(name) if isinstance(row, Mapping) else row[place] for row in rows]
        try:
            made = pa.array(values, type=field.type)
        except REFUSALS as error:
            raise self._misfit(values, field, error) from None
        if may_lose(values, field.type) and any(loses(value, field.type) for value in values):
            raise self._misfit(values, field, ValueError("a value would change"))
        # Values of one batch over 2 GiB come in chunks.
        return made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made

    def _misfit(self, values: list[Any], field: pa.Field, error: Exception) -> InputError:
        for number, value in enumerate(values):
            if not _fits(value, field.type):
                return InputError(
                    self._where,
                    f"column {field.name!r} expects {field.type}, "
                    f"found {type(value).__name__} {_short(value)}",
                    self.rows + number,
                    f"give schema={{{field.name!r}: ...}} that fits, or convert the value",
                )
        return InputError(self._where, f"column {field.name!r}: {error}", self.rows)

    def _check_shapes(self, rows: Sequence[Any]) -> None:
        width, known = len(self._names), self._known
        self._kinds = set(map(type, rows))
        for number, row in enumerate(rows):
            if isinstance(row, dict):
                if row.keys() <= known:
                    continue
            elif isinstance(row, tuple | list):
                if len(row) == width:
                    continue
            elif isinstance(row, Mapping) and known.issuperset(row):
                continue
            raise self._misshapen(row, self.rows + number)

    def _misshapen(self, row: Any, number: int) -> InputError:
        if isinstance(row, Mapping):
            strange = next(key for key in row if key not in self._known)
            return InputError(
                self._where,
                f"unknown column {strange!r}; the columns are {self._names}",
                number,
                "name it in schema=, or leave it out of the rows",
            )
        if isinstance(row, tuple | list):
            return InputError(
                self._where,
                f"expected {len(self._names)} values ({', '.join(self._names)}), found {len(row)}",
                number,
                "give one value for each column",
            )
        return InputError(
            self._where,
            f"expected a dict or a tuple, found {type(row).__name__} {_short(row)}",
            number,
            "give each row as {column: value}, or as a tuple in schema order",
        )


def inferred_schema(where: str, rows: Sequence[Any]) -> pa.Schema:
    """Columns and types of the rows that are there.

    Raises
    ------
    InputError
        No rows; rows that are not dicts; a column of None alone, or of mixed types.
    """
    if not rows:
        raise InputError(
            where, "there is no row to infer the columns from", None, "give schema={column: type}"
        )
    if isinstance(rows[0], pa.RecordBatch | pa.Table):
        return rows[0].schema
    names: dict[str, None] = {}
    for number, row in enumerate(rows):
        if isinstance(row, tuple) and hasattr(row, "_fields"):
            names.update(dict.fromkeys(row._fields))
        elif isinstance(row, Mapping):
            names.update(dict.fromkeys(row))
        else:
            raise InputError(
                where,
                f"cannot name the columns of a {type(row).__name__} ({_short(row)})",
                number,
                "give schema={column: type}, or the rows as dicts",
            )
    fields = []
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                where, f"column names are strings, found {name!r}", None, "convert the keys"
            )
        values = [
            row.get(name) if isinstance(row, Mapping) else getattr(row, name, None) for row in rows
        ]
        fields.append((name, _inferred_type(where, name, values)))
    return pa.schema(fields)


def _inferred_type(where: str, name: str, values: list[Any]) -> pa.DataType:
    remedy = f"give schema={{{name!r}: ...}}"
    try:
        of = pa.array(values).type
    except REFUSALS:
        kinds = sorted({type(value).__name__ for value in values if value is not None})
        raise InputError(
            where, f"column {name!r} holds values of types {', '.join(kinds)}", None, remedy
        ) from None
    if pa.types.is_null(of):
        raise InputError(
            where, f"column {name!r} holds only None in the first {len(values)} rows", None, remedy
        )
    return of


def may_lose(values: list[Any], of: pa.DataType) -> bool:
    """Whether pyarrow might have changed one of ``values`` to make it fit; a quick look."""
    if pa.types.is_nested(of):
        return True
    if pa.types.is_integer(of):
        return not set(map(type, values)) <= {int, type(None)}
    return pa.types.is_temporal(of)


def loses(value: Any, of: pa.DataType) -> bool:
    """Whether pyarrow changes ``value``, which it takes, to make it fit.

    >>> loses(1.5, pa.int64()), loses(1.0, pa.int64()), loses([1, 2.5], pa.list_(pa.int64()))
    (True, False, True)
    >>> noon = datetime.datetime(2024, 1, 1, 12)
    >>> loses(noon, pa.date32()), loses(noon, pa.timestamp("us", "UTC"))
    (True, True)
    """
    if value is None:
        return False
    if pa.types.is_integer(of):
        return not isinstance(value, int) and value != int(value)
    if pa.types.is_date(of):
        return isinstance(value, datetime.datetime)
    if pa.types.is_timestamp(of) and isinstance(value, datetime.datetime):
        finest = _FINEST.get(of.unit, 1)
        # Which instant a time without a zone means is anyone's guess.
        return (value.tzinfo is None) != (of.tz is None) or value.microsecond % finest != 0
    if pa.types.is_list(of) or pa.types.is_large_list(of) or pa.types.is_fixed_size_list(of):
        return any(loses(each, of.value_type) for each in value)
    if pa.types.is_duration(of) and isinstance(value, datetime.timedelta):
        return value.microseconds % _FINEST.get(of.unit, 1) != 0
    if pa.types.is_time(of) and isinstance(value, datetime.time):
        return value.microsecond % _FINEST.get(of.unit, 1) != 0
    if pa.types.is_struct(of) and isinstance(value, Mapping):
        return any(
            of.get_field_index(name) < 0 or loses(each, of.field(name).type)
            for name, each in value.items()
        )
    if pa.types.is_map(of):
        pairs = value.items() if isinstance(value, Mapping) else value
        return any(loses(key, of.key_type) or loses(each, of.item_type) for key, each in pairs)
    return False


_FINEST = {"s": 1_000_000, "ms": 1_000}
"""Microseconds of a coarse unit."""


def _fits(value: Any, of: pa.DataType) -> bool:
    try:
        pa.array([value], type=of)
    except REFUSALS:
        return False
    return not loses(value, of)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:80] + "..."
