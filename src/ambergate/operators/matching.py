"""How the columns of two inputs are matched by a join, and which columns come out."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

import pyarrow as pa

from ambergate.errors import PlanError
from ambergate.kernels.grouping import can_be_key
from ambergate.operators.union import promoted

__all__ = ["HOWS", "Layout", "layout"]

HOWS = ("inner", "left", "right", "full", "semi", "anti")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each output column of a join comes from.

    Attributes
    ----------
    schema : the output
    key_types : the type in which each pair of key columns is compared
    left : for each column that comes from the left, its index there
    right : for each column that comes from the right, its index there; they stand after the left
    coalesced : index in the left input -> index in the right input, for key columns of one name;
        for right rows without a partner the value is taken from the right
    suffixed : names of right columns (not of the output) that got the suffix
    """

    schema: pa.Schema
    key_types: tuple[pa.DataType, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    coalesced: dict[int, int]
    suffixed: frozenset[str]


def key_type(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """The type in which keys of two types are compared exactly; None where there is none."""
    if pa.types.is_dictionary(a):
        a = a.value_type
    if pa.types.is_dictionary(b):
        b = b.value_type
    if pa.types.is_decimal128(a) and pa.types.is_decimal128(b) and a.scale == b.scale:
        return a if a.precision >= b.precision else b
    if (pa.types.is_integer(a), pa.types.is_integer(b)) in ((True, False), (False, True)):
        return promoted(a, b) if pa.types.is_null(a) or pa.types.is_null(b) else None
    return promoted(a, b)


def find(name: str, schema: pa.Schema, side: str, column: str) -> int:
    """The index of a key column; PlanError where it is missing or there twice."""
    index = schema.get_field_index(column)
    if index < 0:
        near = get_close_matches(column, schema.names, 1)
        remedy = f"did you mean {near[0]!r}?" if near else f"there are {schema.names}"
        raise PlanError(name, f"the {side} input has no column {column!r} to join on", remedy)
    return index


def unified(
    name: str,
    left: pa.Schema,
    right: pa.Schema,
    left_on: tuple[str, ...],
    right_on: tuple[str, ...],
) -> tuple[pa.DataType, ...]:
    """The type each pair of keys is compared in; PlanError naming both where there is none."""
    if not left_on or len(left_on) != len(right_on):
        raise PlanError(
            name,
            f"{len(left_on)} key columns on the left, {len(right_on)} on the right",
            "give as many on both sides, at least one",
        )
    types = []
    for mine, other in zip(left_on, right_on, strict=True):
        a = left.field(find(name, left, "left", mine)).type
        b = right.field(find(name, right, "right", other)).type
        shared = key_type(a, b)
        if shared is None:
            raise PlanError(
                name,
                f"left column {mine!r} is {a} and right column {other!r} is {b}: "
                "values of these types are never compared",
                "cast one of them first",
            )
        if not can_be_key(shared):
            raise PlanError(
                name,
                f"columns {mine!r} and {other!r} of type {shared} cannot be joined on",
                "join on numbers, booleans, strings, binaries, dates, times or decimals",
            )
        types.append(shared)
    return tuple(types)


def layout(
    name: str,
    left: pa.Schema,
    right: pa.Schema,
    left_on: tuple[str, ...],
    right_on: tuple[str, ...],
    how: str,
    suffix: str,
) -> Layout:
    """The columns of a join of ``left`` and ``right``.

    Raises
    ------
    PlanError
        Unknown ``how``, missing keys, keys of types that are never equal, names that clash.
    """
    if how not in HOWS:
        raise PlanError(name, f"how={how!r} is not a kind of join", f"use one of {', '.join(HOWS)}")
    types = unified(name, left, right, left_on, right_on)
    fields, coalesced = list(left), {}
    for mine, other, type_ in zip(left_on, right_on, types, strict=True):
        if mine == other:
            index = left.get_field_index(mine)
            coalesced[index] = right.get_field_index(other)
            if how in ("right", "full"):
                fields[index] = pa.field(mine, type_)
    fields = [pa.field(field.name, field.type) for field in fields]
    whole_left = tuple(range(len(left)))
    if how in ("semi", "anti"):
        return Layout(pa.schema(fields), types, whole_left, (), {}, frozenset())
    taken, suffixed, indices = set(left.names), set(), []
    for index, field in enumerate(right):
        if index in coalesced.values():
            continue
        column = field.name
        if column in left.names:
            column += suffix
            suffixed.add(field.name)
        if column in taken:
            raise PlanError(
                name,
                f"column {column!r} would come out twice",
                f"rename {field.name!r} on one side, or give another suffix than {suffix!r}",
            )
        taken.add(column)
        fields.append(pa.field(column, field.type))
        indices.append(index)
    return Layout(
        pa.schema(fields), types, whole_left, tuple(indices), coalesced, frozenset(suffixed)
    )
