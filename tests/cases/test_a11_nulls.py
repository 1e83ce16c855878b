"""A11: a first batch of nulls alone fixes no type; counts and sums know what a null is."""

import pyarrow as pa
import pytest

import ambergate as ag
from tests.cases.conftest import bag

ROWS = [
    {"k": "a", "v": None},
    {"k": "b", "v": None},
    {"k": "a", "v": None},
    {"k": "a", "v": "x"},
    {"k": "a", "v": None},
    {"k": "b", "v": None},
]


def numbers():
    return [{**row, "v": 5 if row["v"] else None} for row in ROWS]


@pytest.mark.parametrize("schema", [None, {"k": "string", "v": "string"}])
def test_texts_after_nulls(everywhere, schema):
    def stream():
        return (
            ag.from_iter(ROWS, schema=schema)
            .group_by("k")
            .agg(rows=ag.count(), n=ag.col("v").count(), least=ag.min("v"))
        )

    table = everywhere(stream)
    assert bag(table) == ["('a', 4, 1, 'x')", "('b', 2, 0, None)"]
    assert table.schema.field("least").type == pa.string()


def test_lists_keep_the_nulls(everywhere):
    table = everywhere(lambda: ag.from_iter(ROWS).group_by("k").agg(all=ag.collect_list("v")))
    found = {row["k"]: sorted(row["all"], key=repr) for row in table.to_pylist()}
    assert found == {"a": ["x", None, None, None], "b": [None, None]}


@pytest.mark.parametrize("schema", [None, {"k": "string", "v": "int64"}])
def test_numbers_after_nulls(everywhere, schema):
    def stream():
        return (
            ag.from_iter(numbers(), schema=schema)
            .group_by("k")
            .agg(total=ag.sum("v"), average=ag.mean("v"))
        )

    assert bag(everywhere(stream)) == ["('a', 5, 5.0)", "('b', None, None)"]


def test_nulls_beyond_the_rows_looked_at_need_a_type(backend):
    rows = [*({"k": "a", "v": None} for _ in range(2000)), {"k": "a", "v": "x"}]
    with pytest.raises(ag.AmbergateError, match=r"'v' holds only None.*schema="):
        ag.from_iter(rows)
    declared = ag.from_iter(rows, schema={"k": "string", "v": "string"})
    table = declared.collect(backend=backend, workers=1)
    assert table["v"].to_pylist()[-1] == "x"


def test_the_naive_way_fixes_null():
    first = pa.Table.from_pylist(ROWS[:3])
    with pytest.raises(pa.ArrowInvalid):
        pa.concat_tables([first, pa.Table.from_pylist(ROWS[3:])])
