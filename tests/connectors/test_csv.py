"""CSV files: marks, quoted line ends, empty files, nulls, rows that do not fit."""

import gzip

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.connectors.blocks import Rows
from ambergate.connectors.csv import ReadCsv
from ambergate.errors import InputError
from tests.connectors.reading import items, make, rows, table

MARK = b"\xef\xbb\xbf"


# byte-order marks


def test_a_mark_is_dropped_and_types_apply(tmp_path):
    make(tmp_path, "a.csv", MARK + b'"id","v"\r\n1,2\r\n')
    make(tmp_path, "b.csv", b'"id","v"\r\n3,4\r\n')
    source = ReadCsv(tmp_path, types={"id": pa.string()})
    assert source.schema == pa.schema({"id": pa.string(), "v": pa.int64()})
    assert rows(source) == [{"id": "1", "v": 2}, {"id": "3", "v": 4}]


@pytest.mark.parametrize("block_bytes", [4, 8, 16, 1 << 20])
def test_a_mark_inside_a_cell_stays(tmp_path, block_bytes):
    text = MARK + b"id,v\n" + MARK + b"x,1\n" + MARK + b"y,2\n"
    path = make(tmp_path, "a.csv", text)
    # Every block may begin with such a cell, and pyarrow takes that for a file's mark.
    naive = pa.csv.read_csv(
        pa.BufferReader(MARK + b"x,1\n"), pa.csv.ReadOptions(column_names=["id", "v"])
    )
    assert naive["id"][0].as_py() == "x"
    found = rows(ReadCsv(path, block_bytes=block_bytes))
    assert found == [{"id": "\ufeffx", "v": 1}, {"id": "\ufeffy", "v": 2}]


# line ends inside quotes

CELLS = {"lf": "a\nb\nc\nd", "crlf": "a\r\nb\r\nc\r\nd", "doubled": 'a\n"b"\n,"\n'}


def quoted_file(folder, cell, count, line_end="\n"):
    text = '"' + cell.replace('"', '""') + '"'
    lines = ["text,i", *(f"{text},{number}" for number in range(count)), ""]
    return make(folder, "quoted.csv", line_end.join(lines).encode())


def test_pyarrow_at_its_defaults_breaks_rows_at_block_edges(tmp_path):
    path = quoted_file(tmp_path, CELLS["lf"], 200_000)
    with pytest.raises(pa.ArrowInvalid):
        pa.csv.read_csv(path)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("block_bytes", [1000, 65_536, 1 << 20])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_line_ends_in_quotes_at_any_block_size(tmp_path, cell, block_bytes, line_end):
    count = 200_000 if block_bytes > 1000 and line_end == "\n" else 2_000
    path = quoted_file(tmp_path, CELLS[cell], count, line_end)
    source = ReadCsv(path, block_bytes=block_bytes)
    assert source.tasks(4) == 1  # a file is never split
    found = table(source)
    assert found["i"].to_pylist() == list(range(count))
    assert set(found["text"].unique().to_pylist()) == {CELLS[cell]}


@pytest.mark.parametrize("block_bytes", [1, 7, 64])
def test_line_ends_in_quotes_in_tiny_blocks(tmp_path, block_bytes):
    path = quoted_file(tmp_path, CELLS["doubled"], 200)
    found = table(ReadCsv(path, block_bytes=block_bytes))
    assert found["i"].to_pylist() == list(range(200))
    assert set(found["text"].to_pylist()) == {CELLS["doubled"]}


@given(st.lists(st.sampled_from([b'"', b'""', b",", b"\n", b"\r\n", b"\r", b"x"]), max_size=30))
@settings(max_examples=300, deadline=None)
def test_the_quick_end_of_rows_is_that_of_the_pattern(parts):
    text = b"".join(parts)
    layout = Rows(b",", b'"')
    ends = layout.all_ends(text)
    last = layout.last_end(text)
    # The quick way may pass over a row that ends with a lone CR, for a later one or an LF.
    assert last in [0, *ends]
    assert last or not any(text[end - 1 : end] == b"\n" for end in ends)
    assert ends == [] or last > 0


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_block_size_reads_what_pyarrow_reads_at_once(tmp_path_factory, data):
    cell = st.sampled_from(
        ["", "x", '"q"', '"a""b"', '"l\n"', '"c\r\nd"', '",,"', "m\u00fc", "y z"]
    )
    lines = data.draw(st.lists(st.tuples(cell, cell).map(",".join), min_size=1, max_size=20))
    block_bytes = data.draw(st.integers(1, 40))
    text = ("a,b\n" + "\n".join(lines)).encode()
    path = make(tmp_path_factory.mktemp("csv"), "a.csv", text)
    expected = pa.csv.read_csv(
        pa.BufferReader(text),
        pa.csv.ReadOptions(block_size=1 << 20),
        pa.csv.ParseOptions(newlines_in_values=True),
        pa.csv.ConvertOptions(column_types={"a": pa.string(), "b": pa.string()}),
    )
    source = ReadCsv(path, types={"a": pa.string(), "b": pa.string()}, block_bytes=block_bytes)
    assert rows(source) == expected.to_pylist()


@pytest.mark.parametrize("block_bytes", [8, 1 << 20])
def test_quotes_in_the_middle_of_a_field_are_text(tmp_path, block_bytes):
    path = make(tmp_path, "a.csv", b'a,b\n1,5" disk\n2,"x\ny"\n3,a""b\n')
    found = table(ReadCsv(path, block_bytes=block_bytes))
    assert found["b"].to_pylist() == ['5" disk', "x\ny", 'a""b']


@pytest.mark.parametrize("text", [b'a,b\n1,x\n2,"y\n3,z\n', b'a,b\n1,x\n2,"y', b'a,b\n1,x\n2,"y\n'])
def test_a_quote_never_closed_is_named(tmp_path, text):
    path = make(tmp_path, "a.csv", text)
    with pytest.raises(InputError, match="line 3: a quote is not closed") as error:
        rows(ReadCsv(path))
    assert error.value.row == 2
    assert rows(ReadCsv(path, quote=None))[0] == {"a": 1, "b": "x"}


def test_a_quote_never_closed_in_the_header(tmp_path):
    with pytest.raises(InputError, match="line 1: a quote is not closed"):
        ReadCsv(make(tmp_path, "a.csv", b'a,"b\n1,x\n'))


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("block_bytes", [1, 5, 1 << 20])
def test_every_line_end(tmp_path, line_end, block_bytes):
    path = make(tmp_path, "a.csv", line_end.join([b"a,b", b"1,x", b"2,y", b""]))
    found = rows(ReadCsv(path, block_bytes=block_bytes))
    assert found == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


# empty inputs

EMPTY = {"zero": b"", "header": b"id,v\n", "one": b"id,v\n1,2\n", "newlines": b"\n\r\n\n"}


def test_empty_files_beside_others_are_no_rows(tmp_path):
    for name, content in EMPTY.items():
        make(tmp_path, name + ".csv", content)
    for tasks in (1, 2, 4):
        assert rows(ReadCsv(tmp_path), tasks) == [{"id": 1, "v": 2}]


def test_a_header_alone_is_a_schema(tmp_path):
    source = ReadCsv(make(tmp_path, "a.csv", EMPTY["header"]), types={"id": pa.int64()})
    assert source.schema == pa.schema({"id": pa.int64(), "v": pa.string()})
    assert rows(source) == []


@pytest.mark.parametrize("name", ["zero", "newlines"])
def test_an_empty_file_alone_needs_types(tmp_path, name):
    path = make(tmp_path, name + ".csv", EMPTY[name])
    with pytest.raises(InputError, match="is empty") as error:
        ReadCsv(path)
    assert error.value.path == path
    source = ReadCsv(path, types={"id": pa.int64()})
    assert source.schema == pa.schema({"id": pa.int64()}) and rows(source) == []
    assert ReadCsv(path, header=["x"]).schema == pa.schema({"x": pa.string()})


def test_an_empty_folder(tmp_path):
    with pytest.raises(InputError, match="holds no file"):
        ReadCsv(tmp_path)
    assert rows(ReadCsv(tmp_path, types={"id": pa.int64()}), tasks=2) == []


def test_blank_lines_are_passed_over(tmp_path):
    path = make(tmp_path, "a.csv", b"\n\nid,v\n\n1,2\n\r\n\n3,4\n\n")
    assert rows(ReadCsv(path, block_bytes=4)) == [{"id": 1, "v": 2}, {"id": 3, "v": 4}]


# compressed files


def test_gzip_members_follow_one_another(tmp_path):
    content = gzip.compress(b"id,v\n1,10\n") + gzip.compress(b"2,20\n")
    for padding in (b"", bytes(16)):
        path = make(tmp_path, "a.csv.gz", content + padding)
        assert rows(ReadCsv(path)) == [{"id": 1, "v": 10}, {"id": 2, "v": 20}]


def test_a_file_cut_off_is_named(tmp_path):
    lines = "id,v\n" + "".join(f"{number},{number * 7919 % 5003}\n" for number in range(5000))
    content = gzip.compress(lines.encode())
    path = make(tmp_path, "cut.csv.gz", content[: len(content) // 2])
    with pytest.raises(InputError, match="cut off") as error:
        rows(ReadCsv(path, types={"id": pa.int64(), "v": pa.int64()}))
    assert error.value.path == path


def test_a_damaged_file_is_named(tmp_path):
    path = make(tmp_path, "bad.csv.gz", b"no gzip at all")
    with pytest.raises(InputError, match="damaged") as error:
        ReadCsv(path)
    assert error.value.path == path


# nulls


def test_by_default_text_is_never_null(tmp_path):
    path = make(tmp_path, "a.csv", b'i,s\n1,NA\n,""\nNA,\n')
    found = table(ReadCsv(path))
    assert found["i"].to_pylist() == [1, None, None]
    assert found["s"].to_pylist() == ["NA", "", ""]


def test_null_values_are_null_in_every_column_unless_quoted(tmp_path):
    path = make(tmp_path, "a.csv", b'i,s\n1,NA\n,""\nNA,\n2,"NA"\n')
    found = table(ReadCsv(path, null_values=["NA"]))
    assert found["i"].to_pylist() == [1, None, None, 2]
    assert found["s"].to_pylist() == [None, "", None, "NA"]


def test_a_quoted_null_is_no_number(tmp_path):
    path = make(tmp_path, "a.csv", b'i,s,f\n"1","",1.5\n"","NA","NA"\n')
    types = {"i": pa.int64(), "s": pa.string(), "f": pa.float64()}
    found = rows(ReadCsv(path, types=types, null_values=["NA"]))
    assert found == [{"i": 1, "s": "", "f": 1.5}, {"i": None, "s": "NA", "f": None}]


# headers, delimiters


def test_without_header(tmp_path):
    path = make(tmp_path, "a.csv", b"1;x\n2;y\n")
    assert rows(ReadCsv(path, delimiter=";", header=False))[1] == {"f0": 2, "f1": "y"}
    assert rows(ReadCsv(path, delimiter=";", header=["a", "b"]))[0] == {"a": 1, "b": "x"}


def test_columns_of_several_files_go_by_name(tmp_path):
    make(tmp_path, "a.csv", b"x,y\n1,a\n")
    make(tmp_path, "b.csv", b"y,x\nb,2.5\n")
    assert rows(ReadCsv(tmp_path)) == [{"x": 1.0, "y": "a"}, {"x": 2.5, "y": "b"}]


@pytest.mark.parametrize("header", [b"x\n1\n", b"x,y,z\n1,2,3\n"])
def test_other_columns_name_file_and_column(tmp_path, header):
    make(tmp_path, "a.csv", b"x,y\n1,a\n")
    other = make(tmp_path, "b.csv", header)
    with pytest.raises(InputError, match=r"column '[yz]'") as error:
        ReadCsv(tmp_path)
    assert error.value.path == other


def test_types_that_do_not_meet_are_text_whatever_the_order(tmp_path):
    for names in (("a", "b"), ("b", "a")):
        make(tmp_path, names[0] + ".csv", b"x\n1\n")
        make(tmp_path, names[1] + ".csv", b"x\nword\n")
        source = ReadCsv(tmp_path)
        assert source.schema.field("x").type == pa.string()
        assert sorted(table(source)["x"].to_pylist()) == ["1", "word"]


# rows that do not fit


@pytest.mark.parametrize("block_bytes", [10, 100, 1000, 1 << 20])
def test_a_value_that_does_not_fit_names_row_line_column(tmp_path, block_bytes):
    lines = [f'{number},"two\nlines"' for number in range(100)]
    lines[70] = 'word,"x"'
    path = make(tmp_path, "a.csv", ("i,s\n" + "\n\n".join(lines) + "\n").encode())
    reader = ReadCsv(path, types={"i": pa.int64()}, block_bytes=block_bytes)
    opened = reader.open(0, 1, None, (), 32_768)
    before = []
    with pytest.raises(InputError) as error:
        before.extend(batch.num_rows for batch in iter(opened.read, None))
    assert sum(before) == 70  # the rows before the one at fault come first
    assert error.value.path == path and error.value.row == 71
    assert "line 212: column 'i' expects int64, found 'word'" in str(error.value)
    assert "types={'i': 'string'}" in str(error.value)


def test_a_value_in_a_column_not_read_does_not_matter(tmp_path):
    path = make(tmp_path, "a.csv", b"i,s\n1,a\nword,b\n")
    source = ReadCsv(path, types={"i": pa.int64()})
    assert rows(source, columns=("s",)) == [{"s": "a"}, {"s": "b"}]


def test_no_column_at_all_counts_the_rows(tmp_path):
    source = ReadCsv(make(tmp_path, "a.csv", b"i,s\n1,a\n2,b\n"))
    assert [batch.num_rows for batch in items(source, columns=())] == [2]


def test_a_row_of_other_width_names_its_place(tmp_path):
    path = make(tmp_path, "a.csv", b"a,b\n1,2\n\n3,4,5\n")
    with pytest.raises(InputError, match=r"row 2: line 4: expected 2 fields \(a, b\), found 3"):
        rows(ReadCsv(path, types={"a": pa.int64(), "b": pa.int64()}))


def test_text_that_is_not_utf8(tmp_path):
    path = make(tmp_path, "a.csv", b"a,b\n1,x\n2,\xff\n")
    with pytest.raises(InputError, match="row 2: line 3: column 'b' is not UTF-8"):
        rows(ReadCsv(path, types={"b": pa.string()}))


def test_types_for_unknown_columns_and_impossible_types(tmp_path):
    path = make(tmp_path, "a.csv", b"a,b\n1,2\n")
    with pytest.raises(InputError, match=r"'c', which is not among \['a', 'b'\]"):
        ReadCsv(path, types={"c": pa.int64()})
    with pytest.raises(InputError, match="column 'a': text cannot be read as list"):
        ReadCsv(path, types={"a": pa.list_(pa.int64())})
    with pytest.raises(InputError, match="column 'a' comes more than once"):
        ReadCsv(make(tmp_path, "b.csv", b"a,a\n1,2\n"))
