"""The sequence all debugging scenarios run on: SEQ(n, parts)."""

import pyarrow as pa

import ambergate as ag


def seq_tables(n=100_000, parts=4, batch=None):
    """One table per partition p = id mod parts, in order of k = id div parts."""
    tables = []
    for part in range(parts):
        ids = range(part, n, parts)
        tables.append(
            pa.table(
                {
                    "id": pa.array(ids, pa.int64()),
                    "p": pa.array([part] * len(ids), pa.int64()),
                    "k": pa.array([i // parts for i in ids], pa.int64()),
                    "v": pa.array([(i * 7919) % 1000 for i in ids], pa.int64()),
                    "key": pa.array([i % 10 for i in ids], pa.int64()),
                    "w": pa.array([1 + i % 5 for i in ids], pa.int64()),
                }
            )
        )
    return tables


def seq(n=100_000, parts=4):
    """SEQ as a stream with one source task per partition."""
    return ag.from_arrow(seq_tables(n, parts), name="seq", parallelism=parts)


def rows_of(table):
    """The rows of a table as a sorted list of tuples: for comparing multisets."""
    return sorted(
        (tuple(row.values()) for row in table.to_pylist()),
        key=lambda row: tuple((value is None, str(type(value)), value) for value in row),
    )
