"""A16: all members of a gzip file are read; a cut-off one commits nothing."""

import gzip

import pytest

import ambergate as ag
from tests.cases.conftest import bag

FIRST, SECOND = gzip.compress(b"id,v\n1,10\n"), gzip.compress(b"2,20\n")
BOTH = ["(1, 10)", "(2, 20)"]


@pytest.mark.parametrize("padding", [b"", bytes(16)])
def test_members_follow_one_another(everywhere, tmp_path, padding):
    (tmp_path / "a.csv.gz").write_bytes(FIRST + SECOND + padding)
    assert bag(everywhere(ag.read_csv(tmp_path / "a.csv.gz"))) == BOTH


@pytest.mark.parametrize("rows", [5000, 400_000])  # cut in what is looked at first, and beyond
def test_a_file_cut_off_is_named_and_nothing_is_committed(backend, tmp_path, rows):
    text = "id,v\n" + "".join(f"{number},{number * 7919 % 10_007}\n" for number in range(rows))
    whole = gzip.compress(text.encode())
    (tmp_path / "cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    target = tmp_path / "out" / "rows.csv"

    def copy():
        stream = ag.read_csv(tmp_path / "cut.csv.gz")
        ag.run(stream.write_csv(str(target)), backend=backend, batch_rows=100)

    with pytest.raises(ag.AmbergateError, match=r"cut\.csv\.gz"):
        copy()
    assert not target.exists()
    assert not target.parent.exists() or list(target.parent.iterdir()) == []


def test_the_naive_way_stops_after_the_first_member():
    import zlib

    assert zlib.decompressobj(wbits=31).decompress(FIRST + SECOND) == b"id,v\n1,10\n"
