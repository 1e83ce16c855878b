"""What is computed, on which table, and what the answer is.

======  ==========================================================================================
A       rows with value > 50; y = 2 value + 1; count and sum of y
A_udf   the same, filter and y by Python functions called once a row
B       count and sum of value per key; 100,000 keys, uniform
B_zipf  the same; Zipf 1.2
C       running count per key (v); k = (7919 key + 13) mod 50000; v += running count per k;
        k = (104729 k + 7) mod 20000; count and sum of v per k: three exchanges by key. The answer
        does not depend on the order of the rows within a key
E       how often each word occurs; lines of ten words, 50,000 words, Zipf
======  ==========================================================================================

An answer is a dict of numbers that name the result without its order: rows, counts, sums, and
both weighted by the key.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import tables

Answer = dict[str, float]


@dataclass(frozen=True, slots=True)
class Workload:
    """One thing to compute."""

    name: str
    table: str
    columns: tuple[str, ...]  # those an engine has to read
    rows: int  # input rows of the full size
    reference: Callable[[pa.Table], Answer]

    def paths(self, rows: int) -> list[str]:
        """The Parquet files of ``rows`` input rows."""
        only_value = self.columns == ("value",)
        table = "narrow" if only_value and rows > 10_000_000 else self.table
        return tables.parquet(table, rows)

    def expected(self, rows: int) -> Answer:
        """The right answer over ``rows`` input rows: agreed between engines, or by NumPy."""
        if (self.name, rows) in AGREED:
            return AGREED[self.name, rows]
        parts = [pq.read_table(path, columns=list(self.columns)) for path in self.paths(rows)]
        return self.reference(pa.concat_tables(parts))


def of_total(count: int, total: float) -> Answer:
    """The answer of a workload that ends in one row."""
    return {"count": int(count), "sum": float(total)}


def of_groups(keys: np.ndarray, counts: np.ndarray, sums: np.ndarray) -> Answer:
    """The answer of a workload that ends in a count and a sum per integer key."""
    keys, counts = np.asarray(keys, dtype=np.int64), np.asarray(counts, dtype=np.int64)
    sums = np.asarray(sums, dtype=np.float64)
    return {
        "groups": len(keys),
        "count": int(counts.sum()),
        "sum": float(sums.sum()),
        "key_count": int((keys * counts).sum()),
        "key_sum": float((keys % 1_000 * sums).sum()),
    }


def of_words(words: pa.Array | pa.ChunkedArray, counts: np.ndarray) -> Answer:
    """The answer of a workload that ends in a count per word."""
    counts = np.asarray(counts, dtype=np.int64)
    letters = np.asarray(pc.utf8_length(words), dtype=np.int64)
    return {
        "groups": len(counts),
        "count": int(counts.sum()),
        "letters": int((letters * counts).sum()),
    }


def difference(found: Answer, expected: Answer) -> str:
    """What is wrong with an answer, or nothing: integers exactly, sums to 1e-9."""
    if found.keys() != expected.keys():
        return f"has {sorted(found)}, expected {sorted(expected)}"
    wrong = [
        f"{name} is {found[name]!r}, expected {value!r}"
        for name, value in expected.items()
        if not (
            math.isclose(found[name], value, rel_tol=1e-9)
            if isinstance(value, float)
            else found[name] == value
        )
    ]
    return "; ".join(wrong)


def total_above_50(table: pa.Table) -> Answer:
    """A by NumPy."""
    values = table["value"].to_numpy()
    kept = values[values > 50] * 2 + 1
    return of_total(len(kept), kept.sum())


def groups(keys: np.ndarray, values: np.ndarray) -> Answer:
    """Count and sum per key by NumPy."""
    counts = np.bincount(keys)
    present = np.flatnonzero(counts)
    return of_groups(present, counts[present], np.bincount(keys, weights=values)[present])


def total_by_key(table: pa.Table) -> Answer:
    """B by NumPy."""
    return groups(table["key"].to_numpy(), table["value"].to_numpy())


def running_count(keys: np.ndarray) -> np.ndarray:
    """How often each row's key has occurred up to and with that row; int64, shape (rows,).

    >>> running_count(np.array([7, 3, 7, 7])).tolist()
    [1, 1, 2, 3]
    """
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.searchsorted(ordered, ordered)
    counts = np.empty(len(keys), dtype=np.int64)
    counts[order] = np.arange(1, len(keys) + 1) - first
    return counts


def three_exchanges(table: pa.Table) -> Answer:
    """C by NumPy."""
    keys = table["key"].to_numpy()
    values = running_count(keys)
    keys = (keys * 7_919 + 13) % 50_000
    values += running_count(keys)
    return groups((keys * 104_729 + 7) % 20_000, values)


def word_count(table: pa.Table) -> Answer:
    """E by pyarrow."""
    words = pc.list_flatten(pc.split_pattern(table["line"], " "))
    counted = words.value_counts()
    return of_words(counted.field("values"), counted.field("counts"))


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("A", "uniform", ("value",), 10_000_000, total_above_50),
        Workload("A_udf", "uniform", ("value",), 10_000_000, total_above_50),
        Workload("B", "uniform", ("key", "value"), 10_000_000, total_by_key),
        Workload("B_zipf", "zipf", ("key", "value"), 10_000_000, total_by_key),
        Workload("C", "uniform", ("key",), 10_000_000, three_exchanges),
        Workload("E", "text", ("line",), 3_200_000, word_count),
    )
}


def grouped(groups: int, count: int, total: float, key_count: int, key_sum: float) -> Answer:
    """An agreed answer, field by field."""
    return {
        "groups": groups,
        "count": count,
        "sum": total,
        "key_count": key_count,
        "key_sum": key_sum,
    }


MILLION = 1_000_000
AGREED: dict[tuple[str, int], Answer] = {
    ("A", MILLION): of_total(499_962, 75_494_184.7109375),
    ("A", 10 * MILLION): of_total(4_999_609, 754_940_764.6953125),
    ("A_udf", MILLION): of_total(499_962, 75_494_184.7109375),
    ("A_udf", 10 * MILLION): of_total(4_999_609, 754_940_764.6953125),
    ("B", MILLION): grouped(
        100_000, MILLION, 49_998_025.8515625, 49_999_236_480, 24_974_042_371.515625
    ),
    ("B", 10 * MILLION): grouped(
        100_000, 10 * MILLION, 499_980_024.3828125, 499_992_404_416, 249_735_965_938.78125
    ),
    ("B_zipf", MILLION): grouped(
        46_334, MILLION, 49_998_025.8515625, 55_218_085_591, 19_662_579_795.65625
    ),
    ("B_zipf", 10 * MILLION): grouped(
        96_623, 10 * MILLION, 499_980_024.3828125, 552_148_707_177, 196_690_218_305.0039
    ),
    ("C", MILLION): grouped(20_000, MILLION, 16_125_130.0, 9_999_202_480, 8_054_562_143.0),
    ("C", 10 * MILLION): grouped(
        20_000, 10 * MILLION, 1_510_129_863.0, 99_992_957_616, 754_311_880_528.0
    ),
    ("E", 400_000): {"groups": 49_961, "count": 4_000_000, "letters": 26_966_115},
    ("E", 800_000): {"groups": 50_000, "count": 8_000_000, "letters": 53_935_702},
    ("E", 3_200_000): {"groups": 50_000, "count": 32_000_000, "letters": 215_743_992},
}
