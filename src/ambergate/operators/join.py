"""Join: rows of two inputs, matched by key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ambergate.graph.exchange import Exchange, hashed
from ambergate.kernels.gathering import ChunkedRows, Places
from ambergate.kernels.grouping import Grouper
from ambergate.kernels.joining import CHUNK_ROWS, RowsByGroup, select_present
from ambergate.operators.base import (
    DONE,
    FULL,
    LIBRARY_ROWS,
    OUTPUT_ROWS,
    STOPPED,
    Gate,
    Operator,
    Progress,
    Seat,
    blocks,
)
from ambergate.operators.matching import Layout, layout

__all__ = ["Join", "JoinExecutor"]

LEFT, RIGHT = 0, 1
OUTPUT_BYTES = 8 << 20  # of one emitted batch, about
PROBE_ROWS = 2_048  # keys looked up at a time; no more than these are looked up twice


@dataclass(frozen=True, slots=True)
class Join(Operator):
    """Rows of the left input with the rows of the right input that have the same key.

    ``how`` is inner, left, right, full, semi (left rows with a match, once) or anti (left rows
    without). The right input is read to its end and kept, then the left one flows past it. Nulls
    never match, NaN matches NaN. Unmatched rows of the right come last, grouped by key.

    The output has the left columns, then the right ones. A key of the same name on both sides
    comes out once, with the value of the side that has the row; other clashing names of the right
    get ``suffix``. Semi and anti joins have the left columns only.

    >>> Join(("k",), ("k",), "left").output_schema("join", pa.schema({"k": "int32", "v": "string"}),
    ...     pa.schema({"k": "int64", "v": "bool"}))
    k: int32
    v: string
    v_right: bool
    """

    kind: ClassVar[str] = "join"
    ports: ClassVar[int] = 2
    keeps_order: ClassVar[bool] = False
    first_port: ClassVar[int | None] = RIGHT
    retains: ClassVar[frozenset[int]] = frozenset({RIGHT})

    left_on: tuple[str, ...]
    right_on: tuple[str, ...]
    how: str = "inner"
    suffix: str = "_right"

    def layout(self, name: str, *inputs: pa.Schema) -> Layout:
        """Where the output's columns come from; raises PlanError."""
        left, right = inputs
        return layout(name, left, right, self.left_on, self.right_on, self.how, self.suffix)

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """The left columns, then those of the right that are not shared keys."""
        return self.layout(name, *inputs).schema

    def exchange(self, port: int, *inputs: pa.Schema) -> Exchange:
        """Equal keys to the same task, on both sides."""
        return hashed(*(self.left_on if port == LEFT else self.right_on))

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """The keys and what is wanted; also left columns that make a wanted right one clash."""
        columns = self.layout("join", *inputs)
        left, right = inputs
        outputs = columns.schema.names[len(left) :]
        from_right = {
            right.field(index).name
            for index, output in zip(columns.right, outputs, strict=True)
            if output in wanted
        }
        if port == RIGHT:
            return frozenset(self.right_on) | from_right
        return frozenset(self.left_on) | (
            frozenset(left.names) & (wanted | (from_right & columns.suffixed))
        )

    def open(self, seat: Seat, *inputs: pa.Schema) -> JoinExecutor:
        """The runtime half for one task."""
        return JoinExecutor(self, self.layout(seat.operator, *inputs), inputs)


class JoinExecutor:
    """Keeps the right rows by group of key; pairs each left row with its group.

    Right rows with a null key are groups too, which no left row finds. Semi and anti joins keep
    keys only.
    """

    def __init__(self, join: Join, columns: Layout, inputs: tuple[pa.Schema, ...]):
        self._how, self._layout, self._inputs = join.how, columns, inputs
        self._keeps_rows = join.how not in ("semi", "anti")
        self._keeps_left = join.how in ("left", "full")
        self._keeps_right = join.how in ("right", "full")
        # for each port: the index of each key column and the type to cast it to, if any
        self._keys = [
            [
                (index, None if schema.field(index).type == type_ else type_)
                for index, type_ in zip(
                    map(schema.get_field_index, names), columns.key_types, strict=True
                )
            ]
            for schema, names in zip(inputs, (join.left_on, join.right_on), strict=True)
        ]
        self._casts = [any(type_ is not None for _, type_ in keys) for keys in self._keys]
        self._left_casts = [
            (index, field.type)
            for index, field in zip(columns.left, columns.schema, strict=False)
            if inputs[LEFT].field(index).type != field.type
        ]
        self._open = Gate()
        self._open.reset()
        self._open.at(0)
        self._ids = np.empty(LIBRARY_ROWS, np.int64)
        self._left = np.empty(OUTPUT_ROWS, np.int64)
        self._right = np.empty(OUTPUT_ROWS, np.int64)
        self._clear()

    def _clear(self) -> None:
        self._grouper = Grouper(list(self._layout.key_types))
        self._groups = RowsByGroup()
        self._rows = ChunkedRows(self._inputs[RIGHT])
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = 0
        self._right_bytes = 0
        self._built = False  # the right input has ended
        self._emitted = 0  # unmatched right rows yielded by ``end``

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """Keep right rows; pair left rows, a batch of output at a time."""
        if port == RIGHT:
            return self._build(batch, start, stop, gate)
        if self._keeps_rows:
            return self._probe(batch, start, stop, gate)
        return self._select(batch, start, stop, gate)

    def end(self, port: int) -> Iterator[pa.RecordBatch]:
        """After the right input, nothing; after the left one, the right rows without a match."""
        if port == RIGHT:
            self._seal()
            self._built = True
        elif self._keeps_right:
            yield from self._unmatched()

    def snapshot(self) -> Any:
        """The right rows (semi and anti: one row a key), which keys had a match, rows yielded."""
        batches = (*self._rows.batches, *self._pending)
        return {
            "right": batches if self._keeps_rows else self._grouper.keys(0, self._grouper.count),
            "built": self._built,
            "matched": self._groups.matched_groups(),
            "emitted": self._emitted,
        }

    def restore(self, state: Any) -> None:
        """Take the right rows; groups are made anew, in the same order."""
        self._clear()
        if self._keeps_rows:
            for batch in state["right"]:
                self._build(batch, 0, batch.num_rows, self._open)
            self._groups.mark_groups(state["matched"])
        else:
            keys, rows = state["right"], len(state["right"][0])
            self._grouper.assign(keys, 0, rows, self._open, np.empty(rows, np.int64))
        if state["built"]:
            self._seal()
        self._built, self._emitted = state["built"], state["emitted"]

    def describe(self) -> dict[str, pa.Table]:
        """``right``: the rows kept of the right input (semi and anti: one row a key)."""
        if self._keeps_rows:
            batches = [*self._rows.batches, *self._pending]
            return {"right": pa.Table.from_batches(batches, schema=self._inputs[RIGHT])}
        names = [self._inputs[RIGHT].field(index).name for index, _ in self._keys[RIGHT]]
        keys = self._grouper.keys(0, self._grouper.count)
        return {"right": pa.Table.from_arrays(list(keys), names=names)}

    def _key_arrays(self, port: int, batch: pa.RecordBatch) -> list[pa.Array]:
        arrays = []
        for index, type_ in self._keys[port]:
            array = batch.column(index)
            arrays.append(array if type_ is None else array.cast(type_))
        return arrays

    def _lookups(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate, rows: int
    ) -> Iterator[tuple[int, int]]:
        """Group stretches of ``rows`` rows: yields (first, cursor) with ids from 0 in ``_ids``.

        Keys of a right batch are added, those of a left one looked up.
        """
        keys = None if self._casts[port] else self._key_arrays(port, batch)
        for first, end in blocks(gate, start, stop, rows):
            if keys is None:
                # only rows that the gate has let through are cast, and seen from row 0 on
                part = self._key_arrays(port, batch.slice(first, end - first))
                low, high, shift, held_by = 0, end - first, first, self._open
            else:
                part, low, high, shift, held_by = keys, first, end, 0, gate
            if port == RIGHT:
                _, cursor = self._grouper.assign(part, low, high, held_by, self._ids)
            else:
                _, cursor = self._grouper.find(part, low, high, held_by, self._ids)
            yield first, cursor + shift
            if cursor < high:
                return

    def _build(self, batch: pa.RecordBatch, start: int, stop: int, gate: Gate) -> Progress:
        cursor = start
        for first, end in self._lookups(RIGHT, batch, start, stop, gate, LIBRARY_ROWS):
            if self._keeps_rows:
                self._groups.add(self._ids, 0, end - first)
                self._keep(batch, first, end)
            cursor = end
        return Progress(DONE if cursor == stop else STOPPED, cursor)

    def _keep(self, batch: pa.RecordBatch, start: int, stop: int) -> None:
        """Keep right rows; chunks have exactly CHUNK_ROWS, so that a row's number is its place."""
        while start < stop:
            end = min(stop, start + CHUNK_ROWS - self._pending_rows)
            self._pending.append(batch.slice(start, end - start))
            self._pending_rows += end - start
            if self._pending_rows == CHUNK_ROWS:
                self._seal()
            start = end

    def _seal(self) -> None:
        if self._pending:
            chunk = pa.concat_batches(self._pending)
            self._rows.append(chunk)
            self._right_bytes += chunk.nbytes
            self._pending, self._pending_rows = [], 0

    def _room(self, batch: pa.RecordBatch | None) -> int:
        """Rows of one emitted batch."""
        row_bytes = self._right_bytes // max(self._rows.rows, 1)
        if batch is not None and not self._groups.unique:
            row_bytes += batch.nbytes // max(batch.num_rows, 1)
        return min(max(OUTPUT_BYTES // max(row_bytes, 1), 1), OUTPUT_ROWS)

    def _probe(self, batch: pa.RecordBatch, start: int, stop: int, gate: Gate) -> Progress:
        piece = room = self._room(batch)
        left, right, filled = self._left, self._right, 0
        cursor, status, straight = start, DONE, True
        for first, end in self._lookups(LEFT, batch, start, stop, gate, PROBE_ROWS):
            probe = (self._keeps_left, self._keeps_right, first)
            status, done, filled, even = self._groups.probe(
                self._ids, 0, end - first, self._open, left, right, filled, room, *probe
            )
            if status == FULL and filled == 0:
                # one row has more partners than a batch has rows: a buffer for it alone
                room = self._groups.matches(int(self._ids[done]))
                left, right = np.empty(room, np.int64), np.empty(room, np.int64)
                _, done, filled, _ = self._groups.probe(
                    self._ids, done, done + 1, self._open, left, right, 0, room, *probe
                )
                even = False
            cursor, straight = first + done, straight and even
            if status == FULL:
                break
        if cursor == stop:
            status = DONE
        elif status != FULL:
            status = STOPPED
        if straight:
            whole = start == 0 and filled == batch.num_rows
            source: pa.RecordBatch | ChunkedRows = batch if whole else batch.slice(start, filled)
        else:
            source = ChunkedRows(self._inputs[LEFT])
            source.append(batch)
        outputs: list[pa.RecordBatch] = []
        for low in range(0, filled, piece):
            self._emit(source, left, right, low, min(low + piece, filled), outputs)
        return Progress(status, cursor, outputs)

    def _emit(
        self,
        source: pa.RecordBatch | ChunkedRows,
        left: Places,
        right: Places,
        low: int,
        high: int,
        outputs: list[pa.RecordBatch],
    ) -> None:
        """Append the batch of the pairs ``low:high``; ``source`` has the left rows.

        It is a batch when pair ``i`` is of its row ``i``.
        """
        try:
            if isinstance(source, ChunkedRows):
                arrays = source.gather(left, low, high)
            elif high - low == source.num_rows:
                arrays = source.columns
            else:
                arrays = source.slice(low, high - low).columns
            for index, type_ in self._left_casts:
                arrays[index] = arrays[index].cast(type_)
            arrays += self._rows.gather(right, low, high, self._layout.right, self._keeps_left)
        except OverflowError:
            if high - low == 1:
                raise
            middle = (low + high) // 2
            self._emit(source, left, right, low, middle, outputs)
            self._emit(source, left, right, middle, high, outputs)
        else:
            outputs.append(self._batch(arrays))

    def _batch(self, arrays: list[pa.Array]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(arrays, schema=self._layout.schema)

    def _unmatched(self) -> Iterator[pa.RecordBatch]:
        """Right rows of groups without a match, from the first not yet yielded."""
        piece = self._room(None)
        places, skip, group, row = np.empty(piece, np.int64), self._emitted, 0, -1
        while group < self._groups.groups:
            count, group, row = self._groups.unmatched(places, group, row)
            first, skip = min(skip, count), max(skip - count, 0)
            if first < count:
                outputs: list[pa.RecordBatch] = []
                self._emit_right(places, first, count, outputs)
                for output in outputs:
                    self._emitted += output.num_rows
                    yield output

    def _emit_right(
        self, places: Places, low: int, high: int, outputs: list[pa.RecordBatch]
    ) -> None:
        """Append the batch of right rows without a left one."""
        rows, columns = high - low, self._layout
        try:
            arrays = [
                pa.nulls(rows, field.type)
                if index not in columns.coalesced
                else self._rows.gather(places, low, high, [columns.coalesced[index]], False)[0]
                for index, field in zip(columns.left, columns.schema, strict=False)
            ]
            arrays += self._rows.gather(places, low, high, columns.right, False)
        except OverflowError:
            if rows == 1:
                raise
            middle = (low + high) // 2
            self._emit_right(places, low, middle, outputs)
            self._emit_right(places, middle, high, outputs)
        else:
            for index in columns.coalesced:
                arrays[index] = arrays[index].cast(columns.schema.field(index).type)
            outputs.append(self._batch(arrays))

    def _select(self, batch: pa.RecordBatch, start: int, stop: int, gate: Gate) -> Progress:
        """Semi and anti joins: the left rows whose key is there, or is not."""
        cursor, filled = start, 0
        for first, end in self._lookups(
            LEFT, batch, start, min(stop, start + OUTPUT_ROWS), gate, PROBE_ROWS
        ):
            filled += select_present(
                self._ids, self._how == "semi", 0, end - first, self._left[filled:], first
            )
            cursor = end
        status = DONE if cursor == stop else FULL if cursor - start == OUTPUT_ROWS else STOPPED
        if filled == 0:
            return Progress(status, cursor)
        if filled == cursor - start:
            arrays = batch.slice(start, filled).columns
        else:
            source = ChunkedRows(self._inputs[LEFT])
            source.append(batch)
            arrays = source.gather(self._left, 0, filled)
        return Progress(status, cursor, [self._batch(arrays)])
