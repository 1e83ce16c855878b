"""A13: a line end inside quotes is part of the value, wherever a block of the file ends."""

import pyarrow as pa
import pyarrow.csv
import pytest

import ambergate as ag

ROWS = 200_000
TEXTS = {"lf": "a\nb\nc\nd", "crlf": "a\r\nb\r\nc\r\nd", "quote": 'a\n"b" ""c\nd'}


@pytest.fixture(params=TEXTS)
def written(request, tmp_path):
    text = TEXTS[request.param]
    path = tmp_path / "rows.csv"
    quoted = text.replace('"', '""')
    with path.open("w", newline="") as file:
        file.write("text,i\n")
        file.writelines(f'"{quoted}",{number}\n' for number in range(ROWS))
    return path, text


def test_every_row_is_whole(backend, written):
    path, text = written
    stream = ag.read_csv(path, parallelism=4)
    exact = ag.col("text") == text
    summed = stream.group_by(exact.alias("exact")).agg(n=ag.count(), total=ag.sum("i"))
    for batch_rows in (1000, 1 << 16):
        table = summed.collect(backend=backend, workers=2, batch_rows=batch_rows)
        assert table.to_pylist() == [{"exact": True, "n": ROWS, "total": 19_999_900_000}]


def test_the_naive_way_breaks_rows(written):
    with pytest.raises(pa.ArrowInvalid):
        pa.csv.read_csv(written[0], read_options=pa.csv.ReadOptions(block_size=1000))
