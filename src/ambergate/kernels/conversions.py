"""Whether a value a user's function gave is of its declared type, and what to say if not.

The native loops take Python's own classes by themselves; they come here with everything else.
"""

from __future__ import annotations

import datetime
import decimal
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ambergate.errors import ValueTypeError

__all__ = ["Unfit", "converter", "found", "plain_value", "refuse_unstarted", "row_shaper"]


class Unfit(TypeError):
    """A value that is not of a type; ``args``: what was found, and a remedy or nothing."""


def found(value: object) -> str:
    """A short text of a value, with its type; never raises.

    >>> found("abc")
    "'abc' (str)"
    """
    kind = type(value).__name__
    try:
        text = repr(value)
    except Exception:
        return f"a {kind} that has no text"
    if text == "None":
        return text
    return f"{text if len(text) <= 80 else text[:77] + '...'} ({kind})"


def refuse_unstarted(function: str, expected: str, value: object, remedy: str = "") -> None:
    """Raise for what has not run yet: coroutines always, generators where there is a ``remedy``."""
    if inspect.iscoroutine(value) or inspect.isasyncgen(value):
        if inspect.iscoroutine(value):
            value.close()  # it would warn that it was never awaited
        raise ValueTypeError(
            function,
            expected,
            "a coroutine" if inspect.iscoroutine(value) else "an asynchronous generator",
            "async functions are not run; give an ordinary function",
        )
    if remedy and inspect.isgenerator(value):
        raise ValueTypeError(function, expected, "a generator", remedy)


def plain_value(value: Any, kind: pa.DataType) -> Any:
    """The value as Python's own class for ``kind``; None stays None.

    Raises
    ------
    Unfit
        It is of another type or does not fit the width.
    """
    if isinstance(value, pa.Scalar):
        value = value.as_py()
    if value is None:
        return None
    for matches, convert in _KINDS:
        if matches(kind):
            return convert(value, kind)
    return value


def _integer(value: Any, kind: pa.DataType) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        remedy = f"return int(value), or declare {'bool' if _is_bool(value) else 'float64'!r}"
        raise Unfit(found(value), remedy if isinstance(value, float | np.floating | bool) else "")
    number, bits = int(value), kind.bit_width
    signed = pa.types.is_signed_integer(kind)
    least = -(1 << bits - 1) if signed else 0
    if not least <= number < least + (1 << bits):
        wider = "int64" if signed and -(1 << 63) <= number < 1 << 63 else "decimal128(38, 0)"
        raise Unfit(f"{found(value)}, which does not fit", f"declare a wider type, as {wider!r}")
    return number


def _is_bool(value: object) -> bool:
    return isinstance(value, bool | np.bool_)


def _float(value: Any, kind: pa.DataType) -> float:
    if _is_bool(value) or not isinstance(value, float | int | np.floating | np.integer):
        remedy = "return float(value)" if isinstance(value, decimal.Decimal | str) else ""
        raise Unfit(found(value), remedy)
    try:
        return float(value)
    except OverflowError:
        raise Unfit(f"{found(value)}, which does not fit") from None


def _bool(value: Any, kind: pa.DataType) -> bool:
    if not _is_bool(value):
        raise Unfit(found(value), "return bool(value)")
    return bool(value)


def _text(value: Any, kind: pa.DataType) -> str:
    if not isinstance(value, str):
        remedy = "decode it" if isinstance(value, bytes) else "return str(value)"
        raise Unfit(found(value), remedy)
    if str(kind) == "string" and len(value) >= 1 << 29:
        raise Unfit(f"text of {len(value)} characters, which does not fit", "declare large_string")
    return value


def _binary(value: Any, kind: pa.DataType) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise Unfit(found(value), "encode it" if isinstance(value, str) else "")
    if pa.types.is_fixed_size_binary(kind) and len(value) != kind.byte_width:
        raise Unfit(f"{len(value)} bytes")
    if str(kind) == "binary" and len(value) >= 1 << 31:
        raise Unfit(f"{len(value)} bytes, which do not fit", "declare large_binary")
    return bytes(value)


def _decimal(value: Any, kind: pa.DataType) -> decimal.Decimal:
    if _is_bool(value) or not isinstance(value, decimal.Decimal | int | np.integer):
        remedy = "return decimal.Decimal(str(value))" if isinstance(value, float) else ""
        raise Unfit(found(value), remedy)
    number = value if isinstance(value, decimal.Decimal) else decimal.Decimal(int(value))
    try:
        pa.scalar(number, kind)
    except pa.ArrowException:
        raise Unfit(f"{found(value)}, which does not fit", "quantize it first") from None
    return number


def _instance(*classes: type) -> Callable[[Any, pa.DataType], Any]:
    def convert(value: Any, kind: pa.DataType) -> Any:
        if isinstance(value, np.datetime64 | np.timedelta64):
            unit = getattr(kind, "unit", "D")
            value = value.astype(f"{value.dtype.kind}8[{unit}]")
            return None if np.isnat(value) else pa.array(np.array([value])).cast(kind)[0].as_py()
        if not isinstance(value, classes) or (
            datetime.datetime not in classes and isinstance(value, datetime.datetime)
        ):
            raise Unfit(found(value), f"return a datetime.{classes[0].__name__}")
        return value

    return convert


def _list(value: Any, kind: pa.DataType) -> list[Any]:
    if not isinstance(value, list | tuple | np.ndarray | set | frozenset | pa.Array):
        raise Unfit(found(value), "return a list")
    items = value.tolist() if isinstance(value, np.ndarray | pa.Array) else value
    plain = [plain_value(item, kind.value_type) for item in items]
    if pa.types.is_fixed_size_list(kind) and len(plain) != kind.list_size:
        raise Unfit(f"a list of {len(plain)}")
    return plain


def _struct(value: Any, kind: pa.DataType) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Unfit(found(value), "return a dict")
    names = [field.name for field in kind]
    if set(value) != set(names) or len(value) != len(names):
        raise Unfit(f"{found(value)} with the keys {list(value)!r}", f"return the keys {names!r}")
    return {name: plain_value(value[name], kind.field(name).type) for name in names}


def _map(value: Any, kind: pa.DataType) -> list[tuple[Any, Any]]:
    if not isinstance(value, dict | list):
        raise Unfit(found(value), "return a dict")
    pairs = value.items() if isinstance(value, dict) else value
    return [(plain_value(k, kind.key_type), plain_value(v, kind.item_type)) for k, v in pairs]


def _null(value: Any, kind: pa.DataType) -> None:
    raise Unfit(found(value), "declare the type of the values")


def _any_of(*tests: Callable[[pa.DataType], bool]) -> Callable[[pa.DataType], bool]:
    return lambda kind: any(test(kind) for test in tests)


_T = pa.types
_KINDS: list[tuple[Callable[[pa.DataType], bool], Callable[[Any, pa.DataType], Any]]] = [
    (_T.is_integer, _integer),
    (_T.is_floating, _float),
    (_T.is_boolean, _bool),
    (_any_of(_T.is_string, _T.is_large_string, lambda k: str(k) == "string_view"), _text),
    (_any_of(_T.is_binary, _T.is_large_binary, _T.is_fixed_size_binary,
             lambda k: str(k) == "binary_view"), _binary),
    (_T.is_decimal, _decimal),
    (_T.is_timestamp, _instance(datetime.datetime)),
    (_T.is_date, _instance(datetime.date)),
    (_T.is_time, _instance(datetime.time)),
    (_T.is_duration, _instance(datetime.timedelta)),
    (_any_of(_T.is_list, _T.is_large_list, _T.is_fixed_size_list), _list),
    (_T.is_struct, _struct),
    (_T.is_map, _map),
    (_T.is_dictionary, lambda value, kind: plain_value(value, kind.value_type)),
    (_T.is_null, _null),
]  # fmt: skip

# these have a buffer in the native results, which take plain values; others are kept as scalars
_BUFFERED = _any_of(
    _T.is_integer, _T.is_float32, _T.is_float64, _T.is_boolean, _T.is_string, _T.is_large_string,
    _T.is_binary, _T.is_large_binary,
)  # fmt: skip


def converter(
    function: str, column: str, kind: pa.DataType, alone: bool = True
) -> Callable[[Any], Any]:
    """What makes values of ``column`` plain, or raises ValueTypeError naming ``function``.

    ``alone``: it is the only column, so that ``(value,)`` and ``{column: value}`` are rows too.
    Kinds without a buffer give immutable ``pa.Scalar``: the function may change a list that it
    gave before.
    """
    unwrap = alone and not (_T.is_nested(kind) or _T.is_map(kind))

    def convert(value: Any) -> Any:
        if unwrap and isinstance(value, tuple) and len(value) == 1:
            value = value[0]
        elif unwrap and isinstance(value, dict) and value.keys() == {column}:
            value = value[column]
        expected = f"{kind} for column {column!r}"
        refuse_unstarted(function, expected, value, "use flat_map for several rows of output")
        try:
            plain = plain_value(value, kind)
            if _BUFFERED(kind) or plain is None:
                return plain
            return pa.scalar(plain, kind)
        except Unfit as unfit:
            raise ValueTypeError(function, expected, *unfit.args) from None
        except (pa.ArrowException, OverflowError, ValueError, TypeError) as error:
            remedy = str(error).splitlines()[0][:200]
            raise ValueTypeError(function, expected, found(value), remedy) from None

    return convert


def row_shaper(function: str, names: Sequence[str]) -> Callable[[Any], Any]:
    """What raises ValueTypeError for a result that is not a row of the columns ``names``."""
    expected = f"a tuple of {len(names)} values or a dict of the columns {list(names)!r}"

    def refuse(result: Any) -> Any:
        refuse_unstarted(function, expected, result, "use flat_map for several rows of output")
        if isinstance(result, dict):
            missing = [name for name in names if name not in result]
            extra = [key for key in result if key not in names]
            parts = [f"without {missing!r}"] if missing else []
            parts += [f"with {extra!r} too"] if extra else []
            raise ValueTypeError(function, expected, f"a dict {' and '.join(parts)}")
        if isinstance(result, tuple | list):
            raise ValueTypeError(function, expected, f"{len(result)} values: {found(result)}")
        raise ValueTypeError(function, expected, found(result))

    return refuse
