"""Aggregates as data: which function over which values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate of a group.

    Parameters
    ----------
    function : name of the function, such as ``"sum"``
    argument : an expression, a column name, or None to count rows
    """

    function: str
    argument: Any = None

    def __str__(self) -> str:
        return f"{self.function}({'' if self.argument is None else self.argument})"
