"""Expressions as text: stable, so that derived column names and plans can be compared."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pyarrow as pa

from ambergate.expr.nodes import Alias, Call, Column, Expr, Literal

__all__ = ["render"]

# function -> (symbol, precedence as in Python)
INFIX = {
    "or": ("|", 1),
    "and": ("&", 2),
    "equal": ("==", 0),
    "not_equal": ("!=", 0),
    "less": ("<", 0),
    "less_equal": ("<=", 0),
    "greater": (">", 0),
    "greater_equal": (">=", 0),
    "add": ("+", 4),
    "subtract": ("-", 4),
    "multiply": ("*", 5),
    "divide": ("/", 5),
    "floor_divide": ("//", 5),
    "modulo": ("%", 5),
    "power": ("**", 7),
}
PREFIX = {"negate": ("-", 6), "not": ("~", 6)}
ATOM = 9

# options that a method has when it is called without them, from the last on
DEFAULTS: dict[str, tuple[Any, ...]] = {
    "round": (0,),
    "str.contains": (..., False),
    "str.strip": (None,),
    "str.replace": (..., ..., False),
    "str.slice": (..., None),
    "str.extract": (..., 1),
}


def render(expr: Expr, bare: bool) -> str:
    """``expr`` as the Python that makes it; ``bare`` writes ``a`` for ``col("a")``.

    >>> from ambergate.expr import col
    >>> render((col("a") + 1) * col("b c"), bare=True)
    '(a + 1) * col("b c")'
    """
    if isinstance(expr, Literal) and not bare:
        return _receiver(expr, bare)
    return _render(expr, bare)[0]


def _render(expr: Expr, bare: bool) -> tuple[str, int]:
    if isinstance(expr, Column):
        plain = bare and expr.column.isidentifier()
        return (expr.column if plain else f"col({_quoted(expr.column)})"), ATOM
    if isinstance(expr, Literal):
        return _literal(expr)
    if isinstance(expr, Alias):
        return f"{_receiver(expr.of, bare)}.alias({_quoted(expr.label)})", ATOM
    assert isinstance(expr, Call)
    if expr.function in INFIX:
        symbol, level = INFIX[expr.function]
        left, right = expr.arguments
        # & and | bind tighter than comparisons in Python: both sides get parentheses
        left_level, right_level = (level, level + 1) if level else (3, 3)
        if expr.function == "power":
            left_level, right_level = level + 1, level
        first = _within(left, bare, left_level)
        if isinstance(left, Literal) and (isinstance(right, Literal) or level == 0):
            first = _receiver(left, bare)
        return f"{first} {symbol} {_within(right, bare, right_level)}", level
    if expr.function in PREFIX:
        symbol, level = PREFIX[expr.function]
        (of,) = expr.arguments
        text = _receiver(of, bare) if isinstance(of, Literal) else _within(of, bare, level)
        return f"{symbol}{text}", level
    if expr.function in ("min_of", "max_of"):
        listed = ", ".join(_within(argument, bare, 0) for argument in expr.arguments)
        return f"{expr.function}({listed})", ATOM
    if expr.function == "when":
        return _case(expr, bare), ATOM
    first, *others = expr.arguments
    parts = [_within(other, bare, 0) for other in others]
    parts += [_option(option) for option in _told(expr)]
    return f"{_receiver(first, bare)}.{expr.function}({', '.join(parts)})", ATOM


def _within(expr: Expr, bare: bool, level: int) -> str:
    text, own = _render(expr, bare)
    return f"({text})" if own < level else text


def _receiver(expr: Expr, bare: bool) -> str:
    """``expr`` where a method is called on it; a constant has none of ours."""
    text = _within(expr, bare, ATOM)
    return (
        f"lit({_constant(expr.value)})" if isinstance(expr, Literal) and expr.of is None else text
    )


def _case(expr: Call, bare: bool) -> str:
    parts = []
    for condition, value in zip(expr.arguments[:-1:2], expr.arguments[1:-1:2], strict=True):
        parts.append(f"when({_within(condition, bare, 0)}).then({_within(value, bare, 0)})")
    last = expr.arguments[-1]
    if not (isinstance(last, Literal) and last.value is None and last.of is None):
        parts.append(f"otherwise({_within(last, bare, 0)})")
    return ".".join(parts)


def _told(expr: Call) -> list[Any]:
    """The options without those at the end that are defaults."""
    options = list(expr.options)
    defaults = DEFAULTS.get(expr.function, ())
    while options and len(options) <= len(defaults) and defaults[len(options) - 1] == options[-1]:
        options.pop()
    return options


def _option(option: Any) -> str:
    if isinstance(option, tuple):
        return f"[{', '.join(_option(item) for item in option)}]"
    if isinstance(option, str):
        return _quoted(option)
    if isinstance(option, (bool, int, float, type(None))):
        return repr(option)
    if isinstance(option, pa.DataType):
        return _quoted(str(option))
    return _constant(option)


def _literal(expr: Literal) -> tuple[str, int]:
    text = _constant(expr.value)
    if expr.of is not None:
        return f"lit({text}, {_quoted(str(expr.of))})", ATOM
    negative = isinstance(expr.value, (int, float)) and text.startswith("-")
    return text, 6 if negative else ATOM


def _constant(value: Any) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, tuple):
        return f"[{', '.join(_constant(item) for item in value)}]"
    if isinstance(value, (dt.date, dt.time, dt.timedelta)):
        return repr(value).replace("datetime.", "", 1)
    return repr(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
