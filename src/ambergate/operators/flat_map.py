"""One call of a function for each row, giving any number of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ambergate.kernels.rows import RowFunction
from ambergate.kernels.selection import take_batch
from ambergate.operators.base import OUTPUT_ROWS, Executor, Gate, Operator, Progress, Seat
from ambergate.operators.functions import (
    as_columns,
    check_columns,
    declared,
    extended,
    function_name,
    is_callable,
)
from ambergate.operators.stateless import Stateless

__all__ = ["FlatMap", "FlatMapExecutor"]


@dataclass(frozen=True, slots=True)
class FlatMap(Operator):
    """Call ``fn`` once a row; each of the rows it gives becomes a row of output.

    As ``Map``, but ``fn`` returns or yields rows: a list, tuple, generator or other iterable of
    values (of tuples or dicts for several declared columns); ``[]`` for none. The input's other
    columns are repeated for each row of output.

    Examples
    --------
    >>> words = FlatMap(str.split, ("text",), {"word": "string"})
    >>> words.output_schema("words", pa.schema({"text": "string"})).names
    ['text', 'word']
    """

    kind: ClassVar[str] = "flat_map"

    fn: Callable[..., Any]
    columns: tuple[str, ...] | None
    returns: Mapping[str, pa.DataType]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", as_columns(self.columns))
        object.__setattr__(self, "returns", declared(self.returns))

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """The schema downstream."""
        is_callable(name, self.fn)
        check_columns(name, self.columns, inputs[0])
        return extended(inputs[0], self.returns)

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """The columns given to the function, and those passed on."""
        if self.columns is None:
            return frozenset(inputs[port].names)
        return (wanted & frozenset(inputs[port].names)) - self.returns.keys() | set(self.columns)

    def open(self, seat: Seat, *inputs: pa.Schema) -> Executor:
        """The runtime half of one task."""
        return FlatMapExecutor(self, seat, inputs[0])


class FlatMapExecutor(Stateless):
    """Stateless; a row that gives more than a batch holds is finished, in several batches."""

    def __init__(self, operator: FlatMap, seat: Seat, schema: pa.Schema):
        self.schema = operator.output_schema(seat.operator, schema)
        returned = list(operator.returns)
        self.passed = [name for name in self.schema.names if name not in returned]
        self.places = [  # of each column: in the results, or in the columns passed on
            (True, returned.index(column))
            if column in returned
            else (False, self.passed.index(column))
            for column in self.schema.names
        ]
        name = function_name(operator.fn)
        self.function = RowFunction(operator.fn, name, schema, operator.columns, operator.returns)

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """See ``Executor.process``."""
        status, cursor, made, error, counts = self.function.flat_map(
            batch, start, stop, gate, OUTPUT_ROWS
        )
        rows = len(made[0])
        if not rows:
            return Progress(status, cursor, (), error)
        sources = np.repeat(np.arange(start, cursor), counts)
        repeated = take_batch(batch.select(self.passed), sources) if self.passed else batch
        columns = [made[at] if new else repeated.column(at) for new, at in self.places]
        output = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        pieces = [output.slice(first, OUTPUT_ROWS) for first in range(0, rows, OUTPUT_ROWS)]
        return Progress(status, cursor, pieces, error)
