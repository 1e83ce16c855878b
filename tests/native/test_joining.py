"""Rows by group and the pairs they make, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.kernels.reference import joining as reference
from ambergate_native.gate import DONE, FULL, STOPPED, Gate
from ambergate_native.joining import CHUNK_ROWS, RowsByGroup, select_present

IDS = st.lists(st.integers(-1, 5), max_size=40)


def dense(keys: list[int]) -> tuple[list[int], dict[int, int]]:
    """Groups in the order of first appearance."""
    groups: dict[int, int] = {}
    return [groups.setdefault(key, len(groups)) for key in keys], groups


def built(keys: list[int]) -> tuple[RowsByGroup, dict[int, int]]:
    ids, groups = dense(keys)
    rows = RowsByGroup()
    middle = len(ids) // 2
    rows.add(np.array(ids, np.int64), 0, middle)
    rows.add(np.array(ids, np.int64), middle, len(ids))
    return rows, groups


@given(
    left=IDS,
    right=st.lists(st.integers(0, 5), max_size=20) | st.permutations(range(6)),
    keep_left=st.booleans(),
    room=st.integers(20, 50),
    stops=st.lists(st.integers(0, 40), max_size=5),
)
@settings(max_examples=200, deadline=None)
def test_pairs_stopped_anywhere_lose_and_repeat_nothing(left, right, keep_left, room, stops):
    rows, groups = built(right)
    ids = np.array([groups.get(key, -1) for key in left], np.int64)
    gate = Gate()
    gate.reset()
    gate.at(0)
    pairs, cursor = [], 0
    mine, other = np.empty(room, np.int64), np.empty(room, np.int64)
    for stop in [*sorted(min(stop, len(left)) for stop in stops), len(left)]:
        gate.set_limit(stop)
        while True:
            before = cursor
            status, cursor, filled, straight = rows.probe(
                ids, cursor, len(left), gate, mine, other, 0, room, keep_left, True
            )
            pairs += zip(mine[:filled].tolist(), other[:filled].tolist(), strict=True)
            assert straight == (mine[:filled].tolist() == list(range(before, cursor)))
            if status != FULL:
                break
        assert cursor == stop and status == (DONE if stop == len(left) else STOPPED)
    how = "left" if keep_left else "inner"
    expected = reference.pairs([(key,) for key in left], [(key,) for key in right], how)
    assert pairs == [(a, -1 if b is None else b) for a, b in expected]
    matched = [int(key in left) for key in groups]
    assert list(rows.matched_groups()) == matched

    places, group, row, rest = np.empty(3, np.int64), 0, -1, []
    while group < rows.groups:
        count, group, row = rows.unmatched(places, group, row)
        rest += places[:count].tolist()
    whole = reference.pairs([(key,) for key in left], [(key,) for key in right], "right")
    assert sorted(rest) == [b for a, b in whole if a is None]
    assert [rows.matches(groups[key]) for key in groups] == [right.count(key) for key in groups]


def test_a_row_number_is_its_place_in_chunks():
    rows = RowsByGroup()
    count = CHUNK_ROWS + 2
    rows.add(np.zeros(count, np.int64), 0, count)
    places = np.empty(count, np.int64)
    rows.unmatched(places, 0, -1)
    assert places[-3:].tolist() == [CHUNK_ROWS - 1, 1 << 32, 1 << 32 | 1]


def test_a_row_that_does_not_fit_leaves_nothing():
    rows, _ = built([0, 0, 0])
    gate, out = Gate(), np.empty(4, np.int64)
    gate.reset()
    ids = np.zeros(2, np.int64)
    status, cursor, filled, _ = rows.probe(ids, 0, 2, gate, out, out.copy(), 0, 4, False, False)
    assert (status, cursor, filled) == (FULL, 1, 3)


@given(ids=IDS, present=st.booleans(), base=st.integers(0, 9))
@settings(max_examples=50, deadline=None)
def test_rows_are_selected_by_presence(ids, present, base):
    start, out = len(ids) // 3, np.empty(len(ids), np.int64)
    array = np.array(ids, np.int64)
    count = select_present(array, present, start, len(ids), out, base)
    expected = [base + row for row in range(start, len(ids)) if (ids[row] >= 0) == present]
    assert out[:count].tolist() == expected


def test_arguments_are_checked():
    rows, _ = built([0, 1])
    with pytest.raises(ValueError, match="group 4 of row 0 is not one of 0 to 2"):
        rows.add(np.array([4]), 0, 1)
    assert rows.rows == 2
    with pytest.raises(ValueError, match="group 2 is not one of"):
        rows.matches(2)
    with pytest.raises(ValueError, match="marks of 1 groups for 2"):
        rows.mark_groups(b"\0")
