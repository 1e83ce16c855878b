"""A14: files without rows, and sources that yield none, are inputs like others."""

import pytest

import ambergate as ag
from tests.cases.conftest import bag

FILES = {"a.csv": b"", "b.csv": b"k,v\n", "c.csv": b"k,v\nx,1\n", "d.csv": b"\n\n\n"}
TYPES = {"k": "string", "v": "int64"}


def put(folder, *names):
    for name in names:
        (folder / name).write_bytes(FILES[name])
    return folder


@pytest.mark.parametrize("name", ["a.csv", "b.csv", "d.csv"])
def test_alone_with_a_schema_there_are_no_rows(everywhere, tmp_path, name):
    stream = ag.read_csv(put(tmp_path, name) / name, types=TYPES)
    table = everywhere(stream)
    assert (table.num_rows, table.schema.names) == (0, ["k", "v"])
    assert everywhere(stream.agg(n=ag.count()))["n"].to_pylist() == [0]
    assert everywhere(stream.group_by("k").agg(n=ag.count())).num_rows == 0


@pytest.mark.parametrize("name", ["a.csv", "d.csv"])
def test_alone_without_a_schema_the_file_is_named(tmp_path, name):
    with pytest.raises(ag.AmbergateError, match=name):
        ag.read_csv(put(tmp_path, name) / name)


def test_together_there_is_one_row(everywhere, tmp_path):
    stream = ag.read_csv(put(tmp_path, *FILES))
    assert bag(everywhere(stream)) == ["('x', 1)"]
    both = stream.join(stream.filter(ag.col("v") > 5), on="k", how="left")
    assert everywhere(both).num_rows == 1


def test_an_empty_folder_is_named(tmp_path):
    with pytest.raises(ag.AmbergateError, match="holds no file"):
        ag.read_csv(tmp_path)


def test_an_iterable_without_rows(everywhere):
    def stream():
        return ag.from_iter([], schema=TYPES)

    assert everywhere(lambda: stream().agg(n=ag.count(), t=ag.sum("v"))).to_pylist() == [
        {"n": 0, "t": None}
    ]
    assert everywhere(lambda: stream().join(stream(), on="k")).num_rows == 0


def test_batches_of_no_rows_between_full_ones(everywhere):
    full = ag.from_arrow({"k": ["x"], "v": [1]})
    parts = [full.schema.empty_table(), full.collect(backend="inline")]
    stream = ag.from_arrow([parts[0], parts[1], parts[0], parts[1], parts[0]])
    assert bag(everywhere(stream)) == ["('x', 1)", "('x', 1)"]


def test_the_output_exists_with_a_header(backend, tmp_path):
    stream = ag.read_csv(put(tmp_path, "b.csv") / "b.csv", types=TYPES)
    ag.run(stream.write_csv(str(tmp_path / "out.csv")), backend=backend)
    ag.run(stream.write_parquet(str(tmp_path / "out.parquet")), backend=backend)
    assert (tmp_path / "out.csv").read_text() == '"k","v"\n'
    again = ag.read_parquet(tmp_path / "out.parquet")
    assert again.schema == stream.schema
    assert again.collect(backend=backend).num_rows == 0
