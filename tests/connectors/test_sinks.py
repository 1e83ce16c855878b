"""Files that appear whole or not at all."""

import datetime
import decimal
import glob
import json
import math
import os
import pickle
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.connectors.csv import ReadCsv
from ambergate.connectors.json import ReadJson
from ambergate.connectors.parquet import ReadParquet
from ambergate.connectors.sinks import WriteCsv, WriteJson, WriteParquet
from ambergate.errors import OutputError, PlanError
from tests.connectors.reading import rows, table, written

MADE = pa.table({"i": [1, 2, None], "s": ["a", None, ""]})
BATCHES = MADE.to_batches()
SINKS = [(WriteCsv, "x.csv"), (WriteJson, "x.jsonl"), (WriteParquet, "x.parquet")]
every_sink = pytest.mark.parametrize(("sink", "name"), SINKS, ids=["csv", "json", "parquet"])


def back(path, schema=MADE.schema):
    """What was written to ``path``."""
    types = {field.name: field.type for field in schema}
    if path.endswith(".csv"):
        return rows(ReadCsv(path, types=types, null_values=[]))
    if path.endswith(".jsonl"):
        return rows(ReadJson(path, types=types))
    return rows(ReadParquet(path))


def json_lines(path):
    """The objects in a file of JSON lines, by another reader."""
    with open(path, encoding="utf-8", newline="\n") as lines:
        return [json.loads(line) for line in lines]


@every_sink
def test_nothing_is_visible_before_the_commit(tmp_path, sink, name):
    made = pickle.loads(pickle.dumps(sink(str(tmp_path / "new" / name))))
    assert made.single
    made.check()
    writer = made.open(0, 1, MADE.schema, "1-token")
    writer.write(BATCHES[0])
    writer.finish()
    (unfinished,) = os.listdir(tmp_path / "new")
    assert unfinished == f".{name}.1-token-0.part"
    assert glob.glob(str(tmp_path / "new" / "*")) == []
    writer.commit()
    writer.commit()
    writer.abort()
    assert os.listdir(tmp_path / "new") == [name]
    assert back(made.target) == MADE.to_pylist()


@every_sink
@pytest.mark.parametrize("when", ["opened", "written", "finished"])
def test_an_abort_leaves_nothing(tmp_path, sink, name, when):
    writer = sink(str(tmp_path / name)).open(0, 1, MADE.schema, "1-token")
    if when != "opened":
        writer.write(BATCHES[0])
    if when == "finished":
        writer.finish()
    writer.abort()
    writer.abort()
    assert os.listdir(tmp_path) == []


@every_sink
def test_no_rows_give_a_file_with_its_schema(tmp_path, sink, name):
    path = str(tmp_path / name)
    written(sink(path), [], MADE.schema)
    assert back(path) == []
    if sink is WriteCsv:
        assert (tmp_path / name).read_text() == '"i","s"\n'
    if sink is WriteParquet:
        assert pq.read_schema(path) == MADE.schema


@every_sink
def test_what_exists_is_not_overwritten_unasked(tmp_path, sink, name):
    path = tmp_path / name
    path.write_text("old")
    with pytest.raises(OutputError, match=r"exists already; write if_exists=\"replace\""):
        sink(str(path)).check()
    written(sink(str(path), if_exists="replace"), BATCHES, MADE.schema)
    assert back(str(path)) == MADE.to_pylist()


def test_what_comes_into_being_while_the_job_runs_is_not_overwritten(tmp_path):
    sink = WriteCsv(str(tmp_path / "x.csv"))
    sink.check()
    writer = sink.open(0, 1, MADE.schema, "1-token")
    writer.finish()
    (tmp_path / "x.csv").write_text("other")
    with pytest.raises(OutputError, match="came into being while the job ran"):
        writer.commit()
    writer.abort()
    assert (tmp_path / "x.csv").read_text() == "other" and len(os.listdir(tmp_path)) == 1


@every_sink
def test_a_folder_of_parts(tmp_path, sink, name):
    target = str(tmp_path / "out") + "/"
    assert not sink(target).single
    written(sink(target), BATCHES * 3, MADE.schema, tasks=3)
    ending = os.path.splitext(name)[1]
    names = [f"part-{task:05d}{ending}" for task in range(3)]
    assert sorted(os.listdir(target)) == names
    assert [row for name in names for row in back(target + name)] == MADE.to_pylist() * 3
    with pytest.raises(OutputError, match="the folder holds 'part-00000"):
        sink(target).check()
    (tmp_path / "out" / "README").write_text("keep")
    written(sink(target, if_exists="replace"), BATCHES, MADE.schema, tasks=1)
    assert sorted(os.listdir(target)) == ["README", names[0]]


def test_a_folder_without_its_slash(tmp_path):
    with pytest.raises(OutputError, match=r"is a folder; write '.*/' for"):
        WriteCsv(str(tmp_path)).check()


def test_targets_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written") as error:
        WriteCsv(str(tmp_path / "file" / "x.csv")).check()
    assert error.value.path.endswith("x.csv")
    with pytest.raises(OutputError, match="if_exists='append' is none of error, replace"):
        WriteCsv(str(tmp_path / "x.csv"), if_exists="append").check()


def test_leftovers_of_dead_runs_are_removed(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    kept = [f".x.csv.{os.getpid()}-aa-0.part", f".y.csv.{dead.pid}-aa-0.part", ".x.csv.mine"]
    for name in [f".x.csv.{dead.pid}-c0ffee-0.part", *kept]:
        (tmp_path / name).write_text("")
    WriteCsv(str(tmp_path / "x.csv")).check()
    assert sorted(os.listdir(tmp_path)) == sorted(kept)
    parts = tmp_path / "out"
    parts.mkdir()
    (parts / f".part-00001.csv.{dead.pid}-aa-1.part").write_text("")
    WriteCsv(f"{parts}/").check()
    assert os.listdir(parts) == []


@every_sink
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_names_the_target(tmp_path, sink, name):
    os.symlink("/dev/full", tmp_path / f".{name}.1-token-0.part")
    with pytest.raises(OutputError, match="make room on the disk") as error:
        written(sink(str(tmp_path / name)), BATCHES, MADE.schema)
    assert error.value.path == str(tmp_path / name)
    assert not (tmp_path / name).exists()


# round trips

TEXT = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(
    [
        '"',
        '""',
        ",",
        "\n",
        "\r\n",
        "\r",
        "a,b\nc",
        "\ufeff",
        "\ufeffx",
        "NA",
        "null",
        " ",
        "\\n",
        "\0",
    ]
)
INTEGERS = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
TIMES = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2200, 1, 1))
SCHEMA = pa.schema(
    {
        "s": pa.string(),
        "i": pa.int64(),
        "f": pa.float64(),
        "b": pa.bool_(),
        "t": pa.timestamp("us"),
        "d": pa.date32(),
    }
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            name: st.none() | of
            for name, of in zip(
                SCHEMA.names,
                [TEXT, INTEGERS, FLOATS, st.booleans(), TIMES, st.dates()],
                strict=True,
            )
        }
    ),
    max_size=8,
)


@every_sink
@given(made=ROWS, wide=st.booleans())
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read(tmp_path_factory, sink, name, made, wide):
    schema = SCHEMA if wide else SCHEMA.remove(5).remove(4)
    path = str(tmp_path_factory.mktemp("out") / name)
    batch = pa.RecordBatch.from_pylist(made, schema=schema)
    written(sink(path), [batch.slice(0, 3), batch.slice(3)], schema)
    if sink is WriteJson:
        assert [line["f"] for line in json_lines(path)] == [row["f"] for row in made]
    assert back(path, schema) == batch.to_pylist()


@given(st.lists(TEXT | st.none(), max_size=6))
@settings(max_examples=60, deadline=None)
def test_one_column_of_text_in_csv(tmp_path_factory, values):
    path = str(tmp_path_factory.mktemp("out") / "x.csv")
    schema = pa.schema({"s": pa.string()})
    batch = pa.RecordBatch.from_arrays([pa.array(values, pa.string())], schema=schema)
    written(WriteCsv(path), [batch.slice(0, 2), batch.slice(2)], schema)
    # A null alone in its line would be a blank line: it comes back as empty text.
    assert [row["s"] for row in back(path, schema)] == [value or "" for value in values]


def test_one_column_of_numbers_in_csv(tmp_path):
    path, schema = str(tmp_path / "x.csv"), pa.schema({"i": pa.int64()})
    values = [1, None, None, 2, 3, None]
    batch = pa.RecordBatch.from_arrays([pa.array(values)], schema=schema)
    written(WriteCsv(path), [batch.slice(0, 2), batch.slice(2, 2), batch.slice(4)], schema)
    assert [row["i"] for row in back(path, schema)] == values


def test_numbers_that_are_none_in_csv(tmp_path):
    path, schema = str(tmp_path / "x.csv"), pa.schema({"f": pa.float64(), "i": pa.int64()})
    values = [math.nan, None, math.inf, -math.inf, -0.0, 1e-300]
    batch = pa.RecordBatch.from_pylist([{"f": value, "i": 1} for value in values], schema=schema)
    written(WriteCsv(path), [batch], schema)
    assert str([row["f"] for row in back(path, schema)]) == str(values)


def test_json_of_other_types(tmp_path):
    path = str(tmp_path / "x.jsonl")
    made = pa.table(
        {
            "l": [[1.5, math.nan, None], None],
            "n": [{"a": "\u00fc", "b": b"\x00\xff"}, None],
            "z": pa.array([datetime.datetime(2024, 1, 1)] * 2, pa.timestamp("ms", "UTC")),
            "m": [decimal.Decimal("1.50"), None],
            "e": [math.inf, -0.0],
            '% "q"': ["\u2028\x7f\n", "x"],
        }
    )
    written(WriteJson(path), made.to_batches(), made.schema)
    first, second = json_lines(path)
    assert first == {
        "l": [1.5, None, None],
        "n": {"a": "\u00fc", "b": "AP8="},
        "z": "2024-01-01T00:00:00+00:00",
        "m": "1.50",
        "e": None,
        '% "q"': "\u2028\x7f\n",
    }
    assert second["l"] is None and str(second["e"]) == "-0.0"


def test_csv_refuses_what_it_cannot_hold():
    sink = WriteCsv("x.csv")
    with pytest.raises(PlanError, match="column 'l' is list<item: int64>, which CSV cannot hold"):
        sink.output_schema("write_csv", pa.schema({"l": pa.list_(pa.int64())}))
    assert sink.output_schema("write_csv", MADE.schema) == MADE.schema


def test_small_batches_make_large_row_groups(tmp_path):
    path = str(tmp_path / "x.parquet")
    made = pa.table({"i": range(300_000)})
    written(WriteParquet(path), made.to_batches(max_chunksize=1000), made.schema)
    assert pq.ParquetFile(path).num_row_groups == 2
    assert table(ReadParquet(path)).equals(made)


def test_of_two_that_commit_at_once_one_is_told(tmp_path):
    sink = WriteCsv(str(tmp_path / "x.csv"))
    writers = [sink.open(0, 1, MADE.schema, f"1-token{number}") for number in range(2)]
    for writer in writers:
        writer.prepare()
    writers[0].commit()
    with pytest.raises(OutputError, match="came into being while the job ran"):
        writers[1].commit()
    writers[1].abort()
    assert os.listdir(tmp_path) == ["x.csv"]


def test_what_was_committed_is_taken_back_where_it_replaced_nothing(tmp_path):
    target = str(tmp_path / "out") + "/"
    writers = [WriteCsv(target).open(task, 2, MADE.schema, "1-token") for task in range(2)]
    writers[0].commit()
    for writer in writers:
        writer.withdraw()
    assert os.listdir(target) == []


def test_what_killed_tasks_left_is_discarded(tmp_path):
    sink = WriteCsv(str(tmp_path / "out") + "/")
    sink.open(1, 2, MADE.schema, "1-token")
    assert len(os.listdir(tmp_path / "out")) == 1
    sink.discard(2, "1-token")
    assert os.listdir(tmp_path / "out") == []


def test_a_device_is_not_replaced_by_a_file(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for target in (str(pipe), os.devnull):
        with pytest.raises(OutputError, match="is no regular file"):
            WriteCsv(target, if_exists="replace").check()


def test_a_relative_target_stays_where_it_was_meant(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sink = WriteCsv("out/")
    monkeypatch.chdir("/")
    written(sink, BATCHES, MADE.schema)
    assert os.listdir(tmp_path / "out") == ["part-00000.csv"]
