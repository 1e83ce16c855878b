"""One call of a function for each row, giving columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from ambergate.errors import PlanError
from ambergate.kernels.compiled import CompiledFunction, check_compilable
from ambergate.kernels.rows import RowFunction
from ambergate.operators.base import FULL, OUTPUT_ROWS, Executor, Gate, Operator, Progress, Seat
from ambergate.operators.functions import (
    as_columns,
    check_columns,
    declared,
    extended,
    function_name,
    is_callable,
)
from ambergate.operators.stateless import Stateless

__all__ = ["Map", "MapExecutor"]


@dataclass(frozen=True, slots=True)
class Map(Operator):
    """Call ``fn`` once a row; the columns it returns are added or replaced, all others stay.

    ``fn`` gets the values of ``columns`` by position, or one lazy ``Row`` without them. It returns
    one value for one declared column, a tuple or a dict for several, None for null. With ``jit``
    it is compiled by Numba: numbers and booleans alone, a null given makes the row's results null.

    Raises
    ------
    ValueError, TypeError
        ``returns`` is empty or names an unknown type.

    Examples
    --------
    >>> double = Map(lambda v: 2 * v, ("v",), {"w": "int64"})
    >>> double.output_schema("double", pa.schema({"v": "int64"})).names
    ['v', 'w']
    """

    kind: ClassVar[str] = "map"
    retains: ClassVar[frozenset[int]] = frozenset({0})  # the other columns are passed on as views

    fn: Callable[..., Any]
    columns: tuple[str, ...] | None
    returns: Mapping[str, pa.DataType]
    jit: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", as_columns(self.columns))
        object.__setattr__(self, "returns", declared(self.returns))

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """The schema downstream."""
        is_callable(name, self.fn)
        check_columns(name, self.columns, inputs[0])
        if self.jit:
            check_compilable(name, inputs[0], self.columns, self.returns)
        return extended(inputs[0], self.returns)

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """The columns given to the function, and those passed on."""
        if self.columns is None:
            return frozenset(inputs[port].names)
        return (wanted & frozenset(inputs[port].names)) - self.returns.keys() | set(self.columns)

    def open(self, seat: Seat, *inputs: pa.Schema) -> Executor:
        """The runtime half of one task."""
        return MapExecutor(self, seat, inputs[0])


class MapExecutor(Stateless):
    """Stateless; its outputs are views of the input beside the new columns."""

    def __init__(self, operator: Map, seat: Seat, schema: pa.Schema):
        self.schema = operator.output_schema(seat.operator, schema)
        returned = list(operator.returns)
        self.places = [  # of each column: in the results, or in the input
            (True, returned.index(column))
            if column in returned
            else (False, schema.get_field_index(column))
            for column in self.schema.names
        ]
        name = function_name(operator.fn)
        given = (operator.fn, name, schema, operator.columns, operator.returns)
        self.function: RowFunction | CompiledFunction
        try:
            self.function = CompiledFunction(*given) if operator.jit else RowFunction(*given)
        except PlanError as error:  # of the compiler, which knows the function only
            problem = f"{name}: {error.problem}"
            raise PlanError(seat.operator, problem, error.remedy) from None

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """See ``Executor.process``."""
        end = min(stop, start + OUTPUT_ROWS)
        status, cursor, made, error, _ = self.function.map(batch, start, end, gate)
        if end < stop and cursor == end:
            status = FULL
        if cursor == start:
            return Progress(status, cursor, (), error)
        passed = batch.slice(start, cursor - start)
        columns = [made[at] if new else passed.column(at) for new, at in self.places]
        output = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        return Progress(status, cursor, (output,), error)
