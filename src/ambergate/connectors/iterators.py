"""Rows of Python iterables, or of the iterables that a function returns."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar

import pyarrow as pa

from ambergate.connectors.base import Conjunct, chosen, close, pieces, plain_schema
from ambergate.connectors.rows import RowBatcher, inferred_schema
from ambergate.errors import InputError

__all__ = ["FromIterable"]

NAME = "from_iter"
LOOK_ROWS = 1_000
"""Rows from which a schema is inferred."""
LOOK_NS = 200_000_000
"""Rows that come slowly are not waited for longer, once every column has shown a value."""
PATIENCE_NS = 20_000_000
"""After so long the rows that have come are handed on: a slow generator shall not hold them."""


@dataclass(frozen=True, slots=True, eq=False)
class FromIterable:
    """Rows of an iterable; one task.

    Parameters
    ----------
    source : an iterable of dicts, of tuples in schema order, or of Arrow batches; or ``fn()``, or
        ``fn(offset)`` which begins with the row of that number (told apart by one required
        positional parameter); a function must return a fresh iterable at every call
    schema : columns and types; without it they are inferred from the first 1,000 rows

    Raises
    ------
    InputError
        No rows to infer from, a column of nothing but None, or rows of different shape.
    """

    source: Any
    schema: pa.Schema | None = None
    in_caller: bool = field(init=False)
    takes_offset: bool = field(init=False)

    kind: ClassVar[str] = "from_iter"
    skips: ClassVar[bool] = False

    def __post_init__(self) -> None:
        source, takes_offset = self.source, False
        if isinstance(source, Iterable):
            if not isinstance(source, Sized) or iter(source) is source:
                source = _Once(iter(source))
        elif callable(source):
            takes_offset = _takes_offset(source)
        else:
            raise InputError(
                NAME,
                f"expected an iterable or a function, found {type(source).__name__}",
                None,
                "give a list, a generator, or a function that returns one",
            )
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "in_caller", isinstance(source, _Once))
        object.__setattr__(self, "takes_offset", takes_offset)
        schema = self.schema
        if schema is None:
            schema = inferred_schema(NAME, self._first_rows())
        object.__setattr__(self, "schema", plain_schema(NAME, schema))

    def __getstate__(self) -> tuple[Any, ...]:
        """What travels to a worker: not an iterator, which is read where it is."""
        source = None if self.in_caller else self.source
        return source, self.schema, self.in_caller, self.takes_offset

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        names = ("source", "schema", "in_caller", "takes_offset")
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    def tasks(self, wanted: int) -> int:
        """See Source; rows of an iterable come one after the other."""
        return 1

    def open(
        self,
        task: int,
        tasks: int,
        columns: tuple[str, ...] | None = None,
        predicate: Sequence[Conjunct] = (),
        batch_rows: int = 32_768,
        offset: int = 0,
    ) -> RowReader:
        """See Source; ``offset`` is the number of rows to leave out at the beginning."""
        batcher = RowBatcher(NAME, self.schema, chosen(self.schema, columns), offset)
        return RowReader(self._rows(offset), batcher, batch_rows)

    def _rows(self, offset: int) -> Iterator[Any]:
        source = self.source
        if isinstance(source, _Once):
            rows = source.take()
        elif self.takes_offset:
            return _iterator(source(offset))
        elif callable(source):
            rows = _iterator(source())
        else:
            rows = iter(source)
        return islice(rows, offset, None) if offset else rows

    def _check_fresh(self, rows: Iterator[Any]) -> None:
        if self._rows(0) is rows:
            raise InputError(
                NAME,
                "the function returned the same iterator twice, of which rows are gone already",
                None,
                "return a fresh one at every call",
            )

    def _first_rows(self) -> list[Any]:
        if isinstance(self.source, _Once):
            return self.source.look()
        rows = self._rows(0)
        try:
            seen = _look(rows)
            if callable(self.source) and not inspect.isgenerator(rows):
                self._check_fresh(rows)
            return seen
        finally:
            close(rows)


def _look(rows: Iterator[Any]) -> list[Any]:
    """The first rows: enough to know the columns by, but without waiting long for them."""
    seen: list[Any] = []
    until = time.perf_counter_ns() + LOOK_NS
    for row in rows:
        seen.append(row)
        if len(seen) >= LOOK_ROWS or (time.perf_counter_ns() > until and _all_shown(seen)):
            break
    return seen


def _all_shown(rows: list[Any]) -> bool:
    shown: dict[Any, bool] = {}
    for row in rows:
        for name, value in row.items() if isinstance(row, Mapping) else ():
            shown[name] = shown.get(name, False) or value is not None
    return all(shown.values())


def _joined(seen: list[Any], rows: Iterator[Any]) -> Iterator[Any]:
    """``seen``, then ``rows``, which are closed with it."""
    try:
        yield from seen
        yield from rows
    finally:
        if hasattr(rows, "close"):
            rows.close()


class _Once:
    """An iterator that can be looked into without losing rows, and run through only once."""

    def __init__(self, rows: Iterator[Any]):
        self._rows, self._taken = rows, False
        self._seen: list[Any] = []

    def look(self) -> list[Any]:
        """The first rows; they will come again."""
        self._seen = [] if self._rows is None else _look(self._rows)
        return self._seen

    def take(self) -> Iterator[Any]:
        """All rows; raises at the second time, when they are gone."""
        if self._taken:
            raise InputError(
                NAME,
                "the iterator was run through by an earlier job",
                None,
                "give a function that returns a fresh one",
            )
        self._taken = True
        rows, self._rows = self._rows, iter(())
        seen, self._seen = self._seen, []
        return _joined(seen, rows) if seen else rows


class RowReader:
    """Collects rows to batches: full ones, or what came in 20 ms."""

    def __init__(self, rows: Iterator[Any], batcher: RowBatcher, batch_rows: int):
        self._rows, self._batcher, self._batch_rows = rows, batcher, batch_rows
        self._pieces: Iterator[pa.RecordBatch] = iter(())
        self._ended = False
        self._table: pa.RecordBatch | pa.Table | None = None  # that came instead of a row
        self._raised: Exception | None = None  # by the iterable, after rows not yet handed on

    def read(self) -> pa.RecordBatch | None:
        """See Reader; what the iterable raises comes after the rows before it."""
        while True:
            piece = next(self._pieces, None)
            if piece is not None:
                return piece
            if self._raised is not None:
                raised, self._raised = self._raised, None
                raise raised
            if self._table is not None:
                table, self._table = self._table, None
                self._pieces = self._batcher.pieces_of(table, self._batch_rows)
            elif self._ended:
                return None
            else:
                made = self._batcher.batch(self._collect())
                self._pieces = pieces(made, self._batch_rows)

    def _collect(self) -> list[Any]:
        collected: list[Any] = []
        clock = time.perf_counter_ns
        until = clock() + PATIENCE_NS
        try:
            for row in self._rows:
                if isinstance(row, pa.RecordBatch | pa.Table):
                    self._table = row
                    return collected
                collected.append(row)
                if len(collected) >= self._batch_rows or clock() > until:
                    return collected
        except Exception as error:
            if not collected:
                raise
            self._raised = error
        self._ended = True
        return collected

    def close(self) -> None:
        """See Reader."""
        self._ended, self._pieces = True, iter(())
        close(self._rows)

    def describe(self) -> str:
        """See Reader."""
        return f"{NAME}, row {self._batcher.rows}"


def _iterator(returned: Any) -> Iterator[Any]:
    if not isinstance(returned, Iterable):
        raise InputError(
            NAME,
            f"the function returned {type(returned).__name__}, which is not iterable",
            None,
            "return a list or a generator of rows",
        )
    return iter(returned)


def _takes_offset(fn: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):  # a builtin without a signature
        return False
    required = [
        each
        for each in parameters
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        and each.default is each.empty
    ]
    if len(required) > 1:
        raise InputError(
            NAME,
            f"the function needs {len(required)} arguments",
            None,
            "it is called as fn() or fn(offset)",
        )
    return len(required) == 1
