"""The first whole row of each key."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ambergate.errors import PlanError
from ambergate.operators.distinct import Distinct
from tests.operators.stepping import Stepper, run
from tests.operators.test_group_by import table


@pytest.mark.parametrize("rows", [1, 7, 400])
@pytest.mark.parametrize("keys", [("k",), ("s", "k"), ()], ids=str)
@pytest.mark.parametrize("moves", [False, True])
def test_the_first_row_of_each_key_comes_out(rows, keys, moves):
    source, seen = table(500), {}
    for row in source.to_pylist():
        seen.setdefault(tuple(row[key] for key in keys or source.column_names), row)
    found = run(Distinct(keys), source, rows=rows, seed=rows, moves=moves)
    assert found.to_pylist() == list(seen.values())


def test_rows_come_out_at_once_and_keys_are_shown():
    batch = pa.record_batch({"k": ["a", "b", "a"], "l": [[1], None, [2]]})
    stepper = Stepper(Distinct(("k",)), batch.schema)
    stepper.feed(0, batch, stops=False)
    assert stepper.result().to_pydict() == {"k": ["a", "b"], "l": [[1], None]}
    assert stepper.executor.describe()["groups"].to_pydict() == {"k": ["a", "b"]}


def test_nan_and_the_zeros_are_one_key_each():
    source = pa.table({"k": pa.array([float("nan"), -float("nan"), -0.0, 0.0], from_pandas=False)})
    assert len(run(Distinct(), source, rows=3)) == 2


def test_more_rows_than_a_stretch():
    source = pa.table({"k": np.arange(50_000) % 40_000})
    assert run(Distinct(("k",)), source, rows=50_000)["k"].to_pylist() == list(range(40_000))


def test_unfit_columns_are_plan_errors():
    schema = pa.schema({"k": "int64", "l": pa.list_(pa.int64())})
    with pytest.raises(PlanError, match="column 'l' of type list<item: int64> cannot be a key"):
        Distinct().output_schema("d", schema)
    assert Distinct(("k",)).needs(0, frozenset({"l"}), schema) == {"k", "l"}
