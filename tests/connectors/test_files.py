"""What a path means, and one type for many."""

import bz2
import lzma
import os

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.connectors.files import ByteStream, files_of
from ambergate.connectors.unify import unified, wider
from ambergate.errors import InputError
from tests.connectors.reading import make

NAMES = ["b.csv", "a.csv", "c.txt", ".hidden.csv", "_SUCCESS"]


@pytest.fixture
def folder(tmp_path):
    for name in NAMES:
        make(tmp_path, name, b"")
    (tmp_path / "deep").mkdir()
    make(tmp_path / "deep", "d.csv", b"")
    return tmp_path


def names(found):
    return [os.path.basename(file) for file in found]


def test_what_a_path_means(folder):
    assert names(files_of(folder)) == ["a.csv", "b.csv", "c.txt"]
    assert names(files_of(str(folder / "b.csv"))) == ["b.csv"]
    assert names(files_of(str(folder / "*.csv"))) == ["a.csv", "b.csv"]
    assert names(files_of(str(folder / "**" / "*.csv"))) == ["a.csv", "b.csv", "d.csv"]
    twice = [folder / "c.txt", str(folder / "*.txt"), folder / "a.csv"]
    assert names(files_of(twice)) == ["a.csv", "c.txt"]


def test_a_name_with_brackets_is_no_glob(folder):
    make(folder, "[x].csv", b"")
    assert names(files_of(str(folder / "[x].csv"))) == ["[x].csv"]


@pytest.mark.parametrize("path", ["no.csv", "*.parquet", ["a.csv", "no.csv"]])
def test_nothing_there(folder, path, monkeypatch):
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match=r"no such file|no file matches"):
        files_of(path)
    with pytest.raises(InputError, match="empty list"):
        files_of([])
    with pytest.raises(InputError, match="is no path"):
        files_of(5)


def zstd(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("ending", "compress"),
    [("", bytes), (".bz2", bz2.compress), (".xz", lzma.compress), (".zst", zstd)],
)
def test_compression_goes_by_the_ending(tmp_path, ending, compress):
    content = bytes(range(256)) * 100
    stream = ByteStream(make(tmp_path, "x" + ending, compress(content)))
    assert stream.read(10) == content[:10]
    assert stream.read(1 << 20) == content[10:]
    assert stream.read(5) == b""
    stream.close()


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
def test_what_is_not_compressed_is_named(tmp_path, ending):
    path = make(tmp_path, "x" + ending, b"plain text" * 10)
    with pytest.raises(InputError, match="damaged") as error:
        ByteStream(path).read(100)
    assert error.value.path == path


@pytest.mark.parametrize(
    ("ending", "compress"), [(".bz2", bz2.compress), (".xz", lzma.compress), (".zst", zstd)]
)
def test_what_is_cut_off_is_named(tmp_path, ending, compress):
    content = compress(os.urandom(1 << 16))
    path = make(tmp_path, "x" + ending, content[: len(content) // 2])
    with pytest.raises(InputError, match=r"cut off|damaged") as error:
        ByteStream(path).read(1 << 20)
    assert error.value.path == path


TYPES = st.sampled_from(
    [
        *(pa.int8(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32(), pa.uint64()),
        *(pa.float32(), pa.float64(), pa.string(), pa.large_string(), pa.null(), pa.bool_()),
        *(pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("ms", "UTC"), pa.date32()),
        *(pa.timestamp("us", "Europe/Paris"), pa.decimal128(10, 2), pa.decimal128(38, 10)),
        *(pa.list_(pa.int8()), pa.list_(pa.int64()), pa.struct({"a": pa.int8()})),
    ]
)


@given(TYPES, TYPES, st.booleans())
def test_widening_has_no_order(one, two, loose):
    assert wider(one, two, loose) == wider(two, one, loose)
    assert wider(one, one, loose) == one


@given(st.lists(TYPES, min_size=1, max_size=4), st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_the_type_of_many_files_does_not_depend_on_their_order(types, random):
    def result(types):
        files = [str(number) for number in range(len(types))]
        try:
            return unified(files, [pa.schema({"x": of}) for of in types], "").field("x").type
        except InputError:
            return None

    shuffled = types[:]
    random.shuffle(shuffled)
    assert result(types) == result(shuffled)
