import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.kernels.hashing import NULL_ROW_HASH, hash_rows, hashable, hashed_rows
from ambergate.kernels.reference import hashing
from tests.native.arrays import VALUES, arrays, batches


def plain(column):
    """Dates and times as their integers, which is what they hash as."""
    if pa.types.is_date32(column.type):
        return column.cast(pa.int32())
    return column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column


@settings(max_examples=100)
@given(batch=batches(), part=st.tuples(st.integers(0, 40), st.integers(0, 40)))
def test_the_hash_is_that_of_the_reference(batch, part):
    start, stop = sorted(min(row, batch.num_rows) for row in part)
    found = hashed_rows(batch.columns, start, stop)
    assert found.tolist() == hashing.hash_rows([plain(c) for c in batch.columns], start, stop)


@settings(max_examples=60)
@given(st.lists(st.integers(-128, 127) | st.none()), st.sampled_from([16, 32, 64]))
def test_integers_hash_alike_in_every_width(values, bits):
    wide = pa.array(values, pa.int64())
    narrow = [pa.array(values, pa.int8()), pa.array(values, getattr(pa, f"int{bits}")())]
    for column in narrow:
        np.testing.assert_array_equal(hashed_rows([column]), hashed_rows([wide]))


def test_equal_values_of_other_types_hash_alike():
    floats = [0.0, -0.0, float("nan"), -float("nan"), 1.5, None]
    double = hashed_rows([pa.array(floats)])
    np.testing.assert_array_equal(double, hashed_rows([pa.array(floats, pa.float32())]))
    np.testing.assert_array_equal(double, hashed_rows([pa.array(floats, pa.float16())]))
    assert double[0] == double[1] and double[2] == double[3] and double[5] == NULL_ROW_HASH
    text = ["", "a", "größe" * 9, None]
    for kind in (pa.large_string(), pa.binary(), pa.string_view()):
        np.testing.assert_array_equal(
            hashed_rows([pa.array(text)]), hashed_rows([pa.array(text).cast(kind)])
        )
    coded = pa.array(text).dictionary_encode()
    np.testing.assert_array_equal(hashed_rows([pa.array(text)]), hashed_rows([coded]))
    assert hashed_rows([pa.array([1], pa.uint64())]) == hashed_rows([pa.array([1], pa.int8())])


def test_pinned_values():
    """A change of these breaks every stored snapshot."""
    columns = [pa.array([0, 1, -1]), pa.array(["", "ambergate", "x" * 33])]
    assert [hex(h) for h in hashed_rows(columns[:1])] == [
        "0xe220a8397b1dcdaf", "0x910a2dec89025cc1", "0xe4d971771b652c20",
    ]  # fmt: skip
    assert [hex(h) for h in hashed_rows(columns)] == [
        "0x8a2d9312b7d73cbf", "0x601cf360fc38f8f8", "0x4dbd4a025eca4c2b",
    ]  # fmt: skip


def test_key_groups_are_filled_evenly():
    rows = np.arange(40_000)
    for values in (rows, rows * 0.5, rows << 32, [f"key{row}" for row in rows]):
        column = pa.array(values)
        counts = np.bincount((hashed_rows([column]) >> np.uint64(57)).astype(int), minlength=128)
        assert counts.min() > 220 and counts.max() < 420


@given(arrays(VALUES, rows=3))
def test_bad_arguments_are_refused_before_anything_is_written(column):
    out = np.zeros(2, np.uint64)
    with pytest.raises(ValueError, match="holds 2 of 3"):
        hash_rows([column], 0, 3, out)
    with pytest.raises(ValueError, match="outside 0:3"):
        hash_rows([column], 2, 4, out)
    assert not out.any()


def test_types_without_a_hash_are_named():
    with pytest.raises(TypeError, match=r"column 'k' of type list<item: int64>.*numbers, text"):
        hashable(pa.array([[1]]), "k")
    with pytest.raises(TypeError, match="column 0"):
        hash_rows([pa.array([[1]])], 0, 1, np.zeros(1, np.uint64))
    with pytest.raises(ValueError, match="one column"):
        hash_rows([], 0, 0, np.zeros(1, np.uint64))
