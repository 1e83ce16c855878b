"""The string functions of expressions by pyarrow.compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ambergate.expr.types import Typed
from ambergate.kernels.strings import split_rows
from ambergate_native.gate import Gate

__all__ = ["FUNCTIONS", "named_groups"]

Values: TypeAlias = pa.Array | pa.Scalar


def _contains(call: Typed, values: Values) -> Values:
    pattern, literal = call.expr.options
    return (pc.match_substring if literal else pc.match_substring_regex)(values, pattern)


def _starts_with(call: Typed, values: Values) -> Values:
    return pc.starts_with(values, call.expr.options[0])


def _ends_with(call: Typed, values: Values) -> Values:
    return pc.ends_with(values, call.expr.options[0])


def _lower(call: Typed, values: Values) -> Values:
    return pc.utf8_lower(values)


def _upper(call: Typed, values: Values) -> Values:
    return pc.utf8_upper(values)


def _strip(call: Typed, values: Values) -> Values:
    (characters,) = call.expr.options
    if characters is None:
        return pc.utf8_trim_whitespace(values)
    return pc.utf8_trim(values, characters) if characters else values


def _replace(call: Typed, values: Values) -> Values:
    pattern, value, literal = call.expr.options
    function = pc.replace_substring if literal else pc.replace_substring_regex
    return function(values, pattern, value)


def _split(call: Typed, values: Values) -> Values:
    if isinstance(values, pa.Scalar):
        return _split(call, pa.array([values.as_py()], values.type))[0]
    gate = Gate()
    gate.reset()
    return split_rows(values, call.expr.options[0], 0, len(values), gate)[2]


def _length(call: Typed, values: Values) -> Values:
    return pc.cast(pc.utf8_length(values), pa.int64())


def _slice(call: Typed, values: Values) -> Values:
    start, length = call.expr.options
    stop = None if length is None or (start < 0 <= start + length) else start + length
    return pc.utf8_slice_codeunits(values, start, stop)


def _extract(call: Typed, values: Values) -> Values:
    pattern, group = call.expr.options
    found = pc.extract_regex(values, f"(?P<g0>{named_groups(pattern)})")
    return pc.struct_field(found, [group])


def _concat(call: Typed, *values: Values) -> Values:
    separator = pa.scalar("", values[0].type)
    return pc.binary_join_element_wise(*values, separator, null_handling="emit_null")


def named_groups(pattern: str) -> str:
    r"""``pattern`` with a name of ours for every group, since pyarrow extracts named groups only.

    >>> named_groups(r"(a|b)[(](?:c)\((?P<year>\d+)")
    '(?P<g1>a|b)[(](?:c)\\((?P<g2>\\d+)'
    """
    out: list[str] = []
    at, groups = 0, 0
    listed, begin = False, 0  # inside [...], where ] right at its begin is a character
    while at < len(pattern):
        character = pattern[at]
        if character == "\\" and at + 1 < len(pattern):
            out.append(pattern[at : at + 2])
            at += 2
            continue
        if listed:
            listed = character != "]" or at == begin
        elif character == "[":
            listed = True
            begin = at + (2 if pattern[at + 1 : at + 2] == "^" else 1)
        elif character == "(":
            rest = pattern[at + 1 :]
            named = rest.startswith("?P<") or (
                rest.startswith("?<") and rest[2:3] not in ("=", "!")
            )
            if named or not rest.startswith("?"):
                groups += 1
                out.append(f"(?P<g{groups}>")
                at = pattern.index(">", at) + 1 if named else at + 1
                continue
        out.append(character)
        at += 1
    return "".join(out)


FUNCTIONS: dict[str, Callable[..., Values]] = {
    "str.contains": _contains,
    "str.starts_with": _starts_with,
    "str.ends_with": _ends_with,
    "str.lower": _lower,
    "str.upper": _upper,
    "str.strip": _strip,
    "str.replace": _replace,
    "str.split": _split,
    "str.length": _length,
    "str.slice": _slice,
    "str.extract": _extract,
    "str.concat": _concat,
}
