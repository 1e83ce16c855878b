"""Rows picked from chunks, against plain Python."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.kernels.gathering import ChunkedRows, place
from ambergate.kernels.reference import sorting as reference
from ambergate_native.gathering import Chunks, gather_values
from tests.native.column_strategies import TYPES, arrays


@given(draw=st.data(), type_=st.sampled_from(list(TYPES)))
@settings(max_examples=150, deadline=None)
def test_gathering_picks_the_rows_at_the_places(draw, type_):
    chunks = [draw.draw(arrays(type_, rows)) for rows in draw.draw(st.lists(st.integers(0, 9)))]
    rows = ChunkedRows(pa.schema({"x": type_}))
    for chunk in chunks:
        rows.append(pa.record_batch([chunk], names=["x"]))
    known = [place(c, r) for c, chunk in enumerate(chunks) for r in range(len(chunk))]
    optional = draw.draw(st.booleans())
    places = draw.draw(
        st.lists(st.sampled_from([*known, *([-1] if optional else [])]), max_size=40)
        if known or optional
        else st.just([])
    )
    start = len(places) // 4
    picked = rows.gather(np.array(places, np.int64), start, len(places), optional=optional)[0]
    picked.validate(full=True)
    assert picked.type == type_
    expected = pa.array(reference.gather(chunks, places[start:]), type_)
    assert str(picked.to_pylist()) == str(expected.to_pylist())  # NaN is not NaN


@pytest.mark.parametrize(
    "array",
    [
        pa.array([[1], None, [2, 3]]),
        pa.array([{"a": 1}, None, {"a": 2}]),
        pa.array(["a", None, "b"]).dictionary_encode(),
    ],
    ids=lambda array: str(array.type.id),
)
def test_other_types_are_gathered_too(array):
    rows = ChunkedRows(pa.schema({"x": array.type}))
    for chunk in (array, array.slice(1), array.slice(0, 0)):
        rows.append(pa.record_batch([chunk], names=["x"]))
    places = np.array([place(1, 1), place(0, 0), -1, place(0, 1), place(1, 1)])
    picked = rows.gather(places, 0, 5, optional=True)[0]
    values = array.to_pylist()
    assert picked.to_pylist() == [values[2], values[0], None, values[1], values[2]]
    assert picked.type == array.type


def test_texts_beyond_32_bit_offsets_are_refused():
    long = pa.array(["x" * (1 << 20)])
    rows = ChunkedRows(pa.schema({"x": pa.string()}))
    rows.append(pa.record_batch([long], names=["x"]))
    with pytest.raises(OverflowError, match="2048 texts of type string"):
        rows.gather(np.zeros(2048, np.int64), 0, 2048)


def test_short_buffers_and_unlike_chunks_are_refused():
    chunks = Chunks()
    chunks.append(pa.array([1, 2]))
    with pytest.raises(ValueError, match="values of 8 bytes is too short, 16 are needed"):
        gather_values(chunks, np.array([0, 1]), 0, 2, bytearray(8))
    with pytest.raises(TypeError, match="of type float among others"):
        chunks.append(pa.array([1.5, 2.5], pa.float32()))
