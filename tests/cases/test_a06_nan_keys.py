"""A06: every NaN is one key, whatever its bits, its batch and its task; null is another."""

import math
import struct

import pyarrow as pa
import pytest

import ambergate as ag
from tests.cases.conftest import bag

OTHER = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0123))[0]
DIVIDED = math.inf - math.inf  # x86 sets the sign of such a NaN
VALUES = pa.array([DIVIDED, float("nan"), OTHER, 1.0, None, None])
TABLE = pa.table({"k": VALUES, "v": [1, 2, 10, 3, 4, 5]})


def test_the_bits_do_differ():
    bits = {struct.pack("<d", value.as_py()) for value in VALUES[:3]}
    assert len(bits) > 1


def test_three_groups(everywhere):
    table = everywhere(ag.from_arrow(TABLE).group_by("k").agg(total=ag.sum("v")))
    assert bag(table) == ["(1.0, 3)", "(None, 9)", "(nan, 13)"]


def test_running_and_distinct(everywhere):
    stream = ag.from_arrow(TABLE, parallelism=1)
    assert everywhere(stream.distinct("k")).num_rows == 3
    table = everywhere(stream.group_by("k").running(total=ag.sum("v")).agg(most=ag.max("total")))
    assert table.to_pylist() == [{"most": 13}]


@pytest.mark.parametrize("how", ["inner", "full"])
def test_a_join_matches_nan_with_nan(everywhere, how):
    right = ag.from_arrow({"k": [float("nan"), 1.0], "w": ["p", "q"]})
    table = everywhere(ag.from_arrow(TABLE).join(right, on="k", how=how).select("v", "w"))
    matched = ["(1, 'p')", "(10, 'p')", "(2, 'p')", "(3, 'q')"]
    unmatched = ["(4, None)", "(5, None)"] if how == "full" else []
    assert bag(table) == sorted(matched + unmatched)


def test_the_naive_way_has_three_keys_of_nan():
    assert len({value.as_py() for value in VALUES}) == 5
