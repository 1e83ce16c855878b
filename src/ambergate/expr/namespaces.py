"""The methods behind ``.str``, ``.dt`` and ``.list`` of an expression."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ambergate.expr.nodes import Call, Expr, as_expr

__all__ = ["ListMethods", "StringMethods", "TimeMethods"]

TRUNCATE_UNITS = (
    "year",
    "quarter",
    "month",
    "week",
    "day",
    "hour",
    "minute",
    "second",
    "millisecond",
    "microsecond",
)


@dataclass(frozen=True, slots=True)
class StringMethods:
    """Methods of strings; lengths and positions count characters, not bytes."""

    of: Expr

    def contains(self, pattern: str, literal: bool = False) -> Expr:
        """True where ``pattern`` (an RE2 regular expression, or plain text) is found.

        >>> from ambergate.expr import col
        >>> col("text").str.contains("measles|zika")
        col("text").str.contains("measles|zika")
        """
        _text("contains", pattern)
        if not literal:
            _pattern("contains", pattern)
        return Call("str.contains", (self.of,), (pattern, bool(literal)))

    def starts_with(self, prefix: str) -> Expr:
        """True where the string begins with ``prefix``."""
        return Call("str.starts_with", (self.of,), (_text("starts_with", prefix),))

    def ends_with(self, suffix: str) -> Expr:
        """True where the string ends with ``suffix``."""
        return Call("str.ends_with", (self.of,), (_text("ends_with", suffix),))

    def lower(self) -> Expr:
        """The string in lower case."""
        return Call("str.lower", (self.of,))

    def upper(self) -> Expr:
        """The string in upper case."""
        return Call("str.upper", (self.of,))

    def strip(self, characters: str | None = None) -> Expr:
        """The string without white space (or ``characters``) at both ends."""
        if characters is not None:
            _text("strip", characters)
        return Call("str.strip", (self.of,), (characters,))

    def replace(self, pattern: str, value: str, literal: bool = False) -> Expr:
        r"""Every match of ``pattern`` replaced by ``value`` (``\1`` is its first group)."""
        _text("replace", value)
        _text("replace", pattern)
        if not literal:
            _pattern("replace", pattern)
        return Call("str.replace", (self.of,), (pattern, value, bool(literal)))

    def split(self, separator: str) -> Expr:
        """The parts between ``separator`` as a list; an empty string has one empty part."""
        if not _text("split", separator):
            raise ValueError("split needs a separator of at least one character")
        return Call("str.split", (self.of,), (separator,))

    def length(self) -> Expr:
        """The number of characters, as int64."""
        return Call("str.length", (self.of,))

    def slice(self, start: int, length: int | None = None) -> Expr:
        """``length`` characters from ``start`` on; a negative start counts from the end."""
        if length is not None and length < 0:
            raise ValueError(f"slice needs a length of 0 or more, got {length}")
        return Call("str.slice", (self.of,), (int(start), length))

    def extract(self, pattern: str, group: int = 1) -> Expr:
        """The text of one ``group`` of the first match of ``pattern``; null where none is found."""
        groups = _pattern("extract", _text("extract", pattern))
        if not 0 <= group <= groups:
            raise ValueError(f"extract of group {group}: the pattern {pattern!r} has {groups}")
        return Call("str.extract", (self.of,), (pattern, int(group)))

    def concat(self, *others: Any) -> Expr:
        """The strings one after the other; null where any of them is null."""
        return Call("str.concat", (self.of, *(as_expr(other) for other in others)))


@dataclass(frozen=True, slots=True)
class TimeMethods:
    """Methods of dates and timestamps; of zoned timestamps they give local time."""

    of: Expr

    def year(self) -> Expr:
        """The year, as int64."""
        return Call("dt.year", (self.of,))

    def month(self) -> Expr:
        """The month, 1 to 12, as int64."""
        return Call("dt.month", (self.of,))

    def day(self) -> Expr:
        """The day of the month, 1 to 31, as int64."""
        return Call("dt.day", (self.of,))

    def hour(self) -> Expr:
        """The hour, 0 to 23, as int64."""
        return Call("dt.hour", (self.of,))

    def minute(self) -> Expr:
        """The minute, 0 to 59, as int64."""
        return Call("dt.minute", (self.of,))

    def second(self) -> Expr:
        """The second, 0 to 59, as int64."""
        return Call("dt.second", (self.of,))

    def weekday(self) -> Expr:
        """The day of the week, Monday is 0, as int64."""
        return Call("dt.weekday", (self.of,))

    def truncate(self, unit: str) -> Expr:
        """The begin of the ``unit`` the value is in; weeks begin on Monday.

        >>> from ambergate.expr import col
        >>> col("at").dt.truncate("hour")
        col("at").dt.truncate("hour")
        """
        if unit not in TRUNCATE_UNITS:
            raise ValueError(f"truncate needs one of {', '.join(TRUNCATE_UNITS)}, got {unit!r}")
        return Call("dt.truncate", (self.of,), (unit,))


@dataclass(frozen=True, slots=True)
class ListMethods:
    """Methods of lists."""

    of: Expr

    def length(self) -> Expr:
        """The number of elements, as int64."""
        return Call("list.length", (self.of,))

    def get(self, index: int) -> Expr:
        """The element at ``index`` (negative: from the end); null where the list is too short."""
        if not isinstance(index, int) or isinstance(index, bool):
            raise TypeError(f"get needs a whole number, got {index!r}")
        return Call("list.get", (self.of,), (index,))


def _text(method: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{method} needs a string, got {value!r}")
    return value


def _pattern(method: str, pattern: str) -> int:
    """The number of groups of ``pattern``; what Python cannot read is left to RE2 at planning."""
    try:
        return re.compile(pattern).groups
    except re.error:
        return len(re.findall(r"(?<!\\)\((?!\?)|\(\?P?<", pattern))
