from typing import Any

import pyarrow as pa

from ambergate_native.ordering import Keys

def sort_run(
    columns: list[pa.Array[Any]],
    descending: list[bool],
    nulls_last: list[bool],
    start: int,
    stop: int,
    most: int = ...,
) -> tuple[Keys, bytearray]:
    """Put rows ``start:stop`` in order, stably: their sorted keys, and int64 row numbers."""

def rows_before(
    columns: list[pa.Array[Any]],
    descending: list[bool],
    nulls_last: list[bool],
    keys: Keys,
    worst: int,
    start: int,
    stop: int,
) -> bytearray:
    """The int64 numbers of the rows ``start:stop`` that sort before row ``worst`` of ``keys``."""
