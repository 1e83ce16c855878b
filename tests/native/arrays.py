"""Hypothesis strategies: Arrow arrays and batches with nulls, odd values and non-zero offsets.

``VALUES`` are of the whole range of each type; ``column_strategies`` has few, which meet.
"""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
from hypothesis import strategies as st

TEXT = st.text(st.sampled_from("aé漢\x00 z"), max_size=40)
FLOATS = st.sampled_from([0.0, -0.0, float("nan"), float("inf"), 1.5, -2.0]) | st.floats(width=32)

VALUES: dict[pa.DataType, st.SearchStrategy] = {
    **{
        getattr(pa, f"int{bits}")(): st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)
        for bits in (8, 16, 32, 64)
    },
    **{getattr(pa, f"uint{bits}")(): st.integers(0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
    pa.bool_(): st.booleans(),
    pa.float32(): FLOATS,
    pa.float64(): FLOATS,
    pa.string(): TEXT,
    pa.large_string(): TEXT,
    pa.binary(): st.binary(max_size=40),
    pa.large_binary(): st.binary(max_size=40),
    pa.binary(3): st.binary(min_size=3, max_size=3),
    pa.decimal128(20, 2): st.integers(-(10**20) + 1, 10**20 - 1).map(
        lambda n: Decimal(n).scaleb(-2)
    ),
    pa.date32(): st.dates(),
    pa.timestamp("us"): st.datetimes(datetime.datetime(1900, 1, 1)),
    pa.null(): st.none(),
}
OTHER_VALUES: dict[pa.DataType, st.SearchStrategy] = {
    pa.list_(pa.int64()): st.lists(st.integers(0, 9), max_size=3),
    pa.struct([("a", pa.int64())]): st.fixed_dictionaries({"a": st.integers(0, 9)}),
    pa.dictionary(pa.int32(), pa.string()): TEXT,
}


@st.composite
def arrays(draw, kinds=tuple(VALUES), rows=None, max_rows=40, of=VALUES | OTHER_VALUES):
    """An array of one of ``kinds``, possibly sliced so that its offset is not zero."""
    kind = draw(st.sampled_from(list(kinds)))
    rows = draw(st.integers(0, max_rows)) if rows is None else rows
    front, back = draw(st.tuples(st.integers(0, 9), st.integers(0, 3)))
    values = of[kind]
    if draw(st.booleans()):
        values = st.none() | values
    total = front + rows + back
    cells = draw(st.lists(values, min_size=total, max_size=total))
    return pa.array(cells, kind).slice(front, rows)


@st.composite
def batches(draw, kinds=tuple(VALUES), max_columns=4, max_rows=40):
    """A batch of one column at least; the columns have offsets of their own."""
    rows = draw(st.integers(0, max_rows))
    count = draw(st.integers(1, max_columns))
    columns = [draw(arrays(kinds, rows)) for _ in range(count)]
    return pa.RecordBatch.from_arrays(columns, names=[f"c{index}" for index in range(count)])
