"""Every case runs at parallelism 1 and 4, with batches of 1, 3 and 1024 rows, on each backend."""

import pytest

SETTINGS = {
    "inline": [(workers, rows) for workers in (1, 4) for rows in (1, 3, 1024)],
    "local": [(1, 1024), (4, 3)],
}


def bag(table):
    """The rows of a table as a sorted list of texts: a multiset in which NaN equals NaN."""
    return sorted(repr(tuple(row.values())) for row in table.to_pylist())


@pytest.fixture
def everywhere(backend):
    """Collect a stream (or what a function makes) at every setting; the same rows each time."""

    def collect(stream):
        first = None
        for workers, rows in SETTINGS[backend]:
            made = stream() if callable(stream) else stream
            table = made.collect(backend=backend, workers=workers, batch_rows=rows)
            if first is None:
                first = table
            assert table.schema == first.schema
            assert bag(table) == bag(first), (workers, rows)
        return first

    return collect
