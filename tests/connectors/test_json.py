"""JSON lines: types over files, lines that do not fit."""

import gzip

import pyarrow as pa
import pyarrow.json
import pytest

from ambergate.connectors.json import ReadJson
from ambergate.errors import InputError
from tests.connectors.reading import items, make, rows, table

NULLS = b'{"u":null}\n{"u":null}\n'
TEXT_LATER = b'{"u":null}\n{"u":"x"}\n'


@pytest.mark.parametrize("names", [("1", "2"), ("2", "1")])
@pytest.mark.parametrize("tasks", [1, 2, 4])
def test_null_first_and_text_later_over_files(tmp_path, names, tasks):
    nulls = make(tmp_path, names[0] + ".jsonl", NULLS)
    text = make(tmp_path, names[1] + ".jsonl", TEXT_LATER)
    with pytest.raises(pa.ArrowInvalid):
        pa.concat_tables([pa.json.read_json(nulls), pa.json.read_json(text)])
    source = ReadJson(tmp_path)
    assert source.schema == pa.schema({"u": pa.string()})
    found = [row["u"] for row in rows(source, tasks)]
    assert sorted(found, key=str) == [None, None, None, "x"]


@pytest.mark.parametrize("numbers", ["0", "3"])
def test_numbers_against_text_name_file_line_and_types(tmp_path, numbers):
    make(tmp_path, "1.jsonl", NULLS)
    text = make(tmp_path, "2.jsonl", TEXT_LATER)
    other = make(tmp_path, numbers + ".jsonl", b'\n{"u":null}\n{"u":5}\n')
    with pytest.raises(InputError) as error:
        ReadJson(tmp_path)
    at, with_ = (text, other) if numbers == "0" else (other, text)
    assert error.value.path == at
    assert f"line {3 if numbers == '3' else 2}: column 'u'" in str(error.value)
    assert "int64" in str(error.value) and "string" in str(error.value)
    assert with_ in str(error.value)


def test_numbers_against_text_beyond_the_look(tmp_path):
    many = TEXT_LATER * 60_000 + b'{"u":5}\n'
    assert len(many) > 1 << 20
    path = make(tmp_path, "a.jsonl", many)
    with pytest.raises(InputError) as error:
        rows(ReadJson(path))
    assert error.value.row == 120_001
    assert "line 120001: column 'u' expects string, found int64 5" in str(error.value)
    assert "types={'u'" in str(error.value)


def test_a_column_beyond_the_look_is_not_dropped(tmp_path):
    path = make(tmp_path, "a.jsonl", TEXT_LATER * 60_000 + b'{"u":"x","w":1}\n')
    with pytest.raises(InputError, match="line 120001: unknown column 'w'"):
        rows(ReadJson(path))
    assert rows(ReadJson(path, types={"w": pa.int64()}))[-1] == {"u": "x", "w": 1}


def test_types_within_one_file(tmp_path):
    path = make(tmp_path, "a.jsonl", b'{"u":1}\n\n{"u":"a"}\n')
    with pytest.raises(InputError, match="row 2: line 3: column 'u' was int64, found string 'a'"):
        ReadJson(path)


def test_integers_and_floats_meet_in_either_order(tmp_path):
    for names in (("a", "b"), ("b", "a")):
        make(tmp_path, names[0] + ".jsonl", b'{"u":1}\n')
        make(tmp_path, names[1] + ".jsonl", b'{"u":1.5}\n')
        source = ReadJson(tmp_path)
        assert source.schema.field("u").type == pa.float64()
        assert sorted(row["u"] for row in rows(source)) == [1.0, 1.5]


def test_missing_keys_are_null_and_columns_go_by_name(tmp_path):
    make(tmp_path, "a.jsonl", b'{"a":1,"b":"x"}\n{"b":"y"}\n')
    make(tmp_path, "b.jsonl", b'{"c":[1,null],"a":2}\n')
    expected = [
        {"a": 1, "b": "x", "c": None},
        {"a": None, "b": "y", "c": None},
        {"a": 2, "b": None, "c": [1, None]},
    ]
    assert rows(ReadJson(tmp_path)) == expected


def test_text_that_looks_like_a_time_stays_text(tmp_path):
    path = make(tmp_path, "a.jsonl", b'{"t":"2020-01-01","n":{"t":"2020-01-01 10:00:00"}}\n')
    assert pa.json.read_json(path).schema.field("t").type == pa.timestamp("s")
    assert rows(ReadJson(path))[0] == {"t": "2020-01-01", "n": {"t": "2020-01-01 10:00:00"}}
    typed = ReadJson(path, types={"t": pa.timestamp("us")})
    assert str(table(typed)["t"][0]) == "2020-01-01 00:00:00"


@pytest.mark.parametrize("block_bytes", [4, 30, 1 << 20])
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"u":1,}', "no JSON"),
        (b"[1]", "expected an object"),
        (b'{"u":\n1}', "no JSON"),
        (b'{"u":1}{"u":2}', "no JSON"),
        (b'{"u":"\xff"}', "is not UTF-8"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, line, problem, block_bytes):
    good = b'{"u":7}\n\n' * 20
    path = make(tmp_path, "a.jsonl", good)
    source = ReadJson(path, block_bytes=block_bytes)
    make(tmp_path, "a.jsonl", good + line + b"\n" + good)
    reader = source.open(0, 1, None, (), 32_768)
    before = []
    with pytest.raises(InputError, match=f"line 41: {problem}") as error:
        before.extend(batch.num_rows for batch in iter(reader.read, None))
    assert sum(before) == 20
    assert error.value.path == path and error.value.row == 21


def test_a_malformed_line_in_the_look(tmp_path):
    path = make(tmp_path, "a.jsonl", b'{"u":1}\n{"u":\n')
    with pytest.raises(InputError, match="row 2: line 2: no JSON"):
        ReadJson(path)


def test_marks_blank_lines_and_compression(tmp_path):
    content = b'\xef\xbb\xbf\n  \n{"u":1}\r\n\r\n{"u":2}'
    path = make(tmp_path, "a.jsonl.gz", gzip.compress(content[:8]) + gzip.compress(content[8:]))
    assert rows(ReadJson(path, block_bytes=4)) == [{"u": 1}, {"u": 2}]


def test_empty_files(tmp_path):
    path = make(tmp_path, "a.jsonl", b"\n\n")
    with pytest.raises(InputError, match="is empty") as error:
        ReadJson(path)
    assert error.value.path == path
    assert rows(ReadJson(path, types={"u": pa.int64()})) == []
    make(tmp_path, "b.jsonl", b'{"u":1}\n')
    make(tmp_path, "c.jsonl", b"")
    assert rows(ReadJson(tmp_path), tasks=2) == [{"u": 1}]


def test_columns_are_read_in_the_order_asked_for(tmp_path):
    source = ReadJson(make(tmp_path, "a.jsonl", b'{"a":1,"b":2,"c":3}\n' * 5))
    assert rows(source, columns=("c", "a"))[0] == {"c": 3, "a": 1}
    assert [batch.num_rows for batch in items(source, columns=())] == [5]


@pytest.mark.parametrize("block_bytes", [50, 1 << 20])
def test_rows_are_the_same_in_any_number_of_tasks(tmp_path, block_bytes):
    for file in range(5):
        lines = "".join(f'{{"i": {file * 100 + i}}}\n' for i in range(100))
        make(tmp_path, f"{file}.jsonl", lines.encode())
    source = ReadJson(tmp_path, block_bytes=block_bytes)
    for tasks in (1, 2, 3, 5):
        found = [row["i"] for row in rows(source, tasks, batch_rows=7)]
        assert sorted(found) == list(range(500))


def test_dates_and_times_are_read_from_text(tmp_path):
    lines = b'{"d":"2020-01-02","t":"10:00:01"}\n{"d":null}\n'
    path = make(tmp_path, "a.jsonl", lines)
    source = ReadJson(path, types={"d": pa.date32(), "t": pa.time32("s")})
    first, second = rows(source)
    assert (str(first["d"]), str(first["t"])) == ("2020-01-02", "10:00:01")
    assert second == {"d": None, "t": None}
    for name, of in (("d", r"date32\[day\]"), ("t", r"time32\[s\]")):
        make(tmp_path, "a.jsonl", lines + f'{{"{name}":"x"}}\n'.encode())
        with pytest.raises(InputError, match=f"line 3: column '{name}' expects {of}, found string"):
            rows(source)
