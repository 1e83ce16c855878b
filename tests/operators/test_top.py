"""Top: a sort and a limit with bounded state."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ambergate.errors import PlanError
from ambergate.operators.top import Top
from tests.operators.stepping import Stepper, batches_of, run
from tests.operators.test_sort import SIZES, expected, table_of


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize("n", [0, 1, 10, 5000])
@pytest.mark.parametrize(("by", "descending"), [(("k",), (True,)), (("s", "x"), (False, True))])
def test_top_is_a_sort_and_a_limit(rows, moves, n, by, descending):
    table = table_of(200 if rows == 1 else 900)
    result = run(Top(n, by, descending), table, rows=rows, moves=moves)
    assert result.equals(expected(table, by, descending).slice(0, n).combine_chunks())


@pytest.mark.parametrize("n", [5, 6000, 70_000])
@pytest.mark.parametrize("moves", [False, True])
def test_packing_keeps_the_first_of_equal_rows(n, moves):
    rng = np.random.default_rng(2)
    table = pa.table({"k": rng.integers(0, 1000, 300_000), "row": np.arange(300_000)})
    stepper = Stepper(Top(n, ("k",)), table.schema, moves=moves)
    for batch in batches_of(table, 50_000):
        stepper.feed(0, batch, stops=False)
        kept = sum(run.num_rows for run in stepper.executor.snapshot()["runs"])
        assert kept <= 3 * n + 60_000
    stepper.end(0)
    order = np.argsort(-table["k"].to_numpy(), kind="stable")[:n]
    np.testing.assert_array_equal(stepper.result()["row"].to_numpy(), order)


def test_the_best_so_far_can_be_seen():
    stepper = Stepper(Top(2, ("k",)), pa.schema({"k": pa.int64()}))
    stepper.feed(0, pa.record_batch({"k": [1, 3, 2]}))
    assert stepper.executor.describe()["rows"]["k"].to_pylist() == [3, 2]


def test_less_than_no_rows_is_a_plan_error():
    with pytest.raises(PlanError, match="'best': cannot keep -1 rows"):
        Top(-1, ("k",)).output_schema("best", table_of(0).schema)
