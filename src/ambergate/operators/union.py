"""Union: the rows of several inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from ambergate.errors import PlanError
from ambergate.operators.base import (
    DONE,
    OUTPUT_ROWS,
    STOPPED,
    Gate,
    Operator,
    Progress,
    Seat,
    blocks,
)

__all__ = ["Union", "UnionExecutor", "promoted"]

SIGNED = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
UNSIGNED = (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())


def promoted(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """The type that holds values of both, None where there is none.

    Integers become a wider integer, integers with floats float64, null anything, strings and
    binaries their large form. ``int64`` and ``uint64`` have no type in common.

    >>> promoted(pa.int8(), pa.uint16())
    DataType(int32)
    """
    if a == b or pa.types.is_null(b):
        return a
    if pa.types.is_null(a):
        return b
    if pa.types.is_integer(a) and pa.types.is_integer(b):
        if pa.types.is_signed_integer(a) == pa.types.is_signed_integer(b):
            return a if a.bit_width > b.bit_width else b
        signed, unsigned = (a, b) if pa.types.is_signed_integer(a) else (b, a)
        fitting = (t for t in SIGNED if t.bit_width > unsigned.bit_width)
        return next((t for t in fitting if t.bit_width >= signed.bit_width), None)
    numbers = [pa.types.is_integer(t) or t in (pa.float32(), pa.float64()) for t in (a, b)]
    if all(numbers):
        return pa.float64()
    if {a, b} == {pa.string(), pa.large_string()}:
        return pa.large_string()
    if {a, b} == {pa.binary(), pa.large_binary()}:
        return pa.large_binary()
    return None


@dataclass(frozen=True, slots=True)
class Union(Operator):
    """All rows of ``ports`` inputs, columns by name, in the first input's order of columns.

    Integers become the wider integer, integers beside floats become float64 (rounded beyond
    2**53, as in SQL); any other difference of types, and any missing column, is a PlanError. Rows
    of one input stay in order; how the inputs are interleaved is not fixed.

    >>> Union().output_schema("union", pa.schema({"a": "int8", "b": "string"}),
    ...     pa.schema({"b": "string", "a": "int64"}))
    a: int64
    b: string
    """

    kind: ClassVar[str] = "union"
    keeps_order: ClassVar[bool] = False

    ports: int = 2  # type: ignore[misc]  # of this instance
    wanted: frozenset[str] | None = None  # the columns that anyone downstream reads; None: all

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """The common schema; PlanError naming column and types where there is none."""
        if self.wanted is not None:  # an input may still carry what others read of it
            inputs = tuple(
                pa.schema([field for field in schema if field.name in self.wanted])
                for schema in inputs
            )
        first = inputs[0]
        for number, schema in enumerate(inputs[1:], 2):
            for lacking, having, which in ((schema, first, number), (first, schema, 1)):
                missing = [column for column in having.names if column not in lacking.names]
                if missing:
                    raise PlanError(
                        name,
                        f"input {which} has no column {missing[0]!r}, it has {lacking.names}",
                        "select the same columns from all inputs first",
                    )
        fields = []
        for field in first:
            type_ = field.type
            for number, schema in enumerate(inputs[1:], 2):
                found = schema.field(field.name).type
                shared = promoted(type_, found)
                if shared is None:
                    raise PlanError(
                        name,
                        f"column {field.name!r} is {type_} in the inputs before and {found} in "
                        f"input {number}",
                        "cast one of them first",
                    )
                type_ = shared
            fields.append(pa.field(field.name, type_))
        return pa.schema(fields)

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """What is wanted."""
        return wanted

    def narrow(self, wanted: frozenset[str], *inputs: pa.Schema) -> Union:
        """See Operator."""
        return Union(self.ports, wanted)

    def open(self, seat: Seat, *inputs: pa.Schema) -> UnionExecutor:
        """The runtime half for one task."""
        return UnionExecutor(self.output_schema(seat.operator, *inputs), inputs)


def cast_to(given: pa.Schema, field: pa.Field) -> pa.DataType | None:
    """The type that the column of this name must be cast to; None where it has it already."""
    return None if given.field(field.name).type == field.type else field.type


class UnionExecutor:
    """Renames nothing, keeps nothing: puts columns in order and widens them."""

    def __init__(self, schema: pa.Schema, inputs: tuple[pa.Schema, ...]):
        self._schema = schema
        # for each port: where each output column stands, and the type to cast it to if any
        self._columns = [
            [(given.get_field_index(field.name), cast_to(given, field)) for field in schema]
            for given in inputs
        ]
        self._casts = [any(type_ is not None for _, type_ in columns) for columns in self._columns]

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """Emit the rows in the common schema."""
        outputs, cursor = [], start
        rows = {} if self._casts[port] else {"rows": OUTPUT_ROWS}
        for first, end in blocks(gate, start, stop, **rows):
            part = batch if end - first == batch.num_rows else batch.slice(first, end - first)
            outputs.append(self._convert(port, part))
            cursor = end
        return Progress(DONE if cursor == stop else STOPPED, cursor, outputs)

    def _convert(self, port: int, part: pa.RecordBatch) -> pa.RecordBatch:
        arrays = [
            part.column(index) if type_ is None else part.column(index).cast(type_, safe=False)
            for index, type_ in self._columns[port]
        ]
        if not arrays:
            return part
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def end(self, port: int) -> Iterator[pa.RecordBatch]:
        """Nothing is left to emit."""
        return iter(())

    def snapshot(self) -> Any:
        """Nothing is kept."""
        return None

    def restore(self, state: Any) -> None:
        """Nothing is kept."""

    def describe(self) -> dict[str, pa.Table]:
        """Nothing is kept."""
        return {}
