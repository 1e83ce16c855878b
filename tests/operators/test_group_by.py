"""One row for each key when the input ends."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from ambergate.errors import OverflowOfSum, PlanError
from ambergate.expr.aggregates import Aggregate
from ambergate.graph.exchange import GATHER, hashed
from ambergate.graph.logical import Node
from ambergate.kernels.reference import aggregation as reference
from ambergate.operators.base import OUTPUT_ROWS, Seat
from ambergate.operators.combine import Combine
from ambergate.operators.group_by import GroupBy
from tests.operators.stepping import Stepper, batches_of, run

SIZES = (1, 7, 400)
TEXTS = ("", "a", "é", "a longer text")
AGGREGATES = (
    ("rows", Aggregate("count")),
    ("n", Aggregate("count", "v")),
    ("total", Aggregate("sum", "v")),
    ("mean", Aggregate("mean", "v")),
    ("least", Aggregate("min", "v")),
    ("most", Aggregate("max", "s")),
    ("began", Aggregate("first", "s")),
    ("ended", Aggregate("last", "v")),
    ("spread", Aggregate("std", "v")),
    ("all", Aggregate("collect_list", "s")),
    ("kinds", Aggregate("count_distinct", "v")),
)
COMBINED = tuple(each for each in AGGREGATES if each[1].function in ("count", "sum", "mean", "min"))


def table(rows=900, keys=40, seed=1):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "k": pa.array(rng.integers(0, keys, rows), mask=rng.random(rows) < 0.1),
            "s": pa.array(
                rng.choice(["", "a", "é", "a longer text"], rows), mask=rng.random(rows) < 0.2
            ),
            "v": pa.array(rng.integers(-9, 9, rows), pa.int32(), mask=rng.random(rows) < 0.2),
        }
    )


def expected(rows, keys, aggregates):
    """By the reference, in the order in which keys first come."""
    groups = {}
    for row in rows.to_pylist():
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    if not keys and not groups:
        groups[()] = []
    made = []
    for key, members in groups.items():
        row = dict(zip(keys, key, strict=True))
        for label, each in aggregates:
            values = [True if each.argument is None else m[each.argument] for m in members]
            row[label] = reference.aggregate(each.function, values)
        made.append(row)
    return made


def same(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9) or (math.isnan(one) and math.isnan(other))
    return one == other


def check(found, rows):
    assert len(found) == len(rows)
    for one, other in zip(found.to_pylist(), rows, strict=True):
        assert one.keys() == other.keys()
        assert all(same(one[name], other[name]) for name in one), (one, other)


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("keys", [("k",), ("s", "k"), ()], ids=str)
@pytest.mark.parametrize("moves", [False, True])
def test_results_are_those_of_the_reference(rows, keys, moves):
    source = table()
    found = run(GroupBy(keys, AGGREGATES), source, rows=rows, seed=rows, moves=moves)
    check(found, expected(source, keys, AGGREGATES))


@pytest.mark.parametrize("keys", [("k",), ("s", "k"), ()], ids=str)
def test_no_rows(keys):
    source = table(0)
    check(run(GroupBy(keys, AGGREGATES), source), expected(source, keys, AGGREGATES))


def test_many_groups_come_in_batches_and_the_end_can_be_left_at_any():
    source = pa.table({"k": np.arange(70_000) % 69_999})
    stepper = Stepper(GroupBy(("k",), (("n", Aggregate("count")),)), source.schema, moves=True)
    for batch in batches_of(source, 20_000):
        stepper.feed(0, batch)
    stepper.end(0)
    assert [len(batch) for batch in stepper.outputs] == [OUTPUT_ROWS, OUTPUT_ROWS, 4463]
    assert stepper.result()["k"].to_pylist() == list(range(69_999))
    assert stepper.result()["n"].to_pylist() == [2, *[1] * 69_998]


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("keys", [("k",), ("s", "k"), ()], ids=str)
@pytest.mark.parametrize("values", ["few keys", "many keys"])
def test_combined_rows_give_the_same_results(rows, keys, values):
    source = table(keys=9 if values == "few keys" else 10**6)
    source = source.append_column("f", pa.array(np.random.default_rng(2).normal(size=900)))
    source = source.append_column("b", source["v"].cast(pa.int64()).cast(pa.bool_()))
    source = source.append_column("u", source["v"].cast(pa.int64()).combine_chunks().view("uint64"))
    source = source.append_column("d", source["v"].cast(pa.decimal128(12, 1)))
    more = [
        (f"{function} {column}", Aggregate(function, column))
        for function in ("sum", "mean", "min", "max", "count")
        for column in ("f", "b", "d", *("u" if function != "sum" else ""))
    ]
    operator = GroupBy(keys, (*COMBINED, *more))
    final = operator.combined(node_of(operator, source.schema))
    combine = final.inputs[0].description
    assert isinstance(combine, Combine)
    parts = run(combine, source, rows=rows, seed=rows, moves=True)
    if values == "few keys" and rows == 400 and keys != ("s", "k"):
        assert len(parts) < len(source) / 2
    plain = run(operator, source, rows=400)
    final = pickle.loads(pickle.dumps(final.description))
    assert final.output_schema("g", parts.schema) == plain.schema
    found = run(final, parts, rows=rows, moves=True)
    found.validate(full=True)
    check(found, plain.to_pylist())


def node_of(operator, schema, name=None):
    source = Node("source", "source", None, (), schema)
    return Node("operator", "group_by", operator, (source,), schema, name)


def test_what_cannot_be_combined_is_left_alone():
    schema = table(0).schema
    for aggregate in (
        Aggregate("first", "v"),
        Aggregate("std", "v"),
        Aggregate("collect_list", "v"),
    ):
        node = node_of(GroupBy(("k",), (("x", aggregate),)), schema)
        assert node.description.combined(node) is node
    node = node_of(keyed := GroupBy(("k",), (("n", Aggregate("count")),)), schema)
    assert keyed.expand(node) is node
    node = node_of(GroupBy((), (("n", Aggregate("count")),)), schema, "totals")
    final = node.description.expand(node)
    assert (final.name, final.inputs[0].stem) == ("totals", "totals.combine")
    assert final.description.expand(final) is final


def test_what_the_planner_asks():
    schema = table(0).schema
    keyed = GroupBy(("k",), (("x", Aggregate("sum", "v")),))
    assert (keyed.exchange(0, schema), keyed.single, keyed.order_sensitive) == (
        hashed("k"), False, False,
    )  # fmt: skip
    assert keyed.needs(0, frozenset(), schema) == {"k", "v"}
    whole = GroupBy((), (("x", Aggregate("first", "s")), ("n", Aggregate("count"))))
    assert (whole.exchange(0, schema), whole.single, whole.order_sensitive) == (GATHER, True, True)
    assert GroupBy((), (("n", Aggregate("count")),)).needs(0, frozenset("n"), schema) == {"k"}


def test_state_is_shown_while_it_grows():
    executor = GroupBy(("k",), (("total", Aggregate("sum", "v")),)).open(
        Seat("g", 0, 1), schema := pa.schema({"k": "string", "v": "int64"})
    )
    stepper = Stepper(GroupBy(("k",), (("total", Aggregate("sum", "v")),)), schema)
    assert len(executor.describe()["groups"]) == 0
    stepper.feed(0, pa.record_batch({"k": ["a", "b", "a"], "v": [1, 2**63 - 1, None]}))
    stepper.feed(0, pa.record_batch({"k": ["b"], "v": [1]}))
    assert stepper.executor.describe()["groups"].to_pylist() == [
        {"k": "a", "total": 1},
        {"k": "b", "total": None},  # does not fit
    ]


def test_unfit_columns_are_plan_errors():
    schema = pa.schema({"k": "string", "v": "string", "l": pa.list_(pa.int8()), "n": pa.null()})

    def of(*keys, **aggregates):
        GroupBy(keys, tuple(aggregates.items())).output_schema("g", schema)

    with pytest.raises(PlanError, match=r"x=sum\(v\): sum takes numbers, .* found string; cast"):
        of("k", x=Aggregate("sum", "v"))
    with pytest.raises(PlanError, match=r"mean takes .* found null; declare the column's type"):
        of("k", x=Aggregate("mean", "n"))
    with pytest.raises(PlanError, match="no column 'vv'; did you mean 'v'"):
        of("k", x=Aggregate("min", "vv"))
    with pytest.raises(PlanError, match="no column 'kk' to group by; did you mean 'k'"):
        of("kk", x=Aggregate("count"))
    with pytest.raises(PlanError, match="column 'l' of type list<item: int8> cannot be a key"):
        of("l", x=Aggregate("count"))
    with pytest.raises(PlanError, match="two output columns are named 'k'"):
        of("k", k=Aggregate("count"))
    with pytest.raises(PlanError, match="'k' is given twice"):
        of("k", "k", x=Aggregate("count"))


def test_dictionaries_are_grouped_by_their_values():
    column = pa.array(["b", "a", "b", None]).dictionary_encode()
    source = pa.table({"k": column, "v": column})
    found = run(GroupBy(("k",), (("least", Aggregate("min", "v")),)), source, rows=3)
    assert found.to_pydict() == {"k": ["b", "a", None], "least": ["b", "a", None]}


# faults that users of other engines hit


@pytest.mark.parametrize("rows", [1, 3, 1024])
def test_nans_of_any_payload_are_one_key(rows):
    bits = np.array([0x7FF8 << 48, 0x7FF8 << 48 | 5, 0xFFF8 << 48], np.uint64).view(np.float64)
    source = pa.table(
        {
            "k": pa.array([*bits, 1.0, None, None], from_pandas=False),
            "v": [1, 2, 0, 3, 4, 5],
        }
    )
    found = run(GroupBy(("k",), (("total", Aggregate("sum", "v")),)), source, rows=rows)
    assert found["total"].to_pylist() == [3, 3, 9]
    assert math.isnan(found["k"][0].as_py()) and found["k"].to_pylist()[1:] == [1.0, None]


def total_of(array, rows, combined=False):
    source = pa.table({"v": array})
    operator = GroupBy((), (("total", Aggregate("sum", "v")),))
    if combined:
        final = operator.expand(node_of(operator, source.schema))
        source = run(final.inputs[0].description, source, rows=rows)
        operator = final.description
    return run(operator, source, rows=rows, moves=True)["total"][0].as_py()


@pytest.mark.parametrize("combined", [False, True])
@pytest.mark.parametrize("rows", [1, 3, 1024])
def test_sums_of_integers_never_wrap(rows, combined):
    def total(values, type_):
        return total_of(pa.array(values, type_), rows, combined)

    assert total([2**31 - 1] * 3, pa.int32()) == 6442450941
    assert total([100] * 127, pa.int8()) == 12700
    assert total([2**63, 2**63 - 1], pa.uint64()) == 2**64 - 1
    assert total([-(2**62)] * 2, pa.int64()) == -(2**63)
    for values, type_ in (([2**62] * 2, pa.int64()), ([2**63] * 2, pa.uint64())):
        with pytest.raises(OverflowOfSum, match=f"column 'v' does not fit {type_}"):
            total(values, type_)


def test_sums_of_floats_are_the_same_however_rows_come():
    values = pa.array([0.1] * 100_000)
    totals = {total_of(values, rows) for rows in (77, 4096, 100_000)}
    assert len(totals) == 1
    assert math.isclose(totals.pop(), 10_000, rel_tol=1e-9)
    source = pa.table({"k": np.arange(100_000) % 3, "v": values})
    operator = GroupBy(("k",), (("total", Aggregate("sum", "v")),))
    assert run(operator, source, rows=77) == run(operator, source, rows=99_999)


def test_sums_of_decimals_are_exact_or_an_error():
    type_ = pa.decimal128(7, 2)
    operator = GroupBy(("k",), (("total", Aggregate("sum", "v")),))

    def total(values, type_, rows):
        source = pa.table({"k": [1] * len(values), "v": pa.array(values, type_)})
        found = run(operator, source, rows=rows, moves=True)
        assert found.schema == operator.output_schema("g", source.schema)
        assert found.schema.field("total").type == pa.decimal128(38, type_.scale)
        return found["total"][0].as_py()

    assert total([Decimal("99999.99")] * 2 + [Decimal("1.00")], type_, 1) == Decimal("200000.98")
    assert total([Decimal("99999.99")] * 2000, type_, 1) == Decimal("199999980.00")
    with pytest.raises(OverflowOfSum):
        total([Decimal("9" * 38)] * 2, pa.decimal128(38, 0), 1)


def test_a_batch_of_nulls_fixes_nothing():
    source = pa.table(
        {"k": ["a", "a", "a", "b"], "v": pa.array([None, "x", None, None], pa.string())}
    ).append_column("x", pa.array([None, 1.5, None, None], pa.float64()))
    aggregates = {
        "rows": Aggregate("count"),
        "n": Aggregate("count", "v"),
        "least": Aggregate("min", "v"),
        "all": Aggregate("collect_list", "v"),
        "total": Aggregate("sum", "x"),
        "mean": Aggregate("mean", "x"),
    }
    for rows in (1, 3, 400):
        found = run(GroupBy(("k",), tuple(aggregates.items())), source, rows=rows)
        assert found.to_pylist() == [
            {"k": "a", "rows": 3, "n": 1, "least": "x", "all": [None, "x", None], "total": 1.5,
             "mean": 1.5},
            {"k": "b", "rows": 1, "n": 0, "least": None, "all": [None], "total": None,
             "mean": None},
        ]  # fmt: skip
    nothing = pa.table({"k": ["a"], "v": pa.nulls(1)})
    of_null = tuple(
        (name, Aggregate(name, "v")) for name in ("count", "min", "first", "collect_list")
    )
    assert run(GroupBy(("k",), of_null), nothing).to_pylist() == [
        {"k": "a", "count": 0, "min": None, "first": None, "collect_list": [None]}
    ]
