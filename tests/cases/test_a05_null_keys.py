"""A05: null keys match nothing, and the rows that have them are not lost."""

import pyarrow as pa
import pytest

import ambergate as ag
from tests.sequences import rows_of

LEFT = pa.table({"k": [1, None, None], "v": ["a", "b", "c"]})
RIGHT = pa.table({"k": [1, None], "w": ["x", "y"]})
EXPECTED = {
    "inner": [(1, "a", "x")],
    "left": [(1, "a", "x"), (None, "b", None), (None, "c", None)],
    "right": [(1, "a", "x"), (None, None, "y")],
    "full": [(1, "a", "x"), (None, "b", None), (None, "c", None), (None, None, "y")],
}


def joined(how):
    return ag.from_arrow(LEFT).join(ag.from_arrow(RIGHT), on="k", how=how)


@pytest.mark.parametrize("how", EXPECTED)
def test_each_kind_of_join(everywhere, how):
    expected = sorted(EXPECTED[how], key=repr)
    assert sorted(rows_of(everywhere(joined(how)).select(["k", "v", "w"])), key=repr) == expected


def test_two_equal_rows_without_a_match_stay_two(everywhere):
    left = ag.from_arrow(pa.table({"k": pa.array([None, None], pa.int64()), "v": ["b", "b"]}))
    assert everywhere(left.join(ag.from_arrow(RIGHT), on="k", how="left")).num_rows == 2


def test_a_million_null_keys(backend):
    n = 1_000_000
    left = pa.table({"k": pa.nulls(n, pa.int64()), "v": range(n)})
    stream = ag.from_arrow(left).join(ag.from_arrow(RIGHT), on="k", how="full")
    table = stream.agg(n=ag.count(), total=ag.sum("v")).collect(backend=backend, workers=4)
    assert table.to_pylist() == [{"n": n + 2, "total": n * (n - 1) // 2}]


def test_the_naive_way_has_one_row_too_few():
    naive = {row["k"]: row for row in [*LEFT.to_pylist(), *RIGHT.to_pylist()]}  # keys of a dict
    assert len(naive) < len(EXPECTED["full"])
