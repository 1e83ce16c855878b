"""By which columns rows are put in order, and how."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

import pyarrow as pa

from ambergate.errors import PlanError
from ambergate.kernels.gathering import is_native

__all__ = ["Ordering", "flags"]


def flags(value: bool | tuple[bool, ...], columns: int) -> tuple[bool, ...]:
    """One flag for each of ``columns``; a single one holds for all.

    >>> flags(True, 2)
    (True, True)
    """
    return (value,) * columns if isinstance(value, bool) else tuple(value)


def has_order(type_: pa.DataType) -> bool:
    """Whether rows can be sorted by values of this type."""
    if pa.types.is_dictionary(type_):
        return has_order(type_.value_type)
    return pa.types.is_null(type_) or is_native(type_)


@dataclass(frozen=True, slots=True)
class Ordering:
    """Key columns, the most significant first, with a direction for each.

    Nulls go to the end unless ``nulls_last`` is False, whatever the direction. NaN is the greatest
    number, -0.0 equals 0.0; strings are ordered by their UTF-8 bytes.
    """

    by: tuple[str, ...]
    descending: tuple[bool, ...]
    nulls_last: bool = True

    def check(self, name: str, schema: pa.Schema) -> None:
        """Raise PlanError for operator ``name`` unless rows of ``schema`` can be so ordered."""
        if not self.by:
            raise PlanError(name, "no column is given to sort by", "name at least one")
        if len(self.descending) != len(self.by):
            raise PlanError(
                name,
                f"{len(self.descending)} directions for {len(self.by)} columns",
                "give one, or one for each column",
            )
        for column in self.by:
            index = schema.get_field_index(column)
            if index < 0:
                near = get_close_matches(column, schema.names, 1)
                remedy = f"did you mean {near[0]!r}?" if near else f"there are {schema.names}"
                raise PlanError(name, f"there is no column {column!r} to sort by", remedy)
            type_ = schema.field(index).type
            if not has_order(type_):
                raise PlanError(
                    name,
                    f"column {column!r} of type {type_} has no order",
                    "sort by numbers, booleans, strings, binaries, dates, times or decimals",
                )

    def keys(self, batch: pa.RecordBatch) -> tuple[list[pa.Array], list[bool], list[bool]]:
        """The arguments that sorting kernels take for the rows of ``batch``."""
        columns = [batch.column(column) for column in self.by]
        for index, array in enumerate(columns):
            if pa.types.is_dictionary(array.type):
                columns[index] = array.dictionary_decode()
        return columns, list(self.descending), [self.nulls_last] * len(columns)
