"""Expressions on a batch of 16,384 rows."""

import numpy as np
import pyarrow as pa
import pytest

from ambergate.channels.gate import DONE
from ambergate.expr import col
from ambergate.kernels.evaluate import compile_expression

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
    result = per_row(rows, evaluator.evaluate, part, 0, rows, gate)
    assert (result.status, result.cursor, len(result.values)) == (DONE, rows, rows)


@pytest.mark.parametrize("rows", [64, 16_384])
def test_select(per_row, batch, gate, rows):
    evaluator = compile_expression(EXPRESSIONS["filter"], batch.schema)
    part, indices = batch.slice(0, rows), np.empty(rows, dtype=np.int64)
    result = per_row(rows, evaluator.select, part, 0, rows, gate, indices)
    assert result.status == DONE
    assert result.selected == int((part.column("value").to_numpy() > 50).sum())


def test_split_words(per_row, gate):
    lines = pa.array(["the quick brown fox jumps over a lazy dog again"] * 1_600)
    batch = pa.record_batch({"line": lines})
    evaluator = compile_expression(col("line").str.split(" "), batch.schema)
    words = 10 * len(lines)
    result = per_row(words, evaluator.evaluate, batch, 0, len(lines), gate)
    assert (result.status, result.cursor) == (DONE, len(lines))
