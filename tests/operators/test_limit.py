"""Limit: the first rows, then satisfied."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ambergate.errors import PlanError
from ambergate.operators.limit import Limit
from tests.operators.stepping import Stepper, batches_of, run

TABLE = pa.table({"a": range(1000)})


@pytest.mark.parametrize("rows", [1, 7, 400])
@pytest.mark.parametrize("n", [0, 1, 399, 400, 401, 2000])
@pytest.mark.parametrize("moves", [False, True])
def test_the_first_rows_come_out(rows, n, moves):
    assert run(Limit(n), TABLE, rows=rows, moves=moves)["a"].to_pylist() == list(
        range(min(n, 1000))
    )


def test_satisfied_once_the_last_row_is_out():
    stepper = Stepper(Limit(401), TABLE.schema)
    assert not stepper.executor.satisfied
    first, second, _ = batches_of(TABLE, 400)
    stepper.feed(0, first)
    assert not stepper.executor.satisfied
    stepper.feed(0, second)
    assert stepper.executor.satisfied
    assert Limit(0).open(None).satisfied


def test_less_than_no_rows_is_a_plan_error():
    with pytest.raises(PlanError, match="cannot keep -1 rows"):
        Limit(-1).output_schema("limit", TABLE.schema)
