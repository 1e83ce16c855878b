"""A34: rows and batches larger than a ring pass whole and in order."""

import pytest

import ambergate as ag

RING = 64 << 10
SIZES = [63 << 10, 64 << 10, (64 << 10) + 1, 1 << 20, 20 << 20]


@pytest.mark.parametrize("size", SIZES)
def test_one_large_row_between_small_ones(backend, size):
    texts = ["small"] * 50 + ["x" * size] + ["after"] * 50
    stream = ag.from_arrow({"n": list(range(101)), "text": texts}, parallelism=1)
    keyed = stream.distinct("n").with_columns(length=ag.col("text").str.length())
    table = keyed.collect(backend=backend, workers=4, ring_bytes=RING)
    got = {row["n"]: (row["text"], row["length"]) for row in table.to_pylist()}
    assert got == {n: (text, len(text)) for n, text in enumerate(texts)}


def test_a_batch_of_small_rows_larger_than_the_ring(backend):
    n = 200_000
    stream = ag.from_arrow({"n": list(range(n)), "text": ["abc"] * n}, parallelism=1)
    table = (
        stream.group_by("n")
        .agg(rows=ag.count())
        .collect(backend=backend, workers=4, ring_bytes=RING, batch_rows=n)
    )
    assert table.num_rows == n
    assert sum(table["n"].to_pylist()) == n * (n - 1) // 2
