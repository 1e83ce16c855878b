"""All kinds of join against nested loops in plain Python."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ambergate as ag
from tests.streams.everywhere import assert_rows

KEYS = st.none() | st.integers(0, 3)
LEFT = st.lists(st.tuples(KEYS, st.sampled_from("xyz")), max_size=12)
RIGHT = st.lists(st.tuples(KEYS, st.integers(0, 9)), max_size=12)
HOWS = ["inner", "left", "right", "full", "semi", "anti"]


def side(rows, *names):
    of = {"k": pa.int64(), "m": pa.int64(), "v": pa.string(), "w": pa.int64()}
    schema = pa.schema([(name, of[name]) for name in names])
    return ag.from_arrow(
        pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema=schema)
    )


def matches(one, other):
    return one is not None and one == other


def joined(left, right, how):
    """Rows (k, v, w) as the join gives them; (k, v) of semi and anti."""
    if how in ("semi", "anti"):
        wanted = how == "semi"
        return [row for row in left if any(matches(row[0], key) for key, _ in right) == wanted]
    rows = [(k, v, w) for k, v in left for key, w in right if matches(k, key)]
    if how in ("left", "full"):
        rows += [(k, v, None) for k, v in left if not any(matches(k, key) for key, _ in right)]
    if how in ("right", "full"):
        rows += [(k, None, w) for k, w in right if not any(matches(k, key) for key, _ in left)]
    return rows


@pytest.mark.parametrize("how", HOWS)
@settings(max_examples=15, deadline=None)
@given(left=LEFT, right=RIGHT)
def test_by_one_key(how, left, right):
    made = side(left, "k", "v").join(side(right, "k", "w"), on="k", how=how)
    assert_rows(made, joined(left, right, how))


@pytest.mark.parametrize("how", ["inner", "left"])
@settings(max_examples=10, deadline=None)
@given(left=LEFT, right=RIGHT)
def test_by_keys_of_two_names(how, left, right):
    made = side(left, "k", "v").join(side(right, "m", "w"), left_on="k", right_on="m", how=how)
    assert_rows(made.select("k", "v", "w"), joined(left, right, how))


@settings(max_examples=10, deadline=None)
@given(rows=LEFT)
def test_by_two_keys_with_itself(rows):
    stream = side(rows, "k", "v")
    expected = [row for row in rows for other in rows if row == other and row[0] is not None]
    assert_rows(stream.join(stream, on=["k", "v"]), expected)


def test_a_taken_name_gets_the_suffix(backend):
    left, right = ag.from_arrow({"k": [1], "v": [2]}), ag.from_arrow({"k": [1], "v": [3]})
    made = left.join(right, on="k")
    assert made.schema.names == ["k", "v", "v_right"]
    made = left.join(right, on="k", suffix="_2", parallelism=2, name="both")
    assert made.collect(backend=backend).to_pylist() == [{"k": 1, "v": 2, "v_2": 3}]


def test_a_suffix_that_clashes_is_refused():
    left = ag.from_arrow({"k": [1], "v": [2], "v_right": [4]})
    with pytest.raises(ag.PlanError, match=r"v_right.*suffix"):
        left.join(ag.from_arrow({"k": [1], "v": [3]}), on="k")


def test_many_matches_of_one_key(backend):
    left = ag.from_arrow({"k": [1] * 500, "v": list(range(500))})
    right = ag.from_arrow({"k": [1] * 400, "w": list(range(400))})
    made = left.join(right, on="k").agg(n=ag.count(), t=ag.sum("v"), u=ag.sum("w"))
    found = made.collect(backend=backend, workers=2, batch_rows=7).to_pylist()
    assert found == [{"n": 200_000, "t": 124_750 * 400, "u": 79_800 * 500}]
