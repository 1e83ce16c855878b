"""Functions over rows, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

Outcome = tuple[int, list[Any], BaseException | None]


def map_rows(function: Callable[..., Any], columns: Sequence[pa.Array]) -> Outcome:
    """The rows before the first that raises, their results, and what it raised."""
    results: list[Any] = []
    for row in range(len(columns[0])):
        try:
            results.append(function(*[column[row].as_py() for column in columns]))
        except BaseException as error:
            return row, results, error
    return len(columns[0]), results, None


def filter_rows(function: Callable[..., Any], columns: Sequence[pa.Array]) -> Outcome:
    """The rows kept."""
    cursor, truths, error = map_rows(function, columns)
    return cursor, [row for row, truth in enumerate(truths) if truth], error


def flat_map_rows(function: Callable[..., Any], columns: Sequence[pa.Array]) -> Outcome:
    """The rows of all rows; generators are run to their end within their row."""
    cursor, lists, error = map_rows(lambda *values: list(function(*values)), columns)
    return cursor, [item for items in lists for item in items], error
