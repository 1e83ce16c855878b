"""Expressions on a batch of 16,384 rows."""

import pyarrow as pa
import pytest
from ambergate.kernels.evaluate import compile_expression

from ambergate import col
from ambergate.channels.gate import DONE

EXPRESSIONS = {
    "filter": col("value") > 50,
    "scale": col("value") * 2 + 1,
    "next_key": (col("key") * 7919 + 13) % 50000,
}


@pytest.mark.parametrize("name", sorted(EXPRESSIONS))
@pytest.mark.parametrize("rows", [64, 16_384])
def test_evaluate(per_row, batch, gate, name, rows):
    evaluator = compile_expression(EXPRESSIONS[name], batch.schema)
    part = batch.slice(0, rows)
    status, cursor, values = per_row(rows, evaluator.evaluate, part, 0, rows, gate)
    assert (status, cursor, len(values)) == (DONE, rows, rows)


def test_split_words(per_row, gate):
    lines = pa.array(["the quick brown fox jumps over a lazy dog again"] * 1_600)
    batch = pa.record_batch({"line": lines})
    evaluator = compile_expression(col("line").str.split(" "), batch.schema)
    words = 10 * len(lines)
    status, cursor, _ = per_row(words, evaluator.evaluate, batch, 0, len(lines), gate)
    assert (status, cursor) == (DONE, len(lines))
