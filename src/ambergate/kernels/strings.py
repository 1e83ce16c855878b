"""String columns cut into lists of strings by the native kernel."""

from __future__ import annotations

import pyarrow as pa

from ambergate_native.columns import Column as NativeColumn
from ambergate_native.gate import Gate
from ambergate_native.strings import split

__all__ = ["split", "split_rows"]


def split_rows(
    strings: pa.Array, separator: str, start: int, stop: int, gate: Gate
) -> tuple[int, int, pa.Array]:
    """Rows ``start`` to the returned cursor of ``strings`` as lists of their parts.

    Returns
    -------
    status, cursor, lists
        A list array with the type of ``strings`` as its values' type.

    Examples
    --------
    >>> gate = Gate(); gate.reset()
    >>> split_rows(pa.array(["to be or", "", None]), " ", 0, 3, gate)[2].to_pylist()
    [['to', 'be', 'or'], [''], None]
    """
    status, cursor, validity, nulls, offsets, child_offsets, child_bytes, parts = split(
        NativeColumn(strings), separator.encode(), start, stop, gate, pa.allocate_buffer
    )
    child = pa.Array.from_buffers(strings.type, parts, [None, child_offsets, child_bytes], 0)
    lists = pa.Array.from_buffers(
        pa.list_(strings.type), cursor - start, [validity, offsets], nulls, children=[child]
    )
    return status, cursor, lists
