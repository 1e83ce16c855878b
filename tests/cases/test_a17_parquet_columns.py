"""A17: the columns of several Parquet files go by name; types that do not fit are refused."""

import itertools

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import ambergate as ag
from tests.cases.conftest import bag

TABLES = [
    pa.table({"x": pa.array([1], pa.int64())}),
    pa.table({"y": pa.array([7], pa.int64()), "x": pa.array([2], pa.int64())}),
    pa.table({"x": pa.array([3], pa.int32())}),
]
TEXT = pa.table({"x": ["4"]})


def put(folder, tables):
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"{number}.parquet")
    return folder


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_every_order_of_files_gives_the_same_rows(tmp_path, order):
    stream = ag.read_parquet(put(tmp_path, [TABLES[number] for number in order]))
    assert stream.schema.field("x").type == pa.int64()
    table = stream.select("x", "y").collect(backend="inline", workers=2)
    assert bag(table) == ["(1, None)", "(2, 7)", "(3, None)"]


def test_at_every_parallelism(everywhere, tmp_path):
    table = everywhere(ag.read_parquet(put(tmp_path, TABLES)).select("x", "y"))
    assert bag(table) == ["(1, None)", "(2, 7)", "(3, None)"]


def test_text_and_number_are_refused_by_file_column_and_types(tmp_path):
    with pytest.raises(ag.AmbergateError) as caught:
        ag.read_parquet(put(tmp_path, [*TABLES, TEXT]))
    for word in ("3.parquet", "'x'", "string", "int64"):
        assert word in str(caught.value)


def test_the_same_instant_in_two_zones(everywhere, tmp_path):
    instant = 1_700_000_000
    tables = [
        pa.table({"t": pa.array([instant * 1000], pa.timestamp("ms", "UTC"))}),
        pa.table({"t": pa.array([instant * 1_000_000], pa.timestamp("us", "Europe/Paris"))}),
    ]
    table = everywhere(ag.read_parquet(put(tmp_path, tables)))
    assert table.schema.field("t").type == pa.timestamp("us", "UTC")
    assert len({value.timestamp() for value in table["t"].to_pylist()}) == 1


def test_with_and_without_a_zone_are_refused(tmp_path):
    tables = [
        pa.table({"t": pa.array([0], pa.timestamp("ms", "UTC"))}),
        pa.table({"t": pa.array([0], pa.timestamp("ms"))}),
    ]
    with pytest.raises(ag.AmbergateError, match="'t'"):
        ag.read_parquet(put(tmp_path, tables))


def test_the_naive_way_loses_a_column(tmp_path):
    put(tmp_path, TABLES)
    assert "y" not in pa.dataset.dataset(tmp_path).to_table().column_names
