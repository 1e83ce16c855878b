"""Select: the output's columns, each an expression over the input's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from ambergate.errors import PlanError
from ambergate.expr.nodes import Expr
from ambergate.operators.base import Operator, Seat
from ambergate.operators.computed import ComputedExecutor, forwarded, type_in

__all__ = ["Select"]


@dataclass(frozen=True, slots=True)
class Select(Operator):
    """The given columns and no others.

    Parameters
    ----------
    columns : pairs of output name and expression, in output order

    Examples
    --------
    >>> from ambergate.expr import col
    >>> Select((("b", col("a") * 2),)).output_schema("s", pa.schema({"a": pa.int64()})).names
    ['b']
    """

    columns: tuple[tuple[str, Expr], ...]

    kind: ClassVar[str] = "select"
    retains: ClassVar[frozenset[int]] = frozenset((0,))  # forwarded columns are not copied

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """See Operator."""
        (schema,) = inputs
        fields: dict[str, pa.Field] = {}
        for label, expr in self.columns:
            if label in fields:
                raise PlanError(name, f"two columns are named {label!r}", "name one otherwise")
            of = type_in(name, expr, schema)
            column = forwarded(expr)
            old = schema.field(column) if column is not None else None
            fields[label] = pa.field(label, of) if old is None else old.with_name(label)
        if not fields:
            raise PlanError(name, "selects no column", "name at least one")
        return pa.schema(list(fields.values()))

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """See Operator; all that is computed, for its errors, and what is forwarded if wanted."""
        read: set[str] = set()
        for label, expr in self.columns:
            if label in wanted or forwarded(expr) is None:
                read |= expr.columns()
        return frozenset(read)

    def narrow(self, wanted: frozenset[str], *inputs: pa.Schema) -> Select:
        """See Operator; what is computed stays, for its errors."""
        return Select(
            tuple(
                (label, expr)
                for label, expr in self.columns
                if label in wanted or forwarded(expr) is None
            )
        )

    def open(self, seat: Seat, *inputs: pa.Schema) -> ComputedExecutor:
        """See Operator."""
        output = self.output_schema(seat.operator, *inputs)
        return ComputedExecutor(self.columns, inputs[0], output)
