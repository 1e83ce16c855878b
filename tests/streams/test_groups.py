"""Aggregates per key, over all rows, and running, against plain Python."""

import statistics

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import ambergate as ag
from ambergate import col
from tests.streams.everywhere import assert_rows

ROWS = st.lists(
    st.tuples(st.none() | st.sampled_from("ab"), st.none() | st.integers(-9, 9)), max_size=15
)
few = settings(max_examples=20, deadline=None)
AGGREGATES = {
    "rows": ag.count(),
    "n": col("v").count(),
    "total": ag.sum("v"),
    "least": ag.min("v"),
    "most": col("v").max(),
    "average": ag.mean("v"),
    "variance": ag.var("v"),
    "deviation": ag.std("v"),
    "kinds": ag.count_distinct("v"),
    "doubled": (col("v") * 2).sum(),
}


def stream(rows):
    schema = pa.schema({"k": pa.string(), "v": pa.int64()})
    return ag.from_arrow(pa.Table.from_pylist([{"k": k, "v": v} for k, v in rows], schema=schema))


def oracle(values):
    """The aggregates over one group's values, in the order above."""
    known = [value for value in values if value is not None]
    several = len(known) > 1
    return (
        len(values),
        len(known),
        sum(known) if known else None,
        min(known, default=None),
        max(known, default=None),
        sum(known) / len(known) if known else None,
        statistics.variance(known) * 1.0 if several else None,
        statistics.stdev(known) if several else None,
        len(set(known)),
        2 * sum(known) if known else None,
    )


def by_key(rows):
    groups = {}
    for key, value in rows:
        groups.setdefault(key, []).append(value)
    return groups


@few
@given(ROWS)
def test_one_row_per_key(rows):
    expected = [(key, *oracle(values)) for key, values in by_key(rows).items()]
    assert_rows(stream(rows).group_by("k").agg(**AGGREGATES), expected)


@few
@given(ROWS)
def test_one_row_over_all_also_over_none(rows):
    assert_rows(stream(rows).agg(**AGGREGATES), [oracle([value for _, value in rows])])


@few
@given(ROWS)
def test_a_row_per_row(rows):
    so_far, expected = {}, []
    for key, value in rows:
        values = so_far.setdefault(key, [])
        values.append(value)
        known = [each for each in values if each is not None]
        expected.append((key, value, len(values), sum(known) if known else None))
    made = stream(rows).group_by("k").running(n=ag.count(), t=ag.sum("v"))
    assert_rows(made, expected, settings=[(1, 1), (1, 7)])


@few
@given(ROWS)
def test_order_of_first_last_and_lists(rows):
    made = (
        stream(rows)
        .group_by("k")
        .agg(first=ag.first("v"), last=ag.last("v"), all=ag.collect_list("v"))
    )
    expected = [(key, values[0], values[-1], values) for key, values in by_key(rows).items()]
    assert_rows(made, expected, settings=[(1, 1), (1, 7)])


@few
@given(ROWS)
def test_computed_and_several_keys(rows):
    known = [(k, v) for k, v in rows if v is not None]
    groups = {}
    for k, v in known:
        groups.setdefault((k, v % 2), []).append(v)
    made = (
        stream(known)
        .group_by("k", (col("v") % 2).alias("odd"))
        .agg(n=ag.count(), t=ag.sum("v"), name="totals", parallelism=3)
    )
    assert_rows(made, [(*key, len(values), sum(values)) for key, values in groups.items()])
