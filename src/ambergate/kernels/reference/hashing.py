"""The stable hash of typed rows, value by value."""

from __future__ import annotations

import math
import struct
from typing import Any

import pyarrow as pa

NULL_HASH = 0x9AE16A3B2F90404F
_WORD = (1 << 64) - 1


def mix(word: int) -> int:
    """Spread the bits of one 64-bit word; a bijection."""
    word = (word + 0x9E3779B97F4A7C15) & _WORD
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _WORD
    return word ^ (word >> 31)


def join(left: int, right: int) -> int:
    """The hash of two hashes, in this order."""
    word = ((((left << 31) | (left >> 33)) & _WORD) ^ right) * 0xD6E8FEB86659FD93 & _WORD
    return word ^ (word >> 32)


def fold(left: int, right: int) -> int:
    """The two halves of a wide product, folded."""
    product = left * right
    return (product ^ (product >> 64)) & _WORD


def hash_bytes(text: bytes) -> int:
    """16 bytes a turn; the length is part of the seed."""
    state = 0xA0761D6478BD642F ^ (len(text) * 0xE7037ED1A0B428DB & _WORD)
    word = lambda piece: int.from_bytes(piece, "little")  # noqa: E731
    while len(text) > 16:
        state = fold(word(text[:8]) ^ 0x8EBC6AF09C88C6E3, word(text[8:16]) ^ state)
        text = text[16:]
    if len(text) >= 8:
        first, second = word(text[:8]), word(text[-8:])
    elif len(text) >= 4:
        first, second = word(text[:4]), word(text[-4:])
    elif text:
        first, second = text[0] << 16 | text[len(text) >> 1] << 8 | text[-1], 0
    else:
        first = second = 0
    return mix(fold(first ^ 0x589965CC75374CC3, second ^ state))


def hash_value(value: Any, kind: pa.DataType) -> int:
    """The hash of one value of a column of type ``kind``."""
    if value is None:
        return NULL_HASH
    if pa.types.is_floating(kind):
        number = float(value)
        bits = struct.pack("<d", number + 0.0)
        return mix(0x7FF8 << 48 if math.isnan(number) else int.from_bytes(bits, "little"))
    if isinstance(value, str):
        return hash_bytes(value.encode())
    if isinstance(value, bytes):
        return hash_bytes(value)
    if pa.types.is_decimal(kind):
        number = int(value.scaleb(kind.scale))
        return join(mix(number & _WORD), number >> 64 & _WORD)
    return mix(int(value) & _WORD)


def hash_rows(columns: list[pa.Array], start: int, stop: int) -> list[int]:
    """The hashes of rows ``start:stop``; dates and times are given as their integers."""
    hashes = []
    for row in range(start, stop):
        of_columns = [hash_value(column[row].as_py(), column.type) for column in columns]
        total = of_columns[0]
        for other in of_columns[1:]:
            total = join(total, other)
        hashes.append(total)
    return hashes
