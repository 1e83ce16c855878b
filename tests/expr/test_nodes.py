from __future__ import annotations

import copy
import datetime as dt
import decimal
import pickle

import pyarrow as pa
import pytest
from hypothesis import given, settings

import ambergate.expr as words
from ambergate.expr import Aggregate, col, count, lit, max_of, mean, min_of, sum, when
from ambergate.expr.nodes import Expr
from tests.native.test_vector import EXPRESSIONS

NAMES = {name: getattr(words, name) for name in words.__all__}
NAMES |= {"datetime": dt.datetime, "date": dt.date, "timedelta": dt.timedelta}
NAMES |= {"Decimal": decimal.Decimal, "nan": float("nan"), "inf": float("inf")}


@settings(max_examples=150, deadline=None)
@given(expr=EXPRESSIONS)
def test_repr_is_the_python_that_makes_it(expr):
    again = eval(repr(expr), dict(NAMES))
    assert again.equals(expr) and hash(again) == hash(expr) and repr(again) == repr(expr)
    assert pickle.loads(pickle.dumps(expr)).equals(expr)
    assert copy.deepcopy(expr).equals(expr)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (col("a") + 1 * col("b"), "a + 1 * b"),
        ((col("a") + 1) * 2, "(a + 1) * 2"),
        (col("a") - (col("b") - 1), "a - (b - 1)"),
        (-(col("a") ** 2), "-a ** 2"),
        ((-col("a")) ** 2, "(-a) ** 2"),
        (2 ** col("a") ** 3, "2 ** a ** 3"),
        (5 - col("a"), "5 - a"),
        ((col("a") > 1) & ~(col("b") < 2), "(a > 1) & ~(b < 2)"),
        ((col("a") == 1) | (col("b") != 2) & col("c"), "(a == 1) | (b != 2) & c"),
        (col("two words").is_null(), 'col("two words").is_null()'),
        (col("t").str.contains("a|b"), 't.str.contains("a|b")'),
        (col("t").str.contains("a", literal=True), 't.str.contains("a", True)'),
        (col("t").str.replace("ä", "a"), 't.str.replace("ä", "a")'),
        (col("t").str.slice(1), "t.str.slice(1)"),
        (col("t").str.split(" ").list.get(-1), 't.str.split(" ").list.get(-1)'),
        (col("x").round(), "x.round()"),
        (col("x").round(2), "x.round(2)"),
        (col("x").cast("int8"), 'x.cast("int8")'),
        (col("x").alias("y") + 1, 'x.alias("y") + 1'),
        (col("x").is_in([1, None, "a"]), 'x.is_in([1, None, "a"])'),
        (col("at") > dt.date(2020, 1, 2), "at > date(2020, 1, 2)"),
        (when(col("a") > 1).then("x"), 'when(a > 1).then("x")'),
        (
            when(True).then(1).when(col("b")).then(2).otherwise(None).is_null(),
            "when(True).then(1).when(b).then(2).is_null()",
        ),
        (min_of("b", 1), 'min_of("b", 1)'),
        (lit(1, "int8"), 'lit(1, "int8")'),
    ],
)
def test_text_is_short_and_stable(expr, text):
    assert str(expr) == text and expr.name == (expr.label if hasattr(expr, "label") else text)


def test_names():
    assert col("a").name == "a"
    assert (col("a") + 1).alias("b").name == "b"
    assert (col("a") + col("b").alias("x")).columns() == {"a", "b"}
    assert lit(1).columns() == frozenset()


def test_structure_is_compared_by_equals():
    assert (col("a") + 1).equals(col("a") + 1)
    assert not (col("a") + 1).equals(col("a") + 1.0)
    assert not (col("a") + 1).equals(col("a") + True)
    assert not lit(1).equals(lit(1, "int64")) and not lit(1).equals(1)
    assert lit(float("nan")).equals(lit(float("nan")))
    assert not lit(0.0).equals(lit(-0.0))
    assert isinstance(col("a") == 1, Expr)
    assert len({(col("a") + n).key() for n in (1, 1, 2)}) == 2
    assert when(col("a")).then(1).otherwise(2).equals(when(col("a")).then(1).otherwise(2))


@pytest.mark.parametrize(
    "misuse",
    [
        lambda: bool(col("a")),
        lambda: 1 < col("a") < 3,
        lambda: (col("a") > 1) and (col("b") > 2),
        lambda: not col("a"),
        lambda: 1 if col("a") == 1 else 2,
    ],
)
def test_truth_is_refused_and_names_the_remedy(misuse):
    with pytest.raises(TypeError, match=r"& for and, \| for or, ~ for not.*is_between"):
        misuse()


@pytest.mark.parametrize(
    ("misuse", "words"),
    [
        (lambda: 1 in col("a"), "is_in"),
        (lambda: list(col("a")), "iterated"),
        (lambda: col("a").is_in("abc"), "list of constants"),
        (lambda: col("a").is_in([col("b")]), "needs constants"),
        (lambda: col(1), "name of one column"),
        (lambda: col("a") + object(), "lit needs"),
        (lambda: col("a").alias(1), "column name"),
        (lambda: when(col("a")).otherwise(1), "otherwise"),
        (lambda: min_of(), "at least one"),
        (lambda: sum(1), "column name or an expression"),
        (lambda: col("a").round("x"), "digits"),
        (lambda: col("t").str.contains(1), "needs a string"),
    ],
)
def test_misuse_is_told_where_it_happens(misuse, words):
    with pytest.raises((TypeError, AttributeError), match=words):
        misuse()


@pytest.mark.parametrize(
    "misuse",
    [
        lambda: col("t").str.split(""),
        lambda: col("t").str.slice(0, -1),
        lambda: col("t").str.extract("(a)", 2),
        lambda: col("t").dt.truncate("fortnight"),
    ],
)
def test_options_out_of_range_are_told_where_they_are_given(misuse):
    with pytest.raises(ValueError, match=r".+"):
        misuse()


def test_aggregates():
    assert str(count()) == "count()" and count() == Aggregate("count")
    assert str(col("v").count()) == "count(v)" and sum("v") == Aggregate("sum", "v")
    assert str(mean(col("v") * 2)) == "mean(v * 2)"
    for name in ("sum", "mean", "min", "max", "first", "last", "var", "std", "count_distinct"):
        assert str(getattr(col("v"), name)()) == str(getattr(words, name)("v")) == f"{name}(v)"


def test_arrow_and_numpy_constants():
    import numpy as np

    assert lit(np.int64(3)).equals(lit(3)) and (col("a") + np.float64(0.5)).equals(col("a") + 0.5)
    assert lit(pa.scalar(3, pa.int8())).equals(lit(3, "int8"))
    assert (max_of(col("a"), np.int32(1))).equals(max_of(col("a"), 1))
