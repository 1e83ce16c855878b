"""Parquet: columns over files, row groups over tasks, row groups passed over."""

import datetime
import itertools
import math

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from ambergate.batch import Skipped
from ambergate.connectors.parquet import ReadParquet
from ambergate.errors import InputError
from tests.connectors.reading import items, make, rows, table

UTC = datetime.UTC


def put(folder, name, columns, **options):
    made = columns if isinstance(columns, pa.Table) else pa.table(columns)
    pq.write_table(made, folder / name, **options)
    return str(folder / name)


# columns over files

FILES = [
    {"x": pa.array([1], pa.int64())},
    {"y": pa.array([7], pa.int64()), "x": pa.array([2], pa.int64())},
    {"x": pa.array([3], pa.int32())},
]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_columns_are_unified_by_name_in_any_order(tmp_path, order):
    for place, file in enumerate(order):
        put(tmp_path, f"{place}.parquet", FILES[file])
    if order[0] != 1:
        naive = pa.dataset.dataset(tmp_path).schema
        assert "y" not in naive.names  # pyarrow's data set loses the column
    source = ReadParquet(tmp_path)
    assert dict(zip(source.schema.names, source.schema.types, strict=True)) == {
        "x": pa.int64(),
        "y": pa.int64(),
    }
    for tasks in (1, 2, 3):
        found = sorted((row["x"], row["y"]) for row in rows(source, tasks))
        assert found == [(1, None), (2, 7), (3, None)]


def test_text_against_numbers_names_file_column_and_types(tmp_path):
    first = put(tmp_path, "0.parquet", FILES[0])
    other = put(tmp_path, "3.parquet", {"x": ["4"]})
    with pytest.raises(InputError, match="column 'x' is string here and int64 in") as error:
        ReadParquet(tmp_path)
    assert error.value.path == other and first in str(error.value)


def test_times_keep_their_instant(tmp_path):
    noon = datetime.datetime(2024, 7, 1, 12, tzinfo=UTC)
    put(tmp_path, "0.parquet", {"t": pa.array([noon], pa.timestamp("ms", "UTC"))})
    put(tmp_path, "1.parquet", {"t": pa.array([noon], pa.timestamp("us", "Europe/Paris"))})
    source = ReadParquet(tmp_path)
    assert source.schema.field("t").type == pa.timestamp("us", "UTC")
    assert [row["t"] for row in rows(source)] == [noon, noon]
    other = put(tmp_path, "2.parquet", {"t": pa.array([noon], pa.timestamp("us"))})
    with pytest.raises(InputError, match="column 't'") as error:
        ReadParquet(tmp_path)
    assert error.value.path == other


def test_integers_of_64_bits_against_floats_are_no_guess(tmp_path):
    put(tmp_path, "0.parquet", {"x": pa.array([1], pa.int32())})
    put(tmp_path, "1.parquet", {"x": [1.5]})
    assert ReadParquet(tmp_path).schema.field("x").type == pa.float64()
    put(tmp_path, "2.parquet", {"x": [2**53 + 1]})
    with pytest.raises(InputError, match="column 'x' is int64"):
        ReadParquet(tmp_path)


def test_dictionaries_are_decoded_and_annotations_dropped(tmp_path):
    made = pa.table({"s": pa.array(["a", "b", "a", None]).dictionary_encode()})
    path = put(tmp_path, "a.parquet", made.replace_schema_metadata({"k": "v"}))
    source = ReadParquet(path)
    assert source.schema == pa.schema({"s": pa.string()}) and source.schema.metadata is None
    assert table(source)["s"].to_pylist() == ["a", "b", "a", None]


def test_no_parquet(tmp_path):
    path = make(tmp_path, "a.parquet", b"id,v\n1,2\n")
    with pytest.raises(InputError, match="is no readable Parquet file") as error:
        ReadParquet(path)
    assert error.value.path == path
    with pytest.raises(InputError, match="no such file"):
        ReadParquet(tmp_path / "nothing.parquet")
    with pytest.raises(InputError, match="no file matches"):
        ReadParquet(str(tmp_path / "*.pq"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no file"):
        ReadParquet(tmp_path / "empty")


# row groups and batches


def test_row_groups_are_dealt_in_turn(tmp_path):
    put(tmp_path, "a.parquet", {"i": range(10)}, row_group_size=4)
    put(tmp_path, "b.parquet", {"i": range(10, 20)}, row_group_size=5)
    source = ReadParquet(tmp_path)
    assert source.tasks(2) == 2 and source.tasks(9) == 5
    first = items(source, 2)
    groups = [batch.column(0).to_pylist() for batch in first]
    assert groups == [
        [0, 1, 2, 3],
        [8, 9],
        [15, 16, 17, 18, 19],
        [4, 5, 6, 7],
        [10, 11, 12, 13, 14],
    ]


@pytest.mark.parametrize("batch_rows", [1, 7, 400])
def test_batches_are_no_larger_than_asked_for(tmp_path, batch_rows):
    made = pa.table({"i": range(1000), "s": [str(i) * (i % 5) for i in range(1000)]})
    source = ReadParquet(put(tmp_path, "a.parquet", made, row_group_size=300))
    assert table(source, batch_rows=batch_rows).equals(made)


def test_large_row_groups_come_in_small_batches(tmp_path):
    made = pa.table({"s": [chr(97 + i % 26) * 4000 for i in range(5000)]})
    source = ReadParquet(put(tmp_path, "a.parquet", made))
    assert table(source).combine_chunks().equals(made.combine_chunks())


def test_columns_in_the_order_asked_for(tmp_path):
    source = ReadParquet(put(tmp_path, "a.parquet", {"a": [1, 2], "b": [3, 4], "a.b": [5, 6]}))
    assert rows(source, columns=("b", "a"))[0] == {"b": 3, "a": 1}
    assert rows(source, columns=("a.b",))[0] == {"a.b": 5}
    (nothing,) = items(source, columns=())
    assert nothing.num_rows == 2 and nothing.num_columns == 0


def test_a_file_without_rows(tmp_path):
    source = ReadParquet(put(tmp_path, "a.parquet", pa.table({"a": pa.array([], pa.int64())})))
    assert rows(source) == [] and source.schema.names == ["a"]


# row groups passed over


def kept(source, *predicate):
    """Which row groups are read, and how many rows passed over."""
    found = items(source, predicate=predicate)
    skipped = sum(item.num_rows for item in found if isinstance(item, Skipped))
    return [item.column(0)[0].as_py() for item in found if not isinstance(item, Skipped)], skipped


@pytest.fixture
def numbers(tmp_path):
    path = put(tmp_path, "n.parquet", {"i": range(40)}, row_group_size=10)
    return ReadParquet(path)


@pytest.mark.parametrize(
    ("op", "value", "expected"),
    [
        ("==", 10, [10]),
        ("==", 99, []),
        ("<", 10, [0]),
        ("<", 11, [0, 10]),
        ("<=", 10, [0, 10]),
        (">", 29, [30]),
        (">=", 29, [20, 30]),
        ("!=", 5, [0, 10, 20, 30]),
        ("is_null", None, []),
        ("is_not_null", None, [0, 10, 20, 30]),
        ("==", "5", [0, 10, 20, 30]),  # another type: in doubt all are read
        ("==", None, [0, 10, 20, 30]),
        (">", 2.5, [0, 10, 20, 30]),
        ("unheard_of", 1, [0, 10, 20, 30]),
    ],
)
def test_row_groups_without_a_match(numbers, op, value, expected):
    assert kept(numbers, ("i", op, value)) == (expected, 40 - 10 * len(expected))


def test_all_conjuncts_count(numbers):
    assert kept(numbers, ("i", ">", 5), ("i", "<", 20)) == ([0, 10], 20)


def test_nulls(tmp_path):
    columns = {"i": pa.array([None, None, 1, None], pa.int64())}
    source = ReadParquet(put(tmp_path, "a.parquet", columns, row_group_size=2))
    assert kept(source, ("i", "==", 1)) == ([1], 2)
    assert kept(source, ("i", "is_null", None)) == ([None, 1], 0)
    assert kept(source, ("i", "is_not_null", None)) == ([1], 2)


def test_a_column_that_one_file_lacks(tmp_path):
    put(tmp_path, "a.parquet", {"x": [1]})
    put(tmp_path, "b.parquet", {"x": [2], "y": [7]})
    assert kept(ReadParquet(tmp_path), ("y", ">", 0)) == ([2], 1)
    assert kept(ReadParquet(tmp_path), ("y", "is_null", None)) == ([1], 1)


@pytest.mark.parametrize("op", ["==", "<", "<=", ">", ">=", "!="])
@pytest.mark.parametrize("value", [math.nan, 2.0, -0.0, 1e300])
def test_floats_with_nan_lose_no_row(tmp_path, op, value):
    columns = {"f": [1.0, math.nan, -0.0, 2.0, math.nan, math.nan, 0.0, -1.0]}
    source = ReadParquet(put(tmp_path, "a.parquet", columns, row_group_size=2))
    compare = {"==": "equal", "<": "less", "<=": "less_equal", ">": "greater", "!=": "not_equal"}
    compare[">="] = "greater_equal"
    found = items(source, predicate=[("f", op, value)])
    read = pa.chunked_array(
        [b.column(0) for b in found if not isinstance(b, Skipped)], pa.float64()
    )
    function = compare[op]
    expected = pa.compute.call_function(function, [pa.array(columns["f"]), pa.scalar(value)])
    left = pa.compute.call_function(function, [read, pa.scalar(value)])
    assert sum(left.to_pylist()) == sum(expected.to_pylist())


@pytest.mark.parametrize(
    ("values", "value"),
    [
        (["a", "b", "c", "\u00e9"], "b"),
        ([b"a", b"b", b"\xff", b"\xff\xff"], b"b"),
        ([datetime.date(2024, 1, day) for day in (1, 2, 3, 4)], datetime.date(2024, 1, 2)),
        ([datetime.datetime(2024, 1, day) for day in (1, 2, 3, 4)], datetime.datetime(2024, 1, 2)),
        (pa.array([1, 2, 2**63, 2**64 - 1], pa.uint64()), 2),
        ([False, False, True, True], False),
    ],
)
def test_other_types_that_can_be_skipped(tmp_path, values, value):
    source = ReadParquet(put(tmp_path, "a.parquet", {"v": values}, row_group_size=2))
    assert kept(source, ("v", "<=", value))[1] == 2


@pytest.mark.parametrize(
    ("values", "value"),
    [
        (pa.array([1, 2, 3, 4], pa.timestamp("ns")), datetime.datetime(1969, 1, 1)),
        (pa.array([1, 2, 3, 4], pa.timestamp("us", "UTC")), datetime.datetime(1969, 1, 1)),
        (pa.array([[1], [2], [3], [4]]), 0),
        (pa.array([1.0, 2.0, 3.0, 4.0], pa.float32()), 0.0),
    ],
)
def test_what_python_cannot_order_as_the_engine_does_is_read(tmp_path, values, value):
    source = ReadParquet(put(tmp_path, "a.parquet", {"v": values}, row_group_size=2))
    found = items(source, predicate=[("v", "<=", value)])
    assert not any(isinstance(item, Skipped) for item in found)
