"""One schema for many files: columns by name, types widened where no value can change."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pyarrow as pa

from ambergate.errors import InputError

__all__ = ["unified", "wider"]

UNITS = ("s", "ms", "us", "ns")
SIGNED = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
UNSIGNED = (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
FLOATS = (pa.float16(), pa.float32(), pa.float64())
LARGE = ((pa.string(), pa.large_string()), (pa.binary(), pa.large_binary()))


def wider(one: pa.DataType, two: pa.DataType, loose: bool = False) -> pa.DataType | None:
    """The type that holds all values of both; None where there is none.

    ``loose`` is for types that were guessed from text: integers of 64 bits and doubles then meet
    in doubles, dates and times in times.

    >>> wider(pa.int32(), pa.int64()), wider(pa.null(), pa.string())
    (DataType(int64), DataType(string))
    >>> wider(pa.timestamp("ms", "UTC"), pa.timestamp("us", "Europe/Paris"))
    TimestampType(timestamp[us, tz=UTC])
    >>> wider(pa.timestamp("ms", "UTC"), pa.timestamp("ms")) is None
    True
    """
    if one == two:
        return one
    if pa.types.is_null(one):
        return two
    if pa.types.is_null(two):
        return one
    if {one, two} in [set(pair) for pair in LARGE]:
        return pa.large_string() if pa.large_string() in (one, two) else pa.large_binary()
    if pa.types.is_timestamp(one) and pa.types.is_timestamp(two):
        return _wider_timestamp(one, two)
    for kinds in (pa.types.is_duration, pa.types.is_time):
        if kinds(one) and kinds(two):
            unit = max(one.unit, two.unit, key=UNITS.index)
            if kinds is pa.types.is_duration:
                return pa.duration(unit)
            return pa.time64(unit) if unit in ("us", "ns") else pa.time32(unit)
    if pa.types.is_list(one) and pa.types.is_list(two):
        inner = wider(one.value_type, two.value_type, loose)
        return None if inner is None else pa.list_(inner)
    if pa.types.is_struct(one) and pa.types.is_struct(two):
        return _wider_struct(one, two, loose)
    if loose and pa.types.is_date(one) and pa.types.is_timestamp(two) and two.tz is None:
        return two
    if loose and pa.types.is_timestamp(one) and pa.types.is_date(two) and one.tz is None:
        return one
    return _wider_number(one, two, loose)


def _wider_timestamp(one: pa.TimestampType, two: pa.TimestampType) -> pa.DataType | None:
    if (one.tz is None) != (two.tz is None):
        return None  # which instant a zone-less time means is anyone's guess
    zone = one.tz if one.tz == two.tz else "UTC"
    return pa.timestamp(max(one.unit, two.unit, key=UNITS.index), zone)


def _wider_struct(one: pa.StructType, two: pa.StructType, loose: bool) -> pa.DataType | None:
    fields = {field.name: field.type for field in one}
    for field in two:
        known = fields.get(field.name, pa.null())
        merged = wider(known, field.type, loose)
        if merged is None:
            return None
        fields[field.name] = merged
    return pa.struct(list(fields.items()))


def _wider_number(one: pa.DataType, two: pa.DataType, loose: bool) -> pa.DataType | None:
    for kinds in (SIGNED, UNSIGNED, FLOATS):
        if one in kinds and two in kinds:
            return max(one, two, key=kinds.index)
    signed, unsigned = (one, two) if one in SIGNED else (two, one)
    if signed in SIGNED and unsigned in UNSIGNED:
        above = UNSIGNED.index(unsigned) + 1
        if above == len(SIGNED):
            return None
        return SIGNED[max(above, SIGNED.index(signed))]
    floating, whole = (one, two) if one in FLOATS else (two, one)
    if floating in FLOATS and whole in SIGNED + UNSIGNED:
        # A double holds integers of 32 bits exactly, and no more.
        return pa.float64() if loose or whole.bit_width <= 32 else None
    if pa.types.is_decimal(one) and pa.types.is_decimal(two):
        scale = max(one.scale, two.scale)
        digits = max(one.precision - one.scale, two.precision - two.scale)
        return pa.decimal128(digits + scale, scale) if digits + scale <= 38 else None
    return None


def unified(files: Sequence[str], schemas: Sequence[pa.Schema], remedy: str) -> pa.Schema:
    """All columns of all files, each of the widest type, whatever the order of the files.

    Raises
    ------
    InputError
        Two files have a column of types that do not fit: names files, column and both types.
    """
    found: dict[str, dict[pa.DataType, str]] = {}
    for file, schema in zip(files, schemas, strict=True):
        for field in schema:
            found.setdefault(field.name, {}).setdefault(field.type, file)
    return pa.schema([(name, _widest(name, types, remedy)) for name, types in found.items()])


def _widest(name: str, types: dict[pa.DataType, str], remedy: str) -> pa.DataType:
    # Widening is not associative (int32, uint32, float): one order for all, whatever the files'.
    result = pa.null()
    for of in sorted(types, key=str):
        both = wider(result, of)
        if both is None:
            break
        result = both
    else:
        return result
    for one, two in combinations(types, 2):
        if wider(one, two) is None:
            raise InputError(
                types[two], f"column {name!r} is {two} here and {one} in {types[one]}", None, remedy
            )
    raise InputError(
        types[of], f"column {name!r} is {of} here and {result} elsewhere", None, remedy
    )
