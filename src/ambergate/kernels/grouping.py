"""Rows to groups: dense numbers for keys, in the order in which keys first come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from ambergate.kernels.gathering import has_text, is_native
from ambergate_native.gate import Gate
from ambergate_native.grouping import GroupTable

__all__ = ["Grouper", "can_be_key"]

PIECE_GROUPS = 1 << 20  # of one exported piece, at most


def can_be_key(type_: pa.DataType) -> bool:
    """Whether rows can be grouped by values of this type.

    >>> can_be_key(pa.string()), can_be_key(pa.list_(pa.int64()))
    (True, False)
    """
    return pa.types.is_null(type_) or is_native(type_)


class Grouper(GroupTable):
    """A table of groups that knows the types of its keys; see ``GroupTable``.

    Parameters
    ----------
    types : the type of each key column

    Raises
    ------
    TypeError
        Values of a type cannot be keys.

    Examples
    --------
    >>> grouper, gate, ids = Grouper([pa.string()]), Gate(), np.empty(4, np.int64)
    >>> gate.reset()
    >>> grouper.assign([pa.array(["b", "a", None, "b"])], 0, 4, gate, ids)
    (0, 4)
    >>> ids.tolist(), grouper.keys(0, 3)[0].to_pylist()
    ([0, 1, 2, 0], ['b', 'a', None])
    """

    types: tuple[pa.DataType, ...]

    def __new__(cls, types: Sequence[pa.DataType]) -> Grouper:
        """Check the types, and make the native table for them."""
        for index, type_ in enumerate(types):
            if not can_be_key(type_):
                raise TypeError(f"key column {index}: values of type {type_} cannot be keys")
        grouper = super().__new__(cls, [pa.nulls(0, type_) for type_ in types])
        grouper.types = tuple(types)
        return grouper

    def keys(self, first: int, last: int) -> list[pa.Array]:
        """The keys of groups ``first`` to ``last - 1``, one array for each key column.

        NaN comes out as the quiet NaN and -0.0 as 0.0, whatever came first.

        Raises
        ------
        OverflowError
            The texts of a column do not fit its 32-bit offsets: ask for fewer groups.
        """
        arrays = []
        for index, type_ in enumerate(self.types):
            if pa.types.is_null(type_):
                arrays.append(pa.nulls(last - first, type_))
                continue
            validity = self.validity(index, first, last)
            if has_text(type_):
                parts = self.texts(index, first, last)
            else:
                parts = (self.values(index, first, last),)
            buffers = [None if part is None else pa.py_buffer(part) for part in (validity, *parts)]
            arrays.append(pa.Array.from_buffers(type_, last - first, buffers))
        return arrays

    def export(self) -> list[list[pa.Array]]:
        """All keys, in pieces, each as ``keys`` gives them."""
        pieces, first = [], 0
        while first < self.count:
            last = min(first + PIECE_GROUPS, self.count)
            while True:
                try:
                    pieces.append(self.keys(first, last))
                    break
                except OverflowError:
                    last = first + max((last - first) // 2, 1)
            first = last
        return pieces

    def load(self, pieces: Iterable[list[pa.Array]]) -> None:
        """Take what ``export`` gave; the groups get the numbers they had."""
        self.clear()
        gate = Gate()
        gate.reset()
        for piece in pieces:
            rows = len(piece[0])
            self.assign(piece, 0, rows, gate, np.empty(rows, np.int64))
