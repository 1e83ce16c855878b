"""The tables are the agreed ones, and NumPy's answers over them too."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import tables
from benchmarks.workloads import AGREED, WORKLOADS, difference, of_total, running_count

FIRST_PART = [key for key in AGREED if key[1] <= tables.PART_ROWS[WORKLOADS[key[0]].table]]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AMBERGATE_BENCH_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("name", "rows"), FIRST_PART)
def test_the_reference_gives_the_agreed_answer_over_the_first_part(name, rows):
    workload = WORKLOADS[name]
    table = tables.MAKERS[workload.table](0)
    assert table.num_rows == rows
    assert difference(workload.reference(table), AGREED[name, rows]) == ""


@pytest.mark.parametrize("table", sorted(tables.MAKERS))
def test_a_later_part_does_not_depend_on_the_ones_before(table):
    later = tables.MAKERS[table](1).slice(0, 1_000)
    for cached in (tables.zipf_keys, tables.vocabulary):
        cached.cache_clear()
    tables.MAKERS[table](0)
    assert tables.MAKERS[table](1).slice(0, 1_000).equals(later)


def test_files_are_written_once_and_are_whole(cache):
    (path,) = tables.parquet("uniform", 3_000)
    written = (cache / path).stat().st_mtime_ns
    assert tables.parquet("uniform", 3_000) == [path]
    assert (cache / path).stat().st_mtime_ns == written
    assert [entry.name for entry in (cache / "uniform").iterdir()] == [path.rpartition("/")[2]]
    assert pq.read_table(path).equals(tables.uniform(0).slice(0, 3_000))


def test_row_groups_are_a_quarter_of_a_part(cache):
    (path,) = tables.parquet("uniform", 1_000_000)
    layout = pq.ParquetFile(path).metadata
    assert [layout.row_group(group).num_rows for group in range(4)] == [250_000] * 4
    assert layout.row_group(0).column(0).compression == "SNAPPY"


def test_the_narrow_table_is_the_uniform_one_without_its_wide_columns(cache):
    (path,) = tables.parquet("narrow", 2_000)
    assert pq.read_table(path).equals(tables.uniform(0).slice(0, 2_000).select(["id", "value"]))
    workload = WORKLOADS["A"]
    assert workload.expected(2_000) == workload.reference(pq.read_table(path))


def test_running_count_counts_each_key_on_its_own():
    keys = np.random.default_rng(1).integers(0, 7, 500)
    seen: dict[int, int] = {}
    expected = []
    for key in keys.tolist():
        seen[key] = seen.get(key, 0) + 1
        expected.append(seen[key])
    assert running_count(keys).tolist() == expected


@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_the_order_of_the_rows_does_not_matter(name):
    table = tables.uniform(0).slice(0, 5_000)
    shuffled = table.take(pa.array(np.random.default_rng(2).permutation(table.num_rows)))
    reference = WORKLOADS[name].reference
    assert difference(reference(shuffled), reference(table)) == ""


def test_a_difference_names_the_field_and_both_values():
    right = of_total(10, 0.5)
    assert difference(of_total(10, 0.5 * (1 + 1e-12)), right) == ""
    assert difference(of_total(11, 0.5), right) == "count is 11, expected 10"
    assert "sum is 0.6, expected 0.5" in difference(of_total(10, 0.6), right)
    assert "has ['count']" in difference({"count": 10}, right)
