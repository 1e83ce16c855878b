"""Keys that are expressions, and aggregates over expressions."""

import ambergate as ag
from ambergate import col

ROWS = ag.from_arrow({"x": [1, 2, 1], "v": [10, 20, 30]})


def groups(grouped, **aggregates):
    rows = grouped.agg(**aggregates).collect(backend="inline").to_pylist()
    return sorted(tuple(row.values()) for row in rows)


def test_a_key_may_be_computed():
    assert groups(ROWS.group_by((col("x") + 1).alias("y")), n=ag.count()) == [(2, 2), (3, 1)]


def test_a_computed_key_may_have_the_name_of_a_keyword():
    for name in ("name", "parallelism", "columns"):
        assert groups(ROWS.group_by((col("x") + 1).alias(name)), n=ag.count()) == [(2, 2), (3, 1)]


def test_an_aggregate_may_be_over_an_expression():
    found = groups(ROWS.group_by("x"), total=(col("v") * 2).sum(), n=ag.count())
    assert found == [(1, 80, 2), (2, 40, 1)]
