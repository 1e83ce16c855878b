from collections.abc import Callable
from enum import IntEnum
from typing import Any, final

import numpy as np
import numpy.typing as npt

from ambergate_native.gate import Gate

MOST_ARGUMENTS: int

class Result(IntEnum):
    OBJECT = 0
    INTEGER = 1
    REAL = 2
    TRUTH = 3
    TEXT = 4
    BYTES = 5

@final
class Values:
    """The values of one column as Python objects, made when asked for."""

    def __init__(self, array: Any, objects: list[Any] | None = None, first: int = 0) -> None: ...
    def get(self, row: int) -> Any:
        """The value of one row."""

@final
class Row:
    """One row as a function without ``columns=`` sees it."""

    def __init__(self, places: dict[str, int], values: list[Values]) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, name: str) -> Any: ...
    def __contains__(self, name: object) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Any: ...
    def keys(self) -> list[str]:
        """The names of the columns."""
    def as_dict(self) -> dict[str, Any]:
        """All values by name."""

@final
class Builder:
    """The values of one result column, each checked against the declared type as it comes."""

    kind: Result
    objects: list[Any]
    count: int
    nulls: int
    def __init__(
        self, kind: Result, low: int = 0, high: int = 0, check: Callable[[Any], Any] | None = None
    ) -> None: ...
    def take(self) -> tuple[Any, npt.NDArray[np.uint8]]:
        """The values so far and their validity bytes; the builder is empty then."""

@final
class Caller:
    """Calls one function row by row, with values or with a row view."""

    def __init__(
        self,
        function: Callable[..., Any],
        values: list[Values],
        places: dict[str, int] | None = None,
    ) -> None: ...

def map_rows(
    caller: Caller,
    builders: list[Builder],
    names: tuple[str, ...],
    complain: Callable[[str | None, Any], Any],
    start: int,
    stop: int,
    gate: Gate,
) -> tuple[int, int, BaseException | None]:
    """Call the function for rows ``start:stop``; one result a row goes to the builders."""

def filter_rows(
    caller: Caller, start: int, stop: int, gate: Gate, places: npt.NDArray[np.int64]
) -> tuple[int, int, int, BaseException | None]:
    """Write the rows for which the function's result is true to ``places``."""

def flat_map_rows(
    caller: Caller,
    builders: list[Builder],
    names: tuple[str, ...],
    complain: Callable[[str | None, Any], Any],
    refuse: Callable[[Any], Any],
    start: int,
    stop: int,
    gate: Gate,
    parents: list[int],
    most: int,
) -> tuple[int, int, BaseException | None]:
    """Call the function for rows ``start:stop``; each result is an iterable of result rows."""

def each_row(
    caller: Caller, start: int, stop: int, gate: Gate
) -> tuple[int, int, BaseException | None]:
    """Call the function for rows ``start:stop``; results are dropped."""
