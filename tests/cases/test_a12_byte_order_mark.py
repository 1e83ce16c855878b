"""A12: a byte-order mark belongs to no name and no value."""

import pyarrow as pa

import ambergate as ag
from tests.cases.conftest import bag

MARK = b"\xef\xbb\xbf"


def test_files_with_and_without(everywhere, tmp_path):
    (tmp_path / "a.csv").write_bytes(MARK + b'"id","v"\r\n1,2\r\n')
    (tmp_path / "b.csv").write_bytes(b'"id","v"\r\n3,4\r\n')
    stream = ag.read_csv(tmp_path, types={"id": "string"})
    assert stream.schema == pa.schema({"id": pa.string(), "v": pa.int64()})
    assert bag(everywhere(stream)) == ["('1', 2)", "('3', 4)"]


def test_inside_the_data_it_is_text(everywhere, tmp_path):
    (tmp_path / "a.csv").write_bytes(MARK + b"id,v\nx,1\n" + MARK + b"y,2\n")
    table = everywhere(ag.read_csv(tmp_path / "a.csv"))
    assert bag(table) == sorted(["('x', 1)", repr(("\ufeffy", 2))])


def test_the_naive_way_takes_it_into_the_name():
    assert (MARK + b"id,v\n").decode().split(",")[0] != "id"
