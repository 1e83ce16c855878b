"""A15: a type comes from all files together, in any order of their names."""

import pyarrow as pa
import pyarrow.dataset
import pytest

import ambergate as ag

NULLS, TEXT, NUMBER = '{"u":null}\n{"u":null}\n', '{"u":null}\n{"u":"x"}\n', '{"u":5}\n'


def put(folder, *texts):
    for number, text in enumerate(texts, 1):
        (folder / f"{number}.jsonl").write_text(text)
    return folder


@pytest.mark.parametrize("texts", [(NULLS, TEXT), (TEXT, NULLS)])
def test_null_then_text_in_both_orders(everywhere, tmp_path, texts):
    table = everywhere(ag.read_json(put(tmp_path, *texts)))
    assert table.schema.field("u").type == pa.string()
    assert sorted(table["u"].to_pylist(), key=repr) == ["x", None, None, None]


@pytest.mark.parametrize("texts", [(NULLS, TEXT, NUMBER), (NUMBER, TEXT, NULLS)])
def test_text_and_number_are_refused_by_file_line_and_types(tmp_path, texts):
    with pytest.raises(ag.AmbergateError) as caught:
        ag.read_json(put(tmp_path, *texts))
    for word in (".jsonl", "line", "'u'", "string", "int64"):
        assert word in str(caught.value)


def test_a_declared_type_is_not_converted_to(tmp_path):
    put(tmp_path, NULLS, TEXT, NUMBER)
    with pytest.raises(ag.AmbergateError, match=r"3\.jsonl.*'u' expects string, found int64 5"):
        ag.read_json(tmp_path, types={"u": "string"})


def test_the_naive_way_raises(tmp_path):
    put(tmp_path, NULLS, TEXT)
    with pytest.raises(pa.ArrowException):
        pa.dataset.dataset(tmp_path, format="json").to_table()
