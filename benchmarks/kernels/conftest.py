"""What the kernel benchmarks share: batches of the usual size, an armed gate, time a row."""

import numpy as np
import pyarrow as pa
import pytest

from ambergate.channels.gate import Gate
from benchmarks import tables

ROWS = 16_384


@pytest.fixture
def gate():
    """A gate whose limit is never reached."""
    gate = Gate()
    gate.reset()
    gate.set_limit(1 << 40)
    gate.at(0)
    return gate


@pytest.fixture
def batch():
    """The first rows of the uniform table: id, key, value, text."""
    return first_rows(tables.uniform(0))


@pytest.fixture
def zipf():
    """The first rows of the table of few frequent keys."""
    return first_rows(tables.zipf(0))


@pytest.fixture
def words():
    """As many words as a batch has rows, few of them frequent."""
    draws, cumulated, vocabulary = tables.vocabulary()
    ranks = np.searchsorted(cumulated, draws.part(0, ROWS)).clip(max=tables.WORDS - 1)
    return vocabulary.take(pa.array(ranks))


def first_rows(table):
    """One batch of ``ROWS`` rows."""
    return table.slice(0, ROWS).combine_chunks().to_batches()[0]


@pytest.fixture
def per_row(benchmark):
    """Time a function over ``rows`` rows; nanoseconds a row stand in the report's extra_info."""

    def measure(rows, function, *arguments):
        benchmark.extra_info["rows"] = rows
        result = benchmark(function, *arguments)
        if benchmark.enabled:
            benchmark.extra_info["ns_per_row"] = round(benchmark.stats["min"] / rows * 1e9, 3)
        return result

    return measure
