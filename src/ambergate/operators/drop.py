"""Drop: all columns but some."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from ambergate.errors import PlanError
from ambergate.expr.nodes import Column
from ambergate.operators.base import Operator, Seat
from ambergate.operators.computed import ComputedExecutor, type_in

__all__ = ["Drop"]


@dataclass(frozen=True, slots=True)
class Drop(Operator):
    """All input columns but ``columns``.

    >>> Drop(("a",)).output_schema("drop", pa.schema({"a": pa.int64(), "b": pa.string()})).names
    ['b']
    """

    columns: tuple[str, ...]

    kind: ClassVar[str] = "drop"
    retains: ClassVar[frozenset[int]] = frozenset((0,))  # columns are forwarded, not copied

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """See Operator."""
        (schema,) = inputs
        for column in self.columns:
            type_in(name, Column(column), schema)
        output = self._without(schema)
        if not output:
            raise PlanError(name, "drops every column", "keep at least one")
        return output

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """See Operator."""
        return wanted - frozenset(self.columns)

    def narrow(self, wanted: frozenset[str], *inputs: pa.Schema) -> Drop:
        """See Operator; columns that pruning took away are dropped already."""
        return Drop(tuple(column for column in self.columns if column in inputs[0].names))

    def open(self, seat: Seat, *inputs: pa.Schema) -> ComputedExecutor:
        """See Operator."""
        (schema,) = inputs
        output = self._without(schema)
        return ComputedExecutor([(name, Column(name)) for name in output.names], schema, output)

    def _without(self, schema: pa.Schema) -> pa.Schema:
        return pa.schema(
            [field for field in schema if field.name not in self.columns], schema.metadata
        )
