"""Running one stream at every setting: the result must not depend on any."""

import math

INLINE = [(workers, rows) for workers in (1, 2, 4) for rows in (1, 7, 400, 4096)]
LOCAL = [(2, 400), (4, 7)]
RING = 64 << 10


def near(value):
    """Floats to nine digits; NaN as a text."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else float(f"{value:.9e}")
    return value


def bag(table):
    """The rows as a multiset, floats to nine digits."""
    return sorted(repr([near(value) for value in row.values()]) for row in table.to_pylist())


def tables(stream, settings=INLINE, backend="inline"):
    """The stream's rows at each setting."""
    for workers, rows in settings:
        yield (
            (backend, workers, rows),
            stream.collect(backend=backend, workers=workers, batch_rows=rows, ring_bytes=RING),
        )


def assert_rows(stream, expected, settings=((1, 7), (4, 3)), schema=True):
    """The stream gives these rows (tuples), in any order, at some settings, inline."""
    wanted = sorted(repr([near(value) for value in row]) for row in expected)
    for where, table in tables(stream, settings):
        assert bag(table) == wanted, where
        if schema:
            assert table.schema == stream.schema
