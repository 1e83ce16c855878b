"""The aggregates of a key after each row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ambergate.errors import OverflowOfSum, PlanError
from ambergate.expr.aggregates import Aggregate
from ambergate.kernels.reference import aggregation as reference
from ambergate.operators.base import DONE, RAISED
from ambergate.operators.running import Running
from tests.operators.stepping import Stepper, run
from tests.operators.test_group_by import check, table

FUNCTIONS = ("count", "sum", "mean", "min", "max", "first", "last", "var", "std")
AGGREGATES = (
    ("rows", Aggregate("count")),
    *((function, Aggregate(function, "v")) for function in FUNCTIONS),
    ("least", Aggregate("min", "s")),
    ("began", Aggregate("first", "s")),
)


def expected(rows, keys, aggregates):
    seen, made = {}, []
    for row in rows.to_pylist():
        members = seen.setdefault(tuple(row[key] for key in keys), [])
        members.append(row)
        results = {
            label: reference.aggregate(
                each.function,
                [True if each.argument is None else m[each.argument] for m in members],
            )
            for label, each in aggregates
        }
        made.append(row | results)
    return made


@pytest.mark.parametrize("rows", [1, 7, 400])
@pytest.mark.parametrize("keys", [("k",), ("s", "k"), ()], ids=str)
@pytest.mark.parametrize("moves", [False, True])
def test_results_are_those_of_the_reference(rows, keys, moves):
    source = table(300)
    found = run(Running(keys, AGGREGATES), source, rows=rows, seed=rows, moves=moves)
    check(found, expected(source, keys, AGGREGATES))


def test_a_row_whose_sum_does_not_fit_leaves_nothing_behind():
    most = 2**63 - 1
    columns = {
        "k": ["a", "b", "a", "c", "d"],
        "x": [1, 2, 3, 4, most],
        "y": pa.array([1, 2, most, most, 5]),
        "f": [0.5, 1.5, 2.5, 3.5, 4.5],
    }
    aggregates = (
        ("f", Aggregate("sum", "f")),
        ("x", Aggregate("sum", "x")),
        ("y", Aggregate("sum", "y")),
        ("n", Aggregate("count")),
    )
    aggregates = tuple((f"{label} so far", each) for label, each in aggregates)
    batch = pa.record_batch(columns)
    stepper = Stepper(Running(("k",), aggregates), batch.schema)
    progress = stepper.executor.process(0, batch, 0, 5, stepper.gate)
    assert (progress.status, progress.cursor) == (RAISED, 2)
    assert isinstance(progress.error, OverflowOfSum) and progress.error.column == "y"
    assert progress.outputs[0].column("x so far").to_pylist() == [1, 2]
    state = stepper.executor.describe()["groups"].to_pylist()
    assert state == [
        {"k": "a", "f so far": 0.5, "x so far": 1, "y so far": 1, "n so far": 1},
        {"k": "b", "f so far": 1.5, "x so far": 2, "y so far": 2, "n so far": 1},
    ]
    again = stepper.executor.process(0, batch, 2, 5, stepper.gate)
    assert (again.status, again.cursor, len(again.outputs)) == (RAISED, 2, 0)
    assert stepper.executor.describe()["groups"].to_pylist() == state
    after = stepper.executor.process(0, batch, 3, 5, stepper.gate)
    assert (after.status, after.cursor) == (DONE, 5)
    assert after.outputs[0].column("n so far").to_pylist() == [1, 1]
    assert stepper.executor.describe()["groups"]["k"].to_pylist() == ["a", "b", "c", "d"]


def test_groups_that_came_after_a_row_that_raised_are_forgotten():
    rows = 30_000
    values = np.ones(rows, np.int64)
    values[777] = 2**63 - 1
    batch = pa.record_batch({"k": np.arange(rows) // 2, "v": values})
    stepper = Stepper(Running(("k",), (("t", Aggregate("sum", "v")),)), batch.schema)
    progress = stepper.executor.process(0, batch, 0, rows, stepper.gate)
    assert (progress.status, progress.cursor) == (RAISED, 777)
    assert len(stepper.executor.describe()["groups"]) == 389
    assert stepper.executor.process(0, batch, 778, rows, stepper.gate).status == DONE
    groups = stepper.executor.describe()["groups"]
    assert groups["k"].to_pylist() == list(range(rows // 2))
    assert groups["t"].to_pylist() == [2] * 388 + [1] + [2] * (rows // 2 - 389)


def test_what_has_no_running_form_is_a_plan_error():
    schema = pa.schema({"k": "int64", "l": pa.list_(pa.int64())})
    for each in (
        Aggregate("collect_list", "k"), Aggregate("count_distinct", "k"), Aggregate("first", "l"),
    ):  # fmt: skip
        with pytest.raises(PlanError, match="has no running form; use agg"):
            Running(("k",), (("x", each),)).output_schema("r", schema)
    with pytest.raises(PlanError, match="two output columns are named 'k'"):
        Running(("k",), (("k", Aggregate("count")),)).output_schema("r", schema)


def test_what_the_planner_asks():
    schema = pa.schema({"k": "int64", "v": "int64", "w": "int64", "x": "int64"})
    operator = Running(("k",), (("n", Aggregate("sum", "v")),))
    assert operator.needs(0, frozenset({"n", "w"}), schema) == {"k", "v", "w"}
    assert operator.exchange(0, schema).columns == ("k",)
