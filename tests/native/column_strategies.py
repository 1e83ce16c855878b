"""Columns of every orderable type: nulls, NaN, -0.0, empty and non-ASCII text, sliced arrays."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from tests.native.arrays import arrays as arrays_of

TEXT = st.one_of(
    st.text(alphabet="ab\0é", max_size=4), st.text(alphabet="aß", min_size=7, max_size=10)
)
BYTES = st.binary(max_size=3) | st.binary(min_size=8, max_size=9)
FLOATS = st.sampled_from(
    [0.0, -0.0, 1.5, -1.5, float("inf"), float("-inf"), float("nan"), -float("nan"), 5e-324]
)


def integers(bits: int, signed: bool) -> st.SearchStrategy[int]:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return st.sampled_from([low, high]) | st.integers(max(low, -3), min(high, 3))


TYPES: dict[pa.DataType, st.SearchStrategy] = {
    pa.int8(): integers(8, True),
    pa.int16(): integers(16, True),
    pa.int32(): integers(32, True),
    pa.int64(): integers(64, True),
    pa.uint8(): integers(8, False),
    pa.uint16(): integers(16, False),
    pa.uint32(): integers(32, False),
    pa.uint64(): integers(64, False),
    pa.float32(): FLOATS.map(lambda value: float(np.float32(value))),
    pa.float64(): FLOATS,
    pa.bool_(): st.booleans(),
    pa.string(): TEXT,
    pa.large_string(): TEXT,
    pa.binary(): BYTES,
    pa.large_binary(): BYTES,
    pa.binary(3): st.binary(min_size=3, max_size=3),
    pa.timestamp("us"): st.integers(-2, 2),
    pa.date32(): st.integers(-2, 2),
    pa.duration("ns"): st.integers(-2, 2).map(lambda value: value * 1000),
    pa.decimal128(38, 2): st.sampled_from(
        [Decimal(0), Decimal("-0.01"), Decimal(2) ** 70, -(Decimal(2) ** 70), Decimal(2) ** 70 + 1]
    ),
    pa.null(): st.none(),
}


def arrays(type_: pa.DataType, rows: int) -> st.SearchStrategy[pa.Array]:
    """An array of ``type_`` with few values, one in two with nulls, most with an offset."""
    return arrays_of((type_,), rows, of=TYPES)


@st.composite
def tables(
    draw: st.DrawFn, columns: int = 3, max_rows: int = 60, types: list[pa.DataType] | None = None
) -> list[pa.Array]:
    """From one to ``columns`` columns of the same number of rows."""
    rows = draw(st.integers(0, max_rows))
    chosen = draw(st.lists(st.sampled_from(types or list(TYPES)), min_size=1, max_size=columns))
    return [draw(arrays(type_, rows)) for type_ in chosen]
