"""The stable hash of typed rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ambergate_native.hashing import KEY_GROUPS_COUNT as KEY_GROUPS
from ambergate_native.hashing import NULL_ROW_HASH, hash_rows

__all__ = ["KEY_GROUPS", "NULL_ROW_HASH", "hash_rows", "hashable", "hashed_rows"]


def hashable(array: pa.Array, name: str = "") -> pa.Array:
    """The array in a type that has a hash; itself where it already is.

    Dictionaries are decoded, half floats and narrow decimals widened, views copied out. Equal
    values hash equal before and after.

    Raises
    ------
    TypeError
        Lists, structs, maps and the like have no hash; the text names the column.
    """
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return hashable(array.storage, name)
    if pa.types.is_dictionary(kind):
        return hashable(array.dictionary_decode(), name)
    if pa.types.is_float16(kind):
        return array.cast(pa.float32())
    if str(kind) in ("string_view", "binary_view"):
        return array.cast(pa.large_string() if str(kind) == "string_view" else pa.large_binary())
    if str(kind).startswith(("decimal32", "decimal64")):
        return array.cast(pa.decimal128(38, kind.scale))
    if pa.types.is_nested(kind) or not hasattr(array, "__arrow_c_array__"):
        raise TypeError(
            f"column {name!r} of type {kind} cannot be a key: it has no hash; "
            "use a column of numbers, text, dates or decimals"
        )
    return array


def hashed_rows(columns: list[pa.Array], start: int = 0, stop: int | None = None) -> np.ndarray:
    """The hashes of rows ``start:stop`` over all ``columns``, as uint64.

    >>> a = hashed_rows([pa.array([1, 2], pa.int8())])
    >>> bool((a == hashed_rows([pa.array([1, 2], pa.int64())])).all())
    True
    """
    stop = len(columns[0]) if stop is None else stop
    out = np.empty(stop - start, np.uint64)
    hash_rows([hashable(column) for column in columns], start, stop, out)
    return out
