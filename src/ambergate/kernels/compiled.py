"""Users' numeric functions compiled by Numba and run over blocks of rows.

Numba is imported when the first function is compiled. Compiled integers are 64 bits wide and wrap,
as NumPy's do; a row with a null in one of the given columns gives nulls without a call.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ambergate.errors import PlanError
from ambergate.kernels.rows import RowFunction, RowOutcome
from ambergate_native.gate import DONE, RAISED, STOPPED, Gate

__all__ = ["CompiledFunction", "check_compilable"]

BLOCK = 4_096  # rows of one call, which cannot be stopped inside; about 1 us is its fixed cost

_SOURCE = """
def loop({inputs}, valid, {outputs}, filled, start, stop, base):
    for row in range(start, stop):
        at = row - base
        if valid.size and not valid[at]:
            filled[at] = False
            continue
        result = function({values})
        {unpack}
        {checks}
    return True
"""


def _numeric(kind: pa.DataType) -> bool:
    types = pa.types
    return (types.is_integer(kind) or types.is_boolean(kind) or types.is_float32(kind)
            or types.is_float64(kind))  # fmt: skip


def check_compilable(
    operator: str,
    schema: pa.Schema,
    columns: Sequence[str] | None,
    returns: Mapping[str, pa.DataType],
) -> None:
    """Raise PlanError where the columns cannot be given to, or returned by, compiled code."""
    if columns is None or not columns:
        raise PlanError(operator, "jit=True needs columns=", "name the columns the function takes")
    for way, column, kind in [
        *(("takes", column, schema.field(column).type) for column in columns),
        *(("returns", column, kind) for column, kind in returns.items()),
    ]:
        if not _numeric(kind):
            raise PlanError(
                operator,
                f"jit=True works on numbers and booleans, but the function {way} column "
                f"{column!r} of type {kind}",
                "remove jit=True",
            )


class CompiledFunction:
    """As ``RowFunction``, compiled; what fails in compiled code is run again in Python.

    Raises
    ------
    PlanError
        Numba cannot compile the function, or its result is not of the declared types.
    """

    def __init__(
        self,
        function: Any,
        name: str,
        schema: pa.Schema,
        columns: Sequence[str] | None,
        returns: Mapping[str, pa.DataType],
    ):
        check_compilable(name, schema, columns, returns)
        columns = columns or ()  # checked: there are some
        plain = getattr(function, "py_func", function)  # given as Numba's own dispatcher
        self.python = RowFunction(plain, name, schema, columns, returns)
        self.positions = [schema.get_field_index(column) for column in columns]
        self.types = list(returns.values())
        given = [schema.field(column).type.to_pandas_dtype() for column in columns]
        wanted = [kind.to_pandas_dtype() for kind in self.types]
        dtypes = [tuple(str(np.dtype(kind)) for kind in kinds) for kinds in (given, wanted)]
        self.loop, self.nullable = _compile(function, name, *dtypes)

    def map(self, batch: pa.RecordBatch, start: int, stop: int, gate: Gate) -> RowOutcome:
        """One row of results for each row ``start:stop``; the gate is looked at block by block."""
        columns = [batch.column(at).slice(start, stop - start) for at in self.positions]
        inputs = [_values(column) for column in columns]
        valid = _validity(columns)
        outputs = [np.empty(stop - start, kind.to_pandas_dtype()) for kind in self.types]
        filled = np.ones(stop - start if self.nullable or valid.size else 0, np.bool_)
        row = first = start
        made: list[list[pa.Array]] = []  # pieces before row ``first``
        while row < stop:
            end = gate.rows(row, min(row + BLOCK, stop))
            if end == row:
                break
            try:
                done = self.loop(*inputs, valid, *outputs, filled, row, end, start)
            except Exception:
                done = False
            if done:
                row = end
                continue
            outcome = self.python.map(batch, row, end, gate)
            made += [self._arrays(outputs, filled, first - start, row - start), outcome.columns]
            row = first = outcome.cursor
            if outcome.error is not None:
                return RowOutcome(RAISED, row, _joined(made), outcome.error)
        made.append(self._arrays(outputs, filled, first - start, row - start))
        return RowOutcome(DONE if row == stop else STOPPED, row, _joined(made), None)

    def _arrays(
        self, outputs: list[np.ndarray], filled: np.ndarray, first: int, last: int
    ) -> list[pa.Array]:
        mask = ~filled[first:last] if filled.size else None
        return [
            pa.array(values[first:last], kind, mask=mask)
            for values, kind in zip(outputs, self.types, strict=True)
        ]


def _values(column: pa.Array) -> np.ndarray:
    if pa.types.is_boolean(column.type):
        filled = column.fill_null(False) if column.null_count else column
        values = filled.to_numpy(zero_copy_only=False)
    else:
        dtype = np.dtype(column.type.to_pandas_dtype())
        buffer = column.buffers()[1]
        if buffer is None:
            return np.frombuffer(b"", dtype)
        values = np.frombuffer(buffer, dtype, len(column), column.offset * dtype.itemsize)
    values.flags.writeable = False
    return values


def _validity(columns: list[pa.Array]) -> np.ndarray:
    """Whether all columns have a value in a row; empty where no column has a null."""
    valid = np.empty(0, np.bool_)
    for column in columns:
        if column.null_count:
            of_column = column.is_valid().to_numpy(zero_copy_only=False)
            valid = valid & of_column if valid.size else of_column.copy()
    return valid


def _joined(pieces: list[list[pa.Array]]) -> list[pa.Array]:
    if len(pieces) == 1:
        return pieces[0]
    return [pa.concat_arrays(arrays) for arrays in zip(*pieces, strict=True)]


@functools.lru_cache(maxsize=64)
def _compile(
    function: Any, name: str, given: tuple[str, ...], wanted: tuple[str, ...]
) -> tuple[Any, bool]:
    """The compiled loop, and whether the function may give None."""
    import numba
    from numba.core import types
    from numba.core.errors import NumbaError

    scalars = [numba.from_dtype(np.dtype(dtype)) for dtype in given]
    try:
        compiled = function if hasattr(function, "py_func") else numba.njit(function)
        compiled.compile(tuple(scalars))
        (result,) = {
            overload.signature.return_type
            for overload in compiled.overloads.values()
            if tuple(overload.signature.args) == tuple(scalars)
        }
    except (NumbaError, TypeError) as error:
        reason = str(error).strip().splitlines()[-1][:300]
        raise PlanError(name, f"Numba cannot compile it: {reason}", "remove jit=True") from None
    parts = [result] if len(wanted) == 1 else list(getattr(result, "types", []))
    if len(parts) != len(wanted) or (isinstance(result, types.BaseTuple) and len(wanted) == 1):
        raise PlanError(
            name,
            f"the compiled function gives {result} for {len(wanted)} declared columns",
            "return one value, or a tuple of one value a column (compiled functions give no dicts)",
        )
    nullable = any(isinstance(part, types.Optional | types.NoneType) for part in parts)
    for part, dtype in zip(parts, wanted, strict=True):
        _check_type(name, getattr(part, "type", part), np.dtype(dtype), types)
    source = _source(len(given), parts, wanted, types)
    namespace: dict[str, Any] = {"function": compiled}
    exec(source, namespace)
    loop = numba.njit(namespace["loop"], nogil=True)
    signature = [
        *(types.Array(scalar, 1, "C", readonly=True) for scalar in scalars),
        types.Array(types.boolean, 1, "C"),
        *(types.Array(numba.from_dtype(np.dtype(dtype)), 1, "C") for dtype in wanted),
        types.Array(types.boolean, 1, "C"),
        types.int64, types.int64, types.int64,
    ]  # fmt: skip
    loop.compile(tuple(signature))
    return loop, nullable


def _check_type(name: str, part: Any, dtype: np.dtype, types: Any) -> None:
    """Raise PlanError where a result of Numba's type ``part`` is not a value of ``dtype``."""
    if isinstance(part, types.Boolean):
        fits = dtype.kind == "b"
    elif isinstance(part, types.Integer):
        fits = dtype.kind in "iuf"
    elif isinstance(part, types.Float):
        fits = dtype.kind == "f"
    else:
        fits = isinstance(part, types.NoneType)
    if not fits:
        raise PlanError(
            name, f"the compiled function gives {part} for a column declared {dtype}",
            "declare that type, or convert the result in the function",
        )  # fmt: skip


def _source(given: int, parts: list[Any], wanted: tuple[str, ...], types: Any) -> str:
    """The loop's source: values are checked against the width of integers, None is null."""
    inputs = [f"given{at}" for at in range(given)]
    checks: list[str] = []
    for at, (part, dtype) in enumerate(zip(parts, wanted, strict=True)):
        lines = []
        if np.dtype(dtype).kind in "iu":
            limits, inner = np.iinfo(dtype), getattr(part, "type", part)
            if getattr(inner, "signed", True) and limits.min > -(1 << 63):
                lines.append(f"if value{at} < {limits.min}: return False")
            if limits.max < (1 << 63) - 1 or (limits.min and not getattr(inner, "signed", True)):
                lines.append(f"if value{at} > {limits.max}: return False")
        lines.append(f"made{at}[at] = value{at}")
        if isinstance(part, types.NoneType):
            lines = ["filled[at] = False"]
        elif isinstance(part, types.Optional):
            lines = [f"if value{at} is None:", "    filled[at] = False", "else:",
                     *(f"    {line}" for line in lines)]  # fmt: skip
        checks += lines
    outputs = ", ".join(f"made{at}" for at in range(len(wanted)))
    if len(wanted) == 1:
        unpack = "value0 = result"
    else:
        unpack = ", ".join(f"value{at}" for at in range(len(wanted))) + " = result"
    return _SOURCE.format(
        inputs=", ".join(inputs),
        outputs=outputs,
        values=", ".join(f"{name}[row - base]" for name in inputs),
        unpack=unpack,
        checks="\n        ".join(checks),
    )
