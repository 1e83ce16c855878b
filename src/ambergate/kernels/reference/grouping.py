"""Rows to groups, in plain Python: what the native table must do."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import pyarrow as pa


def canonical(value: Any) -> Hashable:
    """A value as a key: all NaNs are one, and so are the zeros.

    >>> canonical(float("nan")) == canonical(-float("nan")), canonical(-0.0) == canonical(0.0)
    (True, True)
    """
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value + 0.0
    return value


def row_keys(columns: Sequence[pa.Array]) -> list[tuple[Hashable, ...]]:
    """The key of each row."""
    return list(
        zip(
            *([canonical(value) for value in column.to_pylist()] for column in columns), strict=True
        )
    )


def assign(
    columns: Sequence[pa.Array], known: dict[tuple[Hashable, ...], int] | None = None
) -> list[int]:
    """The group of each row, numbered as they first come; ``known`` is grown."""
    known = {} if known is None else known
    return [known.setdefault(key, len(known)) for key in row_keys(columns)]


def find(
    columns: Sequence[pa.Array], known: dict[tuple[Hashable, ...], int], nulls_match: bool
) -> list[int]:
    """The group of each row, -1 where there is none."""
    return [
        known.get(key, -1) if nulls_match or None not in key else -1 for key in row_keys(columns)
    ]
