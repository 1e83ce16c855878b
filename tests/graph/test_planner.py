"""From what is written to what runs: names, parallelism, exchanges, columns read, the text."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ambergate as ag
from ambergate import col
from ambergate.engine import make_plan
from tests.sequences import rows_of, seq


def plan_of(*ends, workers=4, skipping=True):
    nodes = [
        end.node if hasattr(end, "node") and end.node.role == "sink" else end.to_table().node
        for end in ends
    ]
    return make_plan(nodes, workers, "inline", skipping=skipping)


def by_text(n):
    """SEQ with its key as a text: the planner combines groups of texts, not of integers."""
    return seq(n).with_columns(key=col("key").cast("string"))


def names(*ends):
    return [operator.name for operator in plan_of(*ends).operators]


# names


def test_derived_names_count_from_two_and_never_clash_with_given_ones():
    stream = seq(40).filter(col("v") > 1).filter(col("v") > 2, name="filter_2")
    stream = stream.filter(col("v") > 3).filter(col("v") > 4, name="filter")
    assert names(stream) == ["seq", "filter_3", "filter_2", "filter_4", "filter", "to_table"]


def test_the_same_program_has_the_same_names():
    def written():
        left = seq(40).with_columns(a=col("v") + 1)
        return left.join(left.filter(col("v") > 1), on="id").group_by("key").agg(n=ag.count())

    assert names(written()) == names(written())
    assert len(set(names(written()))) == len(names(written()))


def test_names_of_operators_the_planner_adds_do_not_clash():
    grouped = by_text(40).group_by("key").agg(n=ag.count(), t=(col("v") + 1).sum(), name="totals")
    assert "totals.combine" in names(grouped)
    again = by_text(40).filter(col("v") >= 0, name="totals.combine")
    both = again.group_by("key").agg(n=ag.count(), name="totals")
    taken = names(both)
    assert len(set(taken)) == len(taken)
    result = both.collect(backend="inline", workers=2)
    assert rows_of(result) == [(str(key), 4) for key in range(10)]


def test_a_computed_input_of_an_aggregate_does_not_clash_with_a_column():
    table = {"k": [1, 1, 2], "t.input": [5, 6, 7], "x": [1, 2, 3]}
    stream = ag.from_arrow(table).group_by("k").agg(t=(col("x") * 10).sum(), u=ag.sum("t.input"))
    assert rows_of(stream.collect(backend="inline")) == [(1, 30, 11), (2, 30, 7)]


def test_aggregates_see_the_column_whose_name_a_computed_key_takes():
    table = {"v": [1, 5, 12, 17]}
    stream = ag.from_arrow(table).group_by((col("v") // 10).alias("v")).agg(t=ag.sum("v"))
    assert rows_of(stream.collect(backend="inline")) == [(0, 6), (1, 29)]


# parallelism and exchanges


def test_parallelism_is_that_of_the_workers_unless_given():
    stream = seq(40).filter(col("v") > 1).group_by("key").agg(n=ag.count(), parallelism=3)
    tasks = {each.name: each.tasks for each in plan_of(stream, workers=2).operators}
    assert tasks["filter"] == 2
    assert tasks["group_by"] == 3
    assert tasks["seq"] == 4


def test_keys_are_dealt_by_hash_single_operators_get_all():
    plan = plan_of(seq(40).group_by("key").agg(n=ag.count()).sort("key"))
    ways = {plan.operators[edge.target].name: str(edge.exchange) for edge in plan.edges}
    assert ways["group_by"] == "hash(key)"
    assert ways["sort"] == "gather"
    assert ways["to_table"] == "forward"


# columns read


@pytest.fixture
def wide(tmp_path):
    path = tmp_path / "wide.parquet"
    columns = {name: pa.array(range(100), pa.int64()) for name in "abcdef"}
    columns["words"] = [f"w{number % 5}" for number in range(100)]
    pq.write_table(pa.table(columns), path, row_group_size=25)
    return str(path)


READS = {
    "select": (lambda s: s.select("a", x=col("b") + 1), ["a", "b"]),
    "filter then select": (lambda s: s.filter(col("c") > 5).select("a"), ["a", "c"]),
    "computed, for its errors, and not used": (
        lambda s: s.with_columns(x=col("d") + 1).select("a"),
        ["a", "d"],
    ),
    "replaced before use": (lambda s: s.with_columns(a=col("b")).select("a"), ["b"]),
    "group": (lambda s: s.group_by("words").agg(n=ag.sum("a")), ["a", "words"]),
    "count": (lambda s: s.agg(n=ag.count()), ["a"]),
    "drop": (lambda s: s.drop("a", "b", "words"), ["c", "d", "e", "f"]),
    "map of columns": (
        lambda s: s.map(lambda a: a, columns=["a"], returns={"x": "int64"}).select("x"),
        ["a"],
    ),
    "sort": (lambda s: s.sort("f").select("a"), ["a", "f"]),
    "top": (lambda s: s.top(3, by="f").select("a"), ["a", "f"]),
    "join": (lambda s: s.join(s.select("a", y=col("b")), on="a").select("y"), ["a", "b"]),
    "semi join": (lambda s: s.join(s.select("a"), on="a", how="semi").select("c"), ["a", "c"]),
    "union": (lambda s: s.union(s).select("e"), ["e"]),
    "distinct": (lambda s: s.distinct("b").select("a"), ["a", "b"]),
    "running": (
        lambda s: s.group_by("b").running(n=ag.sum("c")).select("n", "d"),
        ["b", "c", "d"],
    ),
    "row view": (
        lambda s: s.map(lambda row: row.a, returns={"x": "int64"}).select("x"),
        None,
    ),
    "limit": (lambda s: s.limit(200).select("c"), ["c"]),
    "explode": (
        lambda s: s.with_columns(w=col("words").str.split("w")).explode("w").select("w", "b"),
        ["b", "words"],
    ),
}


@pytest.mark.parametrize("what", READS)
def test_only_the_columns_used_are_read_and_nothing_changes(wide, what):
    write, expected = READS[what]
    stream = write(ag.read_parquet(wide, parallelism=2))
    columns = plan_of(stream).operators[0].columns
    assert (sorted(columns) if columns is not None else None) == expected
    assert plan_of(stream, skipping=False).operators[0].columns is None
    pruned = stream.collect(backend="inline", workers=2)
    whole = stream.collect(backend="inline", workers=2, skipping=False)
    assert pruned.schema == whole.schema == stream.schema
    if "select" in what or what in ("sort", "top", "group", "count", "join"):
        assert rows_of(pruned) == rows_of(whole)
    assert pruned.num_rows == whole.num_rows


def test_a_stream_read_by_two_sinks_reads_what_either_needs(wide):
    source = ag.read_parquet(wide, name="wide")
    plan = plan_of(source.select("a"), source.filter(col("b") > 3).select("c"))
    assert sorted(plan.operators[0].columns) == ["a", "b", "c"]
    assert plan.operators[0].predicate == ()


# combine


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_local_combine_changes_no_result(workers):
    def aggregates():
        return {
            "n": ag.count(),
            "total": ag.sum("v"),
            "least": ag.min("v"),
            "most": ag.max("v"),
            "average": ag.mean("v"),
        }

    combined = by_text(2000).group_by("key").agg(**aggregates())
    # a count of distinct values cannot be combined, so this group-by gets every row
    whole = by_text(2000).group_by("key").agg(**aggregates(), kinds=ag.count_distinct("v"))
    assert "group_by.combine" in names(combined)
    assert not [name for name in names(whole) if "combine" in name]
    options = {"backend": "inline", "workers": workers, "batch_rows": 100}
    first = {row["key"]: row for row in combined.collect(**options).to_pylist()}
    second = {row["key"]: row for row in whole.collect(**options).to_pylist()}
    assert first.keys() == second.keys()
    for key, row in first.items():
        for column, value in row.items():
            close = value if isinstance(value, str) else pytest.approx(value, rel=1e-9)
            assert second[key][column] == close


# explain


def test_explain_says_what_will_run(wide):
    stream = (
        ag.read_parquet(wide, name="wide")
        .filter(col("a") > 50, name="large")
        .group_by("words")
        .agg(n=ag.count(), name="totals")
        .sort("words", name="ordered")
    )
    lines = stream.explain(workers=2).splitlines()
    text = "\n".join(lines)
    assert lines[0] == "wide  [read_parquet, 2 tasks]"
    assert "    reads only a, words" in lines
    assert "    skips row groups without a > 50" in lines
    assert "    <- wide by forward" in lines
    assert "totals.combine" in text
    assert "by hash(words)" in text
    assert "ordered  [sort, 1 task]" in lines
    assert "by gather" in text
    assert lines[-1].startswith("in flight at most: ")
    assert lines[-1].endswith("between 2 workers")


def test_explain_says_where_order_matters_and_where_nothing_is_bounded():
    stream = seq(40)
    assert "depends on the order" in stream.limit(3).explain()
    assert "depends on the order" in stream.group_by("key").running(n=ag.count()).explain()
    assert "depends on the order" not in stream.filter(col("v") > 1).explain()
    both = stream.join(stream.filter(col("v") > 1), on="id")
    assert "unbounded: both sides come from 'seq'" in both.explain()
