"""Deterministic tables as Parquet files in a cache folder.

=========  ==============================================  =========================
table      columns                                         parts
=========  ==============================================  =========================
uniform    id, key, value, text                            1,000,000 rows, groups of
zipf       the same, other keys                            250,000
narrow     id, value: of ``uniform``, for 100 million rows
text       line: ten words                                 400,000 rows, groups of
                                                           100,000
=========  ==============================================  =========================

``value`` is a multiple of 1/256, so that sums are exact in float64 in any order. ``narrow`` saves
the disk the columns that no engine reads in the workload it is for.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

KEYS = 100_000
WORDS = 50_000
WORDS_OF_A_LINE = 10
PART_ROWS = {"uniform": 1_000_000, "zipf": 1_000_000, "narrow": 1_000_000, "text": 400_000}
GROUP_ROWS = {"uniform": 250_000, "zipf": 250_000, "narrow": 250_000, "text": 100_000}


def folder() -> Path:
    """Where the files are kept: ``AMBERGATE_BENCH_DATA``, or a folder of the user's cache."""
    named = os.environ.get("AMBERGATE_BENCH_DATA")
    return Path(named) if named else Path.home() / ".cache" / "ambergate-bench"


def rows_of(table: str, rows: int) -> list[int]:
    """Rows of each part of a table of ``rows`` rows.

    >>> rows_of("uniform", 2_500_000)
    [1000000, 1000000, 500000]
    """
    full, rest = divmod(rows, PART_ROWS[table])
    return [PART_ROWS[table]] * full + ([rest] if rest else [])


def parquet(table: str, rows: int) -> list[str]:
    """Paths of the files that hold the first ``rows`` rows; written now if they are not there."""
    paths = []
    for part, part_rows in enumerate(rows_of(table, rows)):
        whole = part_rows == PART_ROWS[table]
        name = f"part-{part:04d}" + ("" if whole else f"-first-{part_rows}")
        paths.append(folder() / table / f"{name}.parquet")
    if not all(path.exists() for path in paths):
        with locked(folder() / "lock"):
            for part, path in enumerate(paths):
                if not path.exists():
                    write(table, part, path, rows_of(table, rows)[part])
    return [str(path) for path in paths]


def write(table: str, part: int, path: Path, rows: int) -> None:
    """Write one part; nothing is seen under its name before it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    encodings = {"id": "DELTA_BINARY_PACKED"} if table == "narrow" else None
    pq.write_table(
        MAKERS[table](part).slice(0, rows),
        unfinished,
        row_group_size=GROUP_ROWS[table],
        compression="snappy",
        use_dictionary=["value"] if encodings else True,
        column_encoding=encodings,
    )
    unfinished.replace(path)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the file lock ``path``: two processes do not write the same tables at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def ids_of(part: int) -> np.ndarray:
    """Numbers of the rows of a part; int64, shape (1,000,000,)."""
    return np.arange(part * 1_000_000, (part + 1) * 1_000_000, dtype=np.int64)


def values_of(ids: np.ndarray) -> np.ndarray:
    """The column ``value``; float64 in [0, 100), multiples of 1/256."""
    return ((ids * 48_271) % 2_147_483_647 % 25_600) / 256.0


def text_of(ids: np.ndarray) -> pa.Array:
    """The column ``text``; it repeats after 1,000 rows."""
    names = ["alpha", "beta", "gamma", "delta", "eps", "zeta", "eta", "theta"]
    cycle = pa.array([f"{names[number % 8]}{number}" for number in range(1_000)])
    return cycle.take(pa.array(ids % 1_000))


def uniform(part: int) -> pa.Table:
    """Every key about as often as any other."""
    ids = ids_of(part)
    keys = ids * 2_654_435_761 % 2**32 % KEYS
    return pa.table({"id": ids, "key": keys, "value": values_of(ids), "text": text_of(ids)})


def narrow(part: int) -> pa.Table:
    """The ids and values of ``uniform``."""
    ids = ids_of(part)
    return pa.table({"id": ids, "value": values_of(ids)})


class Draws:
    """Independent numbers in [0, 1) for each part of a table: part n can be made without n - 1."""

    def __init__(self, stream: np.random.Generator):
        self.state = stream.bit_generator.state  # after whatever was drawn before

    def part(self, part: int, count: int) -> np.ndarray:
        """The numbers of one part; float64, shape (count,)."""
        bits = np.random.PCG64()
        bits.state = self.state
        bits.advance(part * count)  # one step of the generator a number
        return np.random.Generator(bits).random(count)


@cache
def zipf_keys() -> tuple[Draws, np.ndarray, np.ndarray]:
    """Draws, cumulated probabilities by rank, and the key of each rank."""
    stream = np.random.default_rng(7)
    weights = np.arange(1, KEYS + 1, dtype=np.float64) ** -1.2
    key_of_rank = stream.permutation(KEYS)
    return Draws(stream), np.cumsum(weights / weights.sum()), key_of_rank


def zipf(part: int) -> pa.Table:
    """Few keys make most rows: exponent 1.2."""
    draws, cumulated, key_of_rank = zipf_keys()
    ids = ids_of(part)
    ranks = np.minimum(np.searchsorted(cumulated, draws.part(part, len(ids))), KEYS - 1)
    keys = key_of_rank[ranks].astype(np.int64)
    return pa.table({"id": ids, "key": keys, "value": values_of(ids), "text": text_of(ids)})


@cache
def vocabulary() -> tuple[Draws, np.ndarray, pa.Array]:
    """Draws, cumulated probabilities by rank (Zipf, exponent 1.05), and the word of each rank."""
    stream = np.random.default_rng(13)
    lengths = stream.integers(3, 10, WORDS)
    words: dict[str, None] = {}
    while len(words) < WORDS:
        length = lengths[len(words)] + (len(words) > 20_000)
        letters = stream.integers(0, 26, length).astype(np.uint8) + ord("a")
        words.setdefault(letters.tobytes().decode())
    cumulated = np.cumsum(1 / np.arange(1, WORDS + 1) ** 1.05)
    return Draws(stream), cumulated / cumulated[-1], pa.array(list(words))


def text(part: int) -> pa.Table:
    """Lines of ten words."""
    draws, cumulated, words = vocabulary()
    count = PART_ROWS["text"] * WORDS_OF_A_LINE
    ranks = np.minimum(np.searchsorted(cumulated, draws.part(part, count)), WORDS - 1)
    offsets = np.arange(0, count + 1, WORDS_OF_A_LINE, dtype=np.int32)
    lists = pa.ListArray.from_arrays(offsets, words.take(pa.array(ranks)))
    return pa.table({"line": pc.binary_join(lists, " ")})


MAKERS: dict[str, Callable[[int], pa.Table]] = {
    "uniform": uniform,
    "zipf": zipf,
    "narrow": narrow,
    "text": text,
}
