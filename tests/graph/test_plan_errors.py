"""A dataflow that cannot run is refused where it is written: operator, column, expected, found."""

import pyarrow as pa
import pytest

import ambergate as ag
from ambergate import col, lit

TABLE = pa.table(
    {
        "number": pa.array([1, 2], pa.int64()),
        "text": ["a", "b"],
        "when": pa.array([0, 1], pa.timestamp("us", "UTC")),
        "words": [["x"], []],
    }
)


def s(**options):
    return ag.from_arrow(TABLE, **options)


def other():
    return ag.from_arrow({"text": [1], "number": [1.0], "w": [2]})


# what is written, and the words that the message must have
WRONG = {
    "column in a filter": (
        lambda: s().filter(col("nuber") > 1, name="low"),
        ["'low'", "'nuber'", "'number'"],
    ),
    "column in select": (lambda: s().select("numbr", name="few"), ["'few'", "'numbr'", "'number'"]),
    "column in with_columns": (
        lambda: s().with_columns(b=col("numbr") + 1, name="more"),
        ["'more'", "'numbr'", "'number'"],
    ),
    "column in drop": (lambda: s().drop("texts", name="less"), ["'less'", "'texts'", "'text'"]),
    "column of map": (
        lambda: s().map(len, columns=["texte"], returns={"n": "int64"}, name="m"),
        ["'m'", "'texte'", "'text'"],
    ),
    "column of filter function": (
        lambda: s().filter(bool, columns=["texte"], name="m"),
        ["'m'", "'texte'", "'text'"],
    ),
    "column of flat_map": (
        lambda: s().flat_map(str.split, columns=["texte"], returns={"n": "string"}, name="m"),
        ["'m'", "'texte'", "'text'"],
    ),
    "column of for_each": (
        lambda: s().for_each(print, columns=["texte"], name="say"),
        ["'say'", "'texte'", "'text'"],
    ),
    "column of explode": (lambda: s().explode("word", name="e"), ["'e'", "'word'", "'words'"]),
    "column of sort": (lambda: s().sort("wen", name="o"), ["'o'", "'wen'", "'when'"]),
    "column of top": (lambda: s().top(3, by="wen", name="o"), ["'o'", "'wen'", "'when'"]),
    "column of distinct": (lambda: s().distinct("tex", name="d"), ["'d'", "'tex'", "'text'"]),
    "column of group_by": (
        lambda: s().group_by("tex").agg(n=ag.count(), name="g"),
        ["'g'", "'tex'", "'text'"],
    ),
    "column of an aggregate": (
        lambda: s().group_by("text").agg(n=ag.sum("numbr"), name="g"),
        ["'g'", "'numbr'", "'number'"],
    ),
    "column of running": (
        lambda: s().group_by("text").running(n=ag.sum("numbr"), name="g"),
        ["'g'", "'numbr'", "'number'"],
    ),
    "column of a join": (lambda: s().join(s(), on="tex", name="j"), ["'j'", "'tex'", "'text'"]),
    "predicate of no condition": (
        lambda: s().filter(col("number") + 1, name="low"),
        ["'low'", "bool", "int64"],
    ),
    "text with number": (
        lambda: s().filter(col("text") > 5, name="low"),
        ["'low'", "text", "string", "int64"],
    ),
    "sum of texts": (
        lambda: s().group_by("number").agg(n=ag.sum("text"), name="g"),
        ["'g'", "sum(text)", "numbers", "string"],
    ),
    "text function of numbers": (
        lambda: s().with_columns(n=col("number").str.lower(), name="c"),
        ["'c'", "number", "string", "int64"],
    ),
    "time function of texts": (
        lambda: s().with_columns(n=col("text").dt.year(), name="c"),
        ["'c'", "text", "timestamp", "string"],
    ),
    "plain time with zoned": (
        lambda: s().filter(col("when") > lit(0, "timestamp[us]"), name="low"),
        ["'low'", "when", "timestamp[us]", "UTC"],
    ),
    "explode of no list": (
        lambda: s().explode("text", name="e"),
        ["'e'", "'text'", "list", "string"],
    ),
    "join keys of unlike types": (
        lambda: s().join(other(), on="text", name="j"),
        ["'j'", "'text'", "string", "int64"],
    ),
    "join keys int and float": (
        lambda: s().join(other(), on="number", name="j"),
        ["'j'", "'number'", "int64", "double"],
    ),
    "union of unlike columns": (
        lambda: s().union(other(), name="u"),
        ["'u'"],
    ),
    "map without returns": (lambda: s().map(len, columns=["text"], name="m"), ["'m'", "returns="]),
    "flat_map without returns": (lambda: s().flat_map(len, name="m"), ["'m'", "returns="]),
    "map_batches without returns": (lambda: s().map_batches(len, name="m"), ["'m'", "returns="]),
    "unknown type": (
        lambda: s().map(len, columns=["text"], returns={"n": "int46"}, name="m"),
        ["'m'", "'n'", "int46", "int64"],
    ),
    "unknown type of an iterable": (
        lambda: ag.from_iter([], schema={"n": "int46"}, name="it"),
        ["'it'", "'n'", "int46", "int64"],
    ),
    "unknown type of a file": (
        lambda: ag.read_csv("x.csv", types={"n": "int46"}, name="file"),
        ["'file'", "'n'", "int46", "int64"],
    ),
    "unknown join": (
        lambda: s().join(s(), on="text", how="outr", name="j"),
        ["'j'", "outr", "full"],
    ),
    "no join keys": (lambda: s().join(s(), name="j"), ["'j'", "on="]),
    "unlike numbers of join keys": (
        lambda: s().join(s(), left_on=["text"], right_on=["text", "number"], name="j"),
        ["'j'", "1", "2"],
    ),
    "running with a key of a column's name": (
        lambda: s().group_by((col("number") + 1).alias("text")).running(n=ag.count(), name="r"),
        ["'r'", "'text'", "alias"],
    ),
    "no aggregate": (lambda: s().group_by("text").agg(name="g"), ["'g'", "ag.count()"]),
    "no key": (lambda: s().group_by(), ["group_by", "agg()"]),
    "aggregate that is a column": (
        lambda: s().group_by("text").agg(n=col("number"), name="g"),
        ["'g'", "'n'", "sum"],
    ),
    "no tasks": (lambda: s().limit(5, parallelism=0), ["limit", "parallelism", "0"]),
    "negative limit": (lambda: s().limit(-1, name="l"), ["'l'", "-1"]),
    "empty name": (lambda: s().limit(1, name=""), ["name"]),
    "predicate that is a text": (lambda: s().filter("number > 1", name="f"), ["'f'", "str", "col"]),
    "sort by nothing": (lambda: s().sort(name="o"), ["'o'"]),
    "a list as key": (
        lambda: s().group_by("words").agg(n=ag.count(), name="g"),
        ["'g'", "'words'", "list"],
    ),
    "jit of texts": (
        lambda: s().map(len, columns=["text"], returns={"n": "int64"}, jit=True, name="m"),
        ["'m'", "'text'", "string"],
    ),
    "nested columns to csv": (lambda: s().write_csv("x.csv", name="out"), ["out", "words", "list"]),
    "if_exists": (
        lambda: s().drop("words").write_csv("x", if_exists="append"),
        ["append", "replace"],
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_refused_where_it_is_written(what):
    write, words = WRONG[what]
    with pytest.raises(ag.PlanError) as caught:
        write()
    text = str(caught.value)
    assert [word for word in words if word not in text] == [], text


LATER = {
    "single operator in parallel": (
        lambda: [s().sort("text", parallelism=3, name="o").to_table()],
        ["'o'", "parallelism=3"],
    ),
    "limit in parallel": (lambda: [s().limit(5, parallelism=2, name="l").to_table()], ["'l'", "2"]),
    "agg in parallel": (
        lambda: [s().agg(n=ag.count(), parallelism=2, name="a").to_table()],
        ["'a'", "2"],
    ),
    "one file by two tasks": (
        lambda: [s().select("number").write_csv("x.csv", parallelism=2, name="w")],
        ["'w'", "2"],
    ),
    "two of one name": (
        lambda: [s(name="a").filter(col("number") > 1, name="a").to_table()],
        ["'a'", "two operators"],
    ),
    "no sink": (lambda: [], ["nothing to run", "to_table()"]),
    "a stream": (lambda: [s().limit(1, name="few")], ["'few'", "to_table()"]),
    "something else": (lambda: [7], ["int"]),
}


@pytest.mark.parametrize("what", LATER)
def test_refused_before_anything_starts(what):
    write, words = LATER[what]
    sinks = write()
    with pytest.raises(ag.PlanError) as caught:
        ag.start(*sinks)
    text = str(caught.value)
    assert [word for word in words if word not in text] == [], text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"workers": 0}, ["workers", "0"]),
        ({"backend": "spark"}, ["'spark'", "local", "inline"]),
        ({"on_error": "ignore"}, ["'ignore'", "pause", "raise"]),
        ({"batch_rows": 0}, ["batch_rows", "0"]),
        ({"batch_rows": -5}, ["batch_rows", "-5"]),
        ({"ring_bytes": 100}, ["ring_bytes", "100"]),
    ],
)
def test_options_that_cannot_be(options, words):
    with pytest.raises(ag.PlanError) as caught:
        ag.start(s().to_table(), **options)
    assert [word for word in words if word not in str(caught.value)] == [], str(caught.value)


def test_an_unknown_type_in_an_expression_names_near_ones():
    with pytest.raises(ag.AmbergateError, match=r"int46.*int64"):
        col("text").cast("int46")
