"""The same rows at any parallelism, batch size, ring size and backend."""

import pytest

import ambergate as ag
from ambergate import col
from tests.sequences import seq
from tests.streams.everywhere import LOCAL, bag, tables

N = 1500


def names():
    return ag.from_arrow({"key": [0, 3, 5, 5, 11], "label": ["a", "b", "c", "d", "e"]})


def pieces(batch):
    return batch.filter(batch.column("v").to_numpy() % 2 == 0)


STREAMS = {
    "filter": lambda s: s.filter((col("v") > 100) & (col("key") != 3)),
    "filter function": lambda s: s.filter(lambda v, w: v % w == 0, columns=["v", "w"]),
    "select": lambda s: s.select("id", x=col("v") * col("w") // 7, y=col("v") / 3),
    "map": lambda s: s.map(lambda v: v * 2, columns=["v"], returns={"d": "int64"}),
    "map compiled": lambda s: s.map(
        lambda v, w: v / w, columns=["v", "w"], returns={"d": "float64"}, jit=True
    ),
    "flat_map": lambda s: s.flat_map(lambda w: range(w), columns=["w"], returns={"each": "int64"}),
    "map_batches": lambda s: s.map_batches(
        pieces, returns={name: s.schema.field(name).type for name in s.schema.names}, rows=5
    ),
    "explode": lambda s: s.select("id", p=col("v").cast("string").str.split("1")).explode("p"),
    "union": lambda s: s.filter(col("v") > 500).union(s.filter(col("v") <= 500)),
    "distinct keys": lambda s: s.select("key", "w").distinct(),
    "group_by": lambda s: s.group_by("key", "w").agg(
        n=ag.count(), t=ag.sum("v"), m=ag.mean("v"), least=ag.min("v"), sd=ag.std("v")
    ),
    "group by computed": lambda s: s.group_by((col("v") // 100).alias("h")).agg(
        n=ag.count_distinct("key"), t=(col("v") * 2).sum()
    ),
    "agg": lambda s: s.agg(n=ag.count(), t=ag.sum("v"), m=ag.max("v"), d=ag.var("v")),
    "running totals": lambda s: s.group_by("p").running(n=ag.count()).agg(t=ag.sum("n")),
    "sort": lambda s: s.sort("v", "id", descending=[True, False]),
    "top": lambda s: s.top(17, by=["v", "id"]),
    "joined": lambda s: s.join(names(), on="key", how="left"),
    "joined, both from one": lambda s: s.join(
        s.group_by("key").agg(mean=ag.mean("v")), on="key"
    ).filter(col("v") > col("mean")),
    "full": lambda s: s.filter(col("key") > 2).join(names(), on="key", how="full"),
    "long": lambda s: (
        s.with_columns(h=col("v") % 10)
        .join(names(), left_on="h", right_on="key", how="inner")
        .group_by("label")
        .agg(n=ag.count(), t=ag.sum("w"))
        .sort("label")
    ),
}
ORDERED = {"sort", "top", "long"}


@pytest.mark.parametrize("what", STREAMS)
def test_inline(what):
    made = STREAMS[what](seq(N))
    expected, first = None, None
    for where, table in tables(made):
        assert table.schema == made.schema
        found = bag(table)
        if expected is None:
            assert found, "the test would see nothing"
            expected, first = found, table
        assert found == expected, where
        if what in ORDERED:
            assert table.to_pylist() == first.to_pylist(), where


@pytest.mark.parametrize("what", ["map", "group_by", "joined, both from one", "full", "long"])
def test_local(what):
    made = STREAMS[what](seq(N))
    expected = bag(made.collect(backend="inline", workers=1))
    for where, table in tables(made, LOCAL, "local"):
        assert bag(table) == expected, where
