"""Union: rows of all inputs, columns by name."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ambergate as ag
from ambergate.errors import PlanError
from ambergate.operators.union import Union, promoted
from tests.operators.stepping import run

LEFT = pa.table({"a": pa.array([1, None, 3], pa.int16()), "s": ["x", "y", "z"]})
RIGHT = pa.table({"s": ["é", None], "a": pa.array([1 << 40, -1], pa.int64())})


@pytest.mark.parametrize("rows", [1, 7, 400])
@pytest.mark.parametrize("moves", [False, True])
def test_columns_are_matched_by_name_and_widened(rows, moves):
    result = run(Union(), LEFT, RIGHT, rows=rows, moves=moves)
    assert result.schema == pa.schema({"a": pa.int64(), "s": pa.string()})
    assert result["a"].to_pylist() == [1, None, 3, 1 << 40, -1]
    assert result["s"].to_pylist() == ["x", "y", "z", "é", None]


def test_three_inputs_and_a_column_of_nulls():
    nulls = pa.table({"a": pa.nulls(2), "s": pa.nulls(2)})
    result = run(Union(ports=3), nulls, LEFT, LEFT)
    assert result["a"].to_pylist() == [None, None, 1, None, 3, 1, None, 3]
    assert result.schema.field("a").type == pa.int16()


def test_integers_beside_floats_become_floats():
    result = run(Union(), LEFT.select(["a"]), pa.table({"a": [0.5, float("nan")]}))
    assert str(result["a"].to_pylist()) == "[1.0, None, 3.0, 0.5, nan]"


@pytest.mark.parametrize(
    ("a", "b", "common"),
    [
        (pa.int8(), pa.int8(), pa.int8()),
        (pa.int8(), pa.uint8(), pa.int16()),
        (pa.uint32(), pa.int64(), pa.int64()),
        (pa.uint64(), pa.int8(), None),
        (pa.uint8(), pa.uint64(), pa.uint64()),
        (pa.int32(), pa.float32(), pa.float64()),
        (pa.string(), pa.large_string(), pa.large_string()),
        (pa.string(), pa.int64(), None),
        (pa.timestamp("us"), pa.timestamp("us", "UTC"), None),
    ],
)
def test_promotion(a, b, common):
    assert promoted(a, b) == common
    assert promoted(b, a) == common


def test_unlike_types_are_a_plan_error_naming_both():
    with pytest.raises(PlanError) as caught:
        Union().output_schema("all", LEFT.schema, pa.schema({"a": "int16", "s": "int64"}))
    assert "'s' is string in the inputs before and int64 in input 2" in str(caught.value)


@pytest.mark.parametrize("schemas", [(0, 1), (1, 0)])
def test_a_missing_column_is_a_plan_error(schemas):
    given = [LEFT.schema, LEFT.schema.remove(1)]
    with pytest.raises(PlanError, match="has no column 's'"):
        Union().output_schema("all", *(given[index] for index in schemas))


def test_an_input_may_keep_columns_that_only_others_read():
    rows = ag.from_arrow({"a": [1, 2], "b": ["x", "y"], "c": [0, 0]})
    few = rows.filter(ag.col("a") > 1)
    both = few.union(rows.map(lambda a: a + 10, columns=["a"], returns={"a": "int64"}))
    job = ag.run(both.select("a").to_table(name="a"), few.to_table(name="all"), backend="inline")
    assert sorted(job.result("a")["a"].to_pylist()) == [2, 11, 12]
    assert job.result("all").to_pydict() == {"a": [2], "b": ["y"], "c": [0]}
