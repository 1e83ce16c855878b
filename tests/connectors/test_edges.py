"""What sources and sinks do at the edges of what users give them."""

import datetime
import gzip
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ambergate.connectors.arrow import FromArrow
from ambergate.connectors.csv import ReadCsv
from ambergate.connectors.iterators import FromIterable
from ambergate.connectors.parquet import ReadParquet
from ambergate.connectors.sinks import WriteCsv, WriteJson
from ambergate.errors import InputError

A = pa.schema({"a": pa.int64()})


def batches(source):
    reader = source.open(0, 1, None, (), 32_768)
    found = list(iter(reader.read, None))
    reader.close()
    return found


def rows(source):
    return [row for batch in batches(source) for row in batch.to_pylist()]


def test_texts_in_dictionaries_are_decoded_in_parts(tmp_path):
    texts = [chr(65 + i % 26) * 1_000 + str(i) for i in range(100)]
    table = pa.table({"s": [texts[i % 100] for i in range(50_000)]})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=50_000)
    del table
    before = pa.total_allocated_bytes()
    reader = ReadParquet(tmp_path / "x.parquet").open(0, 1, None, (), 32_768)
    count = most = 0
    while (batch := reader.read()) is not None:
        count += batch.num_rows
        most = max(most, pa.total_allocated_bytes() - before)
    reader.close()
    assert count == 50_000
    assert most < 8 << 20  # of 50 MB decoded


def test_the_schema_of_a_slow_generator_is_not_waited_for():
    def slow():
        for i in range(100_000):
            time.sleep(0.01)
            yield {"a": i}

    started = time.monotonic()
    source = FromIterable(slow())
    assert time.monotonic() - started < 2
    reader = source.open(0, 1, None, (), 100)
    assert reader.read()["a"].to_pylist()[0] == 0
    reader.close()


def test_closing_the_reader_closes_a_generator_that_was_looked_at():
    closed = []

    def endless():
        try:
            while True:
                yield {"a": 1}
        finally:
            closed.append(True)

    reader = FromIterable(endless()).open(0, 1, None, (), 10)
    reader.read()
    reader.close()
    assert closed == [True]


def test_a_function_that_returns_a_used_iterator_is_refused():
    kept = iter([{"a": 1}, {"a": 2}])
    with pytest.raises(InputError, match="same iterator"):
        FromIterable(lambda: kept)


def test_arrow_batches_among_the_rows_of_an_iterable_and_empty_ones():
    none, one = pa.record_batch([[]], schema=A), pa.record_batch([[1]], schema=A)
    items = [none, one, none, none, {"a": 2}, pa.table({"a": [3, 4]}), none]
    source = FromIterable(lambda: iter(items), A)
    assert [row["a"] for row in rows(source)] == [1, 2, 3, 4]
    assert rows(FromIterable(lambda: iter([one, none]))) == [{"a": 1}]
    assert rows(FromIterable(lambda: iter([none, none]), A)) == []
    with pytest.raises(InputError, match="'z'"):
        rows(FromIterable([pa.table({"z": [1]})], A))


@pytest.mark.parametrize(
    ("value", "of"),
    [
        ({"a": 1, "z": 2}, pa.struct({"a": pa.int64()})),
        ({"k": 1.5}, pa.map_(pa.string(), pa.int64())),
        (datetime.timedelta(microseconds=7), pa.duration("s")),
        (datetime.time(1, 2, 3, 7), pa.time32("ms")),
    ],
)
def test_values_of_which_arrow_drops_a_part_are_refused(value, of):
    pa.array([value], of)  # taken without a word
    with pytest.raises(InputError, match="column 'x'"):
        rows(FromIterable([(value,)], pa.schema({"x": of})))


def test_run_end_encoding_and_tiny_chunks():
    runs = pa.RunEndEncodedArray.from_arrays([2], pa.array(["x"]))
    assert rows(FromArrow(pa.table({"s": runs}))) == [{"s": "x"}] * 2
    tiny = pa.concat_tables([pa.table({"a": [i]}) for i in range(500)])
    assert len(batches(FromArrow(tiny))) == 1


@pytest.mark.parametrize("kind", [WriteCsv, WriteJson])
def test_a_suffix_of_compression_compresses(tmp_path, kind):
    path = tmp_path / "x.csv.gz"
    writer = kind(str(path)).open(0, 1, A, "7-abc")
    writer.write(pa.record_batch([[1]], schema=A))
    writer.finish()
    writer.commit()
    assert gzip.decompress(path.read_bytes()).startswith((b'"a"\n', b'{"a"'))


def test_one_text_is_no_list_of_null_values(tmp_path):
    (tmp_path / "x.csv").write_text("a\nN\n")
    with pytest.raises(InputError, match="null_values='NA'"):
        ReadCsv(tmp_path / "x.csv", null_values="NA")


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zst", "lz4"])
def test_every_ending_that_is_read_is_written(tmp_path, ending):
    path = str(tmp_path / f"x.csv.{ending}")
    writer = WriteCsv(path).open(0, 1, A, "1-job")
    writer.write(pa.record_batch({"a": [1, 2]}))
    writer.finish()
    writer.commit()
    assert rows(ReadCsv(path)) == [{"a": 1}, {"a": 2}]


def test_times_beyond_those_of_python_are_written_as_json(tmp_path):
    columns = {
        "at": pa.array([1, None, 86_400_000_000_000], pa.timestamp("ns")),
        "zoned": pa.array([1, 2, None], pa.timestamp("ns", "Asia/Tokyo")),
        "time": pa.array([1, None, 2], pa.time64("ns")),
        "day": pa.array([-800_000, 0, None], pa.date32()),
    }
    (batch,) = pa.table(columns).to_batches()
    writer = WriteJson(str(tmp_path / "x.jsonl")).open(0, 1, batch.schema, "1-job")
    writer.write(batch)
    writer.finish()
    writer.commit()
    assert (tmp_path / "x.jsonl").read_text().splitlines()[0] == (
        '{"at": "1970-01-01T00:00:00.000000001", "zoned": "1970-01-01T09:00:00.000000001+09:00", '
        '"time": "00:00:00.000000001", "day": "-0221-09-04"}'
    )
