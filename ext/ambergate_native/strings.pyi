from collections.abc import Callable
from typing import Any

from _typeshed import WriteableBuffer

from ambergate_native.columns import Column
from ambergate_native.gate import Gate

def split(
    column: Column,
    separator: bytes,
    start: int,
    stop: int,
    gate: Gate,
    allocate: Callable[[int], WriteableBuffer],
) -> tuple[int, int, Any, int, Any, Any, Any, int]:
    """Status, cursor, validity, nulls, list offsets, child offsets, child bytes, parts."""
