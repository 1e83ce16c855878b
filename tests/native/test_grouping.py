"""Rows to groups, against plain Python."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.kernels.grouping import Grouper
from ambergate.kernels.reference import grouping as reference
from ambergate_native.gate import DONE, STOPPED, Gate
from tests.native.column_strategies import TYPES, tables


def open_gate() -> Gate:
    gate = Gate()
    gate.reset()
    gate.at(0)
    return gate


def group(grouper, columns, stops=(), method="assign", **options):
    """The groups of all rows, with the gate closing at ``stops``."""
    rows, gate, made, cursor = len(columns[0]), open_gate(), [], 0
    for stop in [*sorted(min(stop, rows) for stop in stops), rows]:
        gate.set_limit(stop)
        ids = np.full(rows - cursor, -7, np.int64)
        call = getattr(grouper, method)
        status, end = call(columns, cursor, rows, gate, ids, **options)
        assert (status, end) == (DONE if stop == rows else STOPPED, max(stop, cursor))
        assert (ids[end - cursor :] == -7).all()
        made += ids[: end - cursor].tolist()
        cursor = end
    return made


@given(columns=tables(max_rows=90), stops=st.lists(st.integers(0, 90), max_size=4))
@settings(max_examples=150, deadline=None)
def test_stopping_at_any_row_loses_and_repeats_nothing(columns, stops):
    grouper, known = Grouper([column.type for column in columns]), {}
    assert group(grouper, columns, stops) == reference.assign(columns, known)
    assert grouper.count == len(known)
    keys = grouper.keys(0, grouper.count)
    for key, column in zip(keys, columns, strict=True):
        key.validate(full=True)
        assert key.type == column.type
    assert reference.row_keys(keys) == list(known)
    half = grouper.keys(grouper.count // 2, grouper.count)
    assert reference.row_keys(half) == list(known)[grouper.count // 2 :]


@given(draw=st.data(), columns=st.integers(1, 3), nulls_match=st.booleans())
@settings(max_examples=100, deadline=None)
def test_finding_makes_no_group(draw, columns, nulls_match):
    types = draw.draw(st.lists(st.sampled_from(list(TYPES)), min_size=columns, max_size=columns))
    from tests.native.column_strategies import arrays

    first = [draw.draw(arrays(type_, 12)) for type_ in types]
    other = [draw.draw(arrays(type_, 30)) for type_ in types]
    grouper, known = Grouper(types), {}
    group(grouper, first)
    reference.assign(first, known)
    found = group(grouper, other, [7], "find", nulls_match=nulls_match)
    assert found == reference.find(other, known, nulls_match)
    assert grouper.count == len(known)


@given(columns=tables(max_rows=60), cut=st.integers(0, 60))
@settings(max_examples=80, deadline=None)
def test_groups_forgotten_come_again(columns, cut):
    types, rows = [column.type for column in columns], len(columns[0])
    cut = min(cut, rows)
    grouper = Grouper(types)
    group(grouper, [column.slice(0, cut) for column in columns])
    before = grouper.count
    group(grouper, columns)
    grouper.truncate(before)
    assert grouper.count == before
    known: dict = {}
    reference.assign([column.slice(0, cut) for column in columns], known)
    found = group(grouper, columns, method="find", nulls_match=True)
    assert found == reference.find(columns, known, True)
    assert group(grouper, columns) == reference.assign(columns)


@given(columns=tables(max_rows=60))
@settings(max_examples=50, deadline=None)
def test_a_loaded_table_is_the_one_exported(columns):
    grouper = Grouper([column.type for column in columns])
    group(grouper, columns)
    other = Grouper(grouper.types)
    other.load(grouper.export())
    assert other.count == grouper.count
    assert group(other, columns) == reference.assign(columns)


@pytest.mark.parametrize(
    "keys",
    [
        np.arange(60_000, dtype=np.int64) * 2**20,
        np.arange(60_000, dtype=np.int64) << 44,
        [f"{number:b}" for number in range(60_000)],
        [f"a key of several words {number}" for number in range(60_000)],
    ],
    ids=["low bits zero", "high bits only", "short and long texts", "long texts"],
)
def test_a_table_that_grows_keeps_its_groups(keys):
    column = pa.array(keys)
    grouper = Grouper([column.type])
    assert group(
        grouper,
        [
            column,
        ][:1],
        [100, 59_999],
    ) == list(range(60_000))
    assert group(grouper, [column]) == list(range(60_000))
    assert grouper.keys(0, 60_000)[0].equals(column)
    grouper.truncate(1000)
    assert group(grouper, [column], method="find") == [*range(1000), *[-1] * 59_000]
    grouper.clear()
    assert group(grouper, [column.slice(5, 10)]) == list(range(10))


def test_nans_of_any_payload_are_one_key_and_so_are_the_zeros():
    bits = np.array([0x7FF8 << 48, 0xFFF8 << 48, 0x7FF8 << 48 | 7, 0, 1 << 63], np.uint64)
    grouper = Grouper([pa.float64()])
    assert group(grouper, [pa.array(bits.view(np.float64))]) == [0, 0, 0, 1, 1]
    narrow = np.array([0x7FC00000, 0xFFC00001, 0, 1 << 31], np.uint32).view(np.float32)
    both = [pa.array(narrow), pa.array(["", "", "", ""])]
    assert group(Grouper([pa.float32(), pa.string()]), both) == [0, 0, 1, 1]


def test_texts_are_not_confused_with_one_another():
    texts = ["", "\0", "\0\0", "abcdefg", "abcdefg\0", "abcdefgh", None, "é", "e\u0301"]
    column = pa.array(texts)
    assert group(Grouper([pa.string()]), [column]) == list(range(9))
    pairs = [pa.array(["a", "ab", "", "abc"]), pa.array(["bc", "c", "abc", ""])]
    assert group(Grouper([pa.string(), pa.string()]), pairs) == [0, 1, 2, 3]


def test_what_lies_under_a_null_does_not_matter():
    values = pa.array([1, 2, 3, 4])
    holes = pa.Array.from_buffers(pa.int64(), 4, [pa.py_buffer(b"\x09"), values.buffers()[1]])
    assert group(Grouper([pa.int64()]), [holes]) == [0, 1, 1, 2]
    assert group(Grouper([pa.int64(), pa.bool_()]), [holes, pa.array([True] * 4)]) == [0, 1, 1, 2]


def test_unfit_arguments_are_refused():
    grouper, gate, ids = Grouper([pa.int64()]), open_gate(), np.zeros(3, np.int64)
    column = pa.array([1, 2, 3])
    with pytest.raises(TypeError, match="key column 0: values of type list<item: int64> cannot"):
        Grouper([pa.list_(pa.int64())])
    with pytest.raises(TypeError, match="key column 0 is of type int32"):
        grouper.assign([column.cast(pa.int32())], 0, 3, gate, ids)
    with pytest.raises(ValueError, match="2 key columns, expected 1"):
        grouper.assign([column, column], 0, 3, gate, ids)
    with pytest.raises(ValueError, match="rows 0:4 are outside 0:3"):
        grouper.assign([column], 0, 4, gate, ids)
    with pytest.raises(ValueError, match="ids holds 2 of 3 rows"):
        grouper.assign([column], 0, 3, gate, ids[:2])
    with pytest.raises(ValueError, match="groups 0:1 are outside 0:0"):
        grouper.keys(0, 1)
    assert grouper.count == 0
