"""WithColumns: columns added or replaced, all others stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from ambergate.errors import PlanError
from ambergate.expr.nodes import Column, Expr
from ambergate.operators.base import Operator, Seat
from ambergate.operators.computed import ComputedExecutor, type_in

__all__ = ["WithColumns"]


@dataclass(frozen=True, slots=True)
class WithColumns(Operator):
    """All input columns, with some computed: a known name is replaced in place, a new one added.

    Parameters
    ----------
    columns : pairs of name and expression; all expressions see the input's columns

    Examples
    --------
    >>> from ambergate.expr import col
    >>> operator = WithColumns((("b", col("a") / 2), ("a", col("a") + 1)))
    >>> operator.output_schema("w", pa.schema({"a": pa.int64()})).names
    ['a', 'b']
    """

    columns: tuple[tuple[str, Expr], ...]

    kind: ClassVar[str] = "with_columns"
    retains: ClassVar[frozenset[int]] = frozenset((0,))  # forwarded columns are not copied

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """See Operator."""
        (schema,) = inputs
        made: dict[str, pa.Field] = {}
        for label, expr in self.columns:
            if label in made:
                raise PlanError(name, f"two columns are named {label!r}", "name one otherwise")
            made[label] = pa.field(label, type_in(name, expr, schema))
        kept = [made.pop(field.name, field) for field in schema]
        return pa.schema([*kept, *made.values()], schema.metadata)

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """See Operator."""
        made = {label for label, _ in self.columns}
        read = frozenset().union(*(expr.columns() for _, expr in self.columns))
        return read | (wanted - made)

    def open(self, seat: Seat, *inputs: pa.Schema) -> ComputedExecutor:
        """See Operator."""
        (schema,) = inputs
        output = self.output_schema(seat.operator, schema)
        made = dict(self.columns)
        pairs = [(label, made.get(label, Column(label))) for label in output.names]
        return ComputedExecutor(pairs, schema, output)
