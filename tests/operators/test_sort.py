"""Sort: stable, in any stretches, over snapshots."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ambergate.errors import PlanError
from ambergate.kernels.reference import sorting as reference
from ambergate.operators.base import OUTPUT_ROWS, Gate, Seat
from ambergate.operators.sort import Sort
from tests.operators.stepping import Stepper, batches_of, run

SIZES = [1, 7, 400]


def table_of(rows: int, seed: int = 3) -> pa.Table:
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 9, rows)
    texts = [None if n == 4 else "é" * (n % 3) + str(n) for n in rng.integers(0, 12, rows).tolist()]
    return pa.table(
        {
            "k": pa.array([None if key == 8 else key for key in keys.tolist()], pa.int64()),
            "s": pa.array(texts, pa.string()),
            "x": pa.array(rng.random(rows)),
            "row": pa.array(range(rows), pa.int64()),
            "l": pa.array([[row] for row in range(rows)], pa.list_(pa.int64())),
        }
    )


def expected(table: pa.Table, by, descending, nulls_last=True) -> pa.Table:
    columns = [table[name].combine_chunks() for name in by]
    order = reference.sort_indices(columns, descending, [nulls_last] * len(by), 0, table.num_rows)
    return table.take(pa.array(order, pa.int64())).combine_chunks()


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize(
    ("by", "descending"),
    [(("k",), (False,)), (("s", "k"), (True, False)), (("x",), (True,))],
)
def test_rows_come_out_in_order_and_stable(rows, moves, by, descending):
    table = table_of(300 if rows == 1 else 1000)
    result = run(Sort(by, descending), table, rows=rows, moves=moves)
    assert result.equals(expected(table, by, descending))


def test_nulls_may_go_first():
    table = table_of(100)
    result = run(Sort(("k",), True, nulls_last=False), table)
    assert result.equals(expected(table, ["k"], [True], False))


def test_nan_is_the_greatest_number_and_zeros_are_equal():
    table = pa.table({"x": [float("nan"), 1.0, -0.0, None, 0.0, float("inf")], "row": range(6)})
    assert run(Sort(("x",)), table)["row"].to_pylist() == [2, 4, 1, 5, 0, 3]
    assert run(Sort(("x",), True), table)["row"].to_pylist() == [0, 5, 1, 2, 4, 3]


def test_many_runs_are_merged_in_bounded_batches():
    table = pa.table({"k": np.random.default_rng(1).permutation(150_000)})
    stepper = Stepper(Sort(("k",)), table.schema)
    for batch in batches_of(table, 16_384):
        stepper.feed(0, batch, stops=False)
    stepper.end(0)
    assert max(output.num_rows for output in stepper.outputs) <= OUTPUT_ROWS
    assert stepper.result()["k"].to_pylist() == list(range(150_000))


def test_long_rows_come_in_smaller_batches():
    table = pa.table({"k": range(64), "s": ["x" * (1 << 20)] * 64})
    stepper = Stepper(Sort(("k",)), table.schema)
    stepper.feed(0, table.combine_chunks().to_batches()[0], stops=False)
    stepper.end(0)
    assert max(output.nbytes for output in stepper.outputs) < 10 << 20
    assert stepper.result()["k"].to_pylist() == list(range(64))


def test_no_rows_give_no_rows():
    assert run(Sort(("k",)), table_of(0)).num_rows == 0


def test_dictionaries_sort_by_their_values():
    table = pa.table({"s": pa.array(["b", "a", None, "c"]).dictionary_encode()})
    assert run(Sort(("s",)), table)["s"].to_pylist() == ["a", "b", "c", None]


def test_the_rows_kept_can_be_seen():
    executor = Sort(("k",)).open(Seat("sort", 0, 1), table_of(0).schema)
    gate = Gate()
    gate.reset()
    gate.at(0)
    executor.process(0, batches_of(table_of(10), 10)[0], 0, 10, gate)
    assert executor.describe()["rows"].num_rows == 10


@pytest.mark.parametrize(
    ("operator", "words"),
    [
        (Sort(("kk",)), ["'kk'", "did you mean 'k'"]),
        (Sort(("l",)), ["'l'", "list<item: int64>", "has no order"]),
        (Sort(()), ["no column"]),
        (Sort(("k",), (True, False)), ["2 directions for 1 columns"]),
    ],
)
def test_a_sort_that_cannot_be_is_a_plan_error(operator, words):
    with pytest.raises(PlanError) as caught:
        operator.output_schema("ranking", table_of(0).schema)
    assert all(word in str(caught.value) for word in ["'ranking'", *words])
