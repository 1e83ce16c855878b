"""The names of types as users write them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable

import pyarrow as pa

__all__ = ["parse_type"]

# --- names of types -------------------------------------------------------------------------

_UNITS = ("s", "ms", "us", "ns")
_WORD = re.compile(r"\s*([A-Za-z_][A-Za-z_0-9]*)")
_FIELD_NAME = re.compile(r"\s*([^:<>,]+?)\s*:")

_SIMPLE: dict[str, pa.DataType] = {
    "null": pa.null(),
    "bool": pa.bool_(),
    "boolean": pa.bool_(),
    **{f"{sign}int{bits}": getattr(pa, f"{sign}int{bits}")()
       for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float16": pa.float16(),
    "halffloat": pa.float16(),
    "float32": pa.float32(),
    "float": pa.float32(),
    "float64": pa.float64(),
    "double": pa.float64(),
    "string": pa.string(),
    "utf8": pa.string(),
    "str": pa.string(),
    "large_string": pa.large_string(),
    "large_utf8": pa.large_string(),
    "binary": pa.binary(),
    "bytes": pa.binary(),
    "large_binary": pa.large_binary(),
    "date32": pa.date32(),
    "date": pa.date32(),
    "date64": pa.date64(),
}  # fmt: skip
if hasattr(pa, "string_view"):
    _SIMPLE |= {"string_view": pa.string_view(), "binary_view": pa.binary_view()}
_SHAPED = (
    "timestamp[us]", "time32[ms]", "time64[us]", "duration[us]", "decimal128(10, 2)",
    "fixed_size_binary[16]", "list<int64>", "large_list<int64>", "fixed_size_list<float64>[3]",
    "struct<a: int64>", "map<string, int64>", "dictionary<int32, string>",
)  # fmt: skip
_NOT_A_TYPE = {"int": "int64", "integer": "int64", "object": "string", "number": "float64",
               "datetime": "timestamp[us]", "timestamp": "timestamp[us]", "decimal":
               "decimal128(38, 9)", "text": "string", "list": "list<int64>"}  # fmt: skip


def parse_type(name: str | pa.DataType) -> pa.DataType:
    """The Arrow type of a name; a ``pa.DataType`` is given back as it is.

    Every ``str(type)`` of the types listed here is a name of that type.

    Parameters
    ----------
    name : str or pa.DataType
        ``int8`` to ``uint64``, ``float32``, ``float64``, ``bool``, ``string``, ``binary``,
        ``date32``, ``timestamp[us]``, ``timestamp[us, tz=UTC]``, ``duration[ns]``,
        ``decimal128(10, 2)``, ``list<int64>``, ``struct<a: int64, b: string>``,
        ``map<string, int64>``, ``dictionary<int32, string>`` and their like.

    Raises
    ------
    ValueError
        No such type; the text names near ones.
    TypeError
        ``name`` is neither text nor a type.

    Examples
    --------
    >>> parse_type("timestamp[us]")
    TimestampType(timestamp[us])
    >>> parse_type("list<double>")
    ListType(list<item: double>)
    """
    if isinstance(name, pa.DataType):
        return name
    if not isinstance(name, str):
        known = {int: "int64", float: "float64", str: "string", bool: "bool", bytes: "binary"}
        hint = known.get(name) if isinstance(name, type) else None
        remedy = f"write {hint!r}" if hint else "write its name, as 'int64', or a pyarrow type"
        raise TypeError(f"a type must be a name or a pyarrow.DataType, got {name!r}; {remedy}")
    return _TypeName(name).parse()


class _TypeName:
    """A cursor over the text of one type name."""

    def __init__(self, text: str):
        self.text, self.at = text, 0

    def parse(self) -> pa.DataType:
        found = self.type()
        if self.text[self.at :].strip():
            raise self.unknown(self.text.strip())
        return found

    def unknown(self, word: str) -> ValueError:
        names = [*_SIMPLE, *_SHAPED]
        near = [_NOT_A_TYPE[word]] if word in _NOT_A_TYPE else []
        head = re.split(r"[\[<(]", word)[0]
        near += [shaped for shaped in _SHAPED if head and shaped.startswith(head)]
        near += difflib.get_close_matches(word, names, n=3, cutoff=0.6)
        near = list(dict.fromkeys(near))[:4] or ["int64", "float64", "string", "timestamp[us]"]
        inside = f" in {self.text!r}" if word != self.text.strip() else ""
        return ValueError(
            f"unknown type {word!r}{inside}; near names: {', '.join(map(repr, near))}"
        )

    def skip(self, sign: str) -> bool:
        rest = self.text[self.at :]
        if not rest.lstrip().startswith(sign):
            return False
        self.at = len(self.text) - len(rest.lstrip()) + len(sign)
        return True

    def expect(self, sign: str) -> None:
        if not self.skip(sign):
            raise self.unknown(self.text.strip())

    def until(self, sign: str) -> str:
        end = self.text.find(sign, self.at)
        if end < 0:
            raise self.unknown(self.text.strip())
        inside, self.at = self.text[self.at : end].strip(), end + len(sign)
        return inside

    def number(self, text: str) -> int:
        try:
            return int(text)
        except ValueError:
            raise self.unknown(self.text.strip()) from None

    def unit(self, text: str, allowed: tuple[str, ...] = _UNITS) -> str:
        if text not in allowed:
            raise self.unknown(self.text.strip())
        return text

    def type(self) -> pa.DataType:
        match = _WORD.match(self.text, self.at)
        if match is None:
            raise self.unknown(self.text[self.at :].strip() or self.text)
        word, self.at = match[1], match.end()
        shaped = getattr(self, f"of_{word}", None)
        if shaped is not None and self.text[self.at : self.at + 1] in ("[", "<", "("):
            self.at += 1
            return shaped()
        if word in ("date32", "date64") and self.skip("["):
            self.unit(self.until("]"), ("day",) if word == "date32" else ("ms",))
            return _SIMPLE[word]
        if word not in _SIMPLE:
            raise self.unknown(self.text.strip() if word in self.text.split("<")[0] else word)
        return _SIMPLE[word]

    def of_timestamp(self) -> pa.DataType:
        unit, _, zone = self.until("]").partition(",")
        zone = zone.strip()
        if zone and not zone.startswith("tz="):
            raise self.unknown(self.text.strip())
        return pa.timestamp(self.unit(unit.strip()), tz=zone[3:] or None)

    def of_duration(self) -> pa.DataType:
        return pa.duration(self.unit(self.until("]")))

    def of_time32(self) -> pa.DataType:
        return pa.time32(self.unit(self.until("]"), ("s", "ms")))

    def of_time64(self) -> pa.DataType:
        return pa.time64(self.unit(self.until("]"), ("us", "ns")))

    def of_fixed_size_binary(self) -> pa.DataType:
        return pa.binary(self.number(self.until("]")))

    def decimal(self, make: Callable[[int, int], pa.DataType]) -> pa.DataType:
        precision, _, scale = self.until(")").partition(",")
        shape = self.number(precision), self.number(scale or "0")
        try:
            return make(*shape)
        except ValueError as error:
            raise ValueError(f"unknown type {self.text.strip()!r}: {error}") from None

    def of_decimal(self) -> pa.DataType:
        return self.decimal(pa.decimal128)

    def of_decimal128(self) -> pa.DataType:
        return self.decimal(pa.decimal128)

    def of_decimal256(self) -> pa.DataType:
        return self.decimal(pa.decimal256)

    def field(self, default: str | None) -> pa.Field:
        """``name: type`` or, with a default name, ``type``; both with `` not null``."""
        match = _FIELD_NAME.match(self.text, self.at)
        if match is not None:
            name, self.at = match[1], match.end()
        elif default is not None:
            name = default
        else:
            raise self.unknown(self.text.strip())
        kind = self.type()
        return pa.field(name, kind, nullable=not self.skip("not null"))

    def of_list(self) -> pa.DataType:
        item = self.field("item")
        self.expect(">")
        return pa.list_(item)

    def of_large_list(self) -> pa.DataType:
        item = self.field("item")
        self.expect(">")
        return pa.large_list(item)

    def of_fixed_size_list(self) -> pa.DataType:
        item = self.field("item")
        self.expect(">")
        self.expect("[")
        return pa.list_(item, self.number(self.until("]")))

    def of_struct(self) -> pa.DataType:
        fields: list[pa.Field] = []
        while not self.skip(">"):
            if fields:
                self.expect(",")
            fields.append(self.field(None))
        return pa.struct(fields)

    def of_map(self) -> pa.DataType:
        key = self.type()
        self.expect(",")
        item = self.type()
        keys_sorted = self.skip(",") and self.skip("keys_sorted")
        self.expect(">")
        return pa.map_(key, item, keys_sorted)

    def of_dictionary(self) -> pa.DataType:
        parts: dict[str, pa.DataType] = {}
        for place in ("indices", "values"):
            named = next((name for name in ("indices", "values") if self.skip(f"{name}=")), place)
            parts[named] = self.type()
            self.skip(",")
        ordered = self.skip("ordered=") and self.number(self.until(">")) == 1
        if not self.text[: self.at].endswith(">"):
            self.expect(">")
        if parts.keys() != {"indices", "values"}:
            raise self.unknown(self.text.strip())
        return pa.dictionary(parts["indices"], parts["values"], ordered)
