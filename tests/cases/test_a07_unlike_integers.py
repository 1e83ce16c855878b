"""A07: keys of unlike types match exactly, or are refused before anything runs."""

import pyarrow as pa
import pytest

import ambergate as ag

BIG = 2**53


def side(value, of, column):
    return ag.from_arrow(pa.table({"k": pa.array([value], of), column: [1]}))


def test_signed_and_unsigned_are_refused():
    with pytest.raises(ag.PlanError) as caught:
        side(BIG, pa.int64(), "v").join(side(BIG + 1, pa.uint64(), "w"), on="k")
    for word in ("'join'", "'k'", "int64", "uint64"):
        assert word in str(caught.value)


def test_integers_and_floats_are_refused():
    with pytest.raises(ag.PlanError) as caught:
        side(BIG + 1, pa.int64(), "v").join(side(float(BIG), pa.float64(), "w"), on="k")
    for word in ("'join'", "'k'", "int64", "double"):
        assert word in str(caught.value)


def test_integers_of_two_widths_match(everywhere):
    assert everywhere(side(7, pa.int32(), "v").join(side(7, pa.int64(), "w"), on="k")).num_rows == 1
    stream = side(7, pa.int8(), "v").join(side(7, pa.int64(), "w"), on="k", how="full")
    assert everywhere(stream).num_rows == 1


def test_texts_and_numbers_are_refused_by_name_and_type():
    left = ag.from_arrow({"a": ["7"]})
    right = ag.from_arrow({"b": [7]})
    with pytest.raises(ag.PlanError) as caught:
        left.join(right, left_on="a", right_on="b", name="both")
    for word in ("'both'", "'a'", "string", "'b'", "int64"):
        assert word in str(caught.value)


def test_the_naive_way_matches_by_rounding():
    assert float(BIG + 1) == float(BIG)
    assert pa.scalar(BIG + 1, pa.int64()).cast(pa.float64(), safe=False).as_py() == BIG
