"""Random dataflows of order-insensitive operators, each with its rows as plain Python has them.

Every stream has the columns ``k`` (int64 with nulls), ``v`` (int64) and ``s`` (string with nulls),
so that any operator can follow any other. ``rows`` is the expected multiset of such tuples.
"""

from collections import Counter
from random import Random

import ambergate as ag
from ambergate import col, lit

MOST_ROWS = 20_000
TEXTS = ["", "a", "b c", "c b a", "ä", None]
SCHEMA = {"k": "int64", "v": "int64", "s": "string"}


class Flow:
    """A stream and the rows it must have."""

    def __init__(self, stream, rows, ordered=False):
        self.stream, self.rows, self.ordered = stream, rows, ordered


def key(row):
    """A total order of rows with nulls last, as ``sort`` has it."""
    return tuple((value is None, value) if value is not None else (True, 0) for value in row)


def source(rng, places):
    """Rows from Arrow data or a Python iterable."""
    size = rng.choice([0, 1, 2, 17, 300, 2000])
    keys = rng.choice([1, 3, 40, 1000])
    rows = [
        (
            None if rng.random() < 0.05 else rng.randrange(keys),
            rng.randrange(-50, 50),
            rng.choice(TEXTS),
        )
        for _ in range(size)
    ]
    if rng.random() < 0.3:
        return Flow(ag.from_iter(lambda: iter(rows), schema=SCHEMA), rows)
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    import pyarrow as pa

    types = (pa.int64(), pa.int64(), pa.string())
    arrays = [pa.array(column, each) for column, each in zip(columns, types, strict=True)]
    table = pa.Table.from_arrays(arrays, names=list(SCHEMA))
    return Flow(ag.from_arrow(table, parallelism=places()), rows)


def by_expression(rng, flow, _, places):
    """A filter that can be pushed down."""
    bound = rng.randrange(-60, 60)
    kept = [row for row in flow.rows if row[1] < bound]
    return Flow(flow.stream.filter(col("v") < bound, parallelism=places()), kept)


def by_function(rng, flow, _, places):
    """A filter that is called for each row."""
    rest = rng.randrange(3)

    def keeps(k, v):
        return k is not None and (k + v) % 3 == rest

    kept = [row for row in flow.rows if keeps(row[0], row[1])]
    return Flow(flow.stream.filter(keeps, columns=["k", "v"], parallelism=places()), kept)


def mapped(rng, flow, _, places):
    """A row function that replaces two columns."""
    add = rng.randrange(5)

    def change(v, s):
        return v * 2 % 97 + add, None if s is None else s + "x"

    rows = [(k, *change(v, s)) for k, v, s in flow.rows]
    returns = {"v": "int64", "s": "string"}
    stream = flow.stream.map(change, columns=["v", "s"], returns=returns, parallelism=places())
    return Flow(stream, rows)


def several(rng, flow, _, places):
    """Zero to three rows for each."""

    def spread(k, v, s):
        for each in range((v + (k or 0)) % 4):
            yield k, each, s

    if len(flow.rows) * 3 > MOST_ROWS:
        return by_expression(rng, flow, _, places)
    rows = [made for row in flow.rows for made in spread(*row)]
    stream = flow.stream.flat_map(
        spread, columns=["k", "v", "s"], returns=SCHEMA, parallelism=places()
    )
    return Flow(stream.select("k", "v", "s"), rows)


def selected(rng, flow, _, places):
    """Arithmetic in an expression."""
    rows = [(v, v % 7 if k is None else k - v, s) for k, v, s in flow.rows]
    changed = (col("k") - col("v")).fill_null(col("v") % 7)
    return Flow(flow.stream.select("s", k=col("v"), v=changed, parallelism=places()), rows)


def united(rng, flow, other, places):
    """All rows of two streams, or of one twice."""
    if len(flow.rows) + len(other.rows) > MOST_ROWS:
        return by_function(rng, flow, other, places)
    return Flow(flow.stream.union(other.stream, parallelism=places()), flow.rows + other.rows)


def different(rng, flow, _, places):
    """Each row once."""
    return Flow(flow.stream.distinct(parallelism=places()), list(dict.fromkeys(flow.rows)))


def grouped(rng, flow, _, places):
    """Counts and sums for each key."""
    totals = {}
    for _, v, s in flow.rows:
        seen = totals.setdefault(s, [0, 0])
        seen[0] += v
        seen[1] += 1
    stream = flow.stream.group_by("s").agg(total=ag.sum("v"), n=ag.count(), parallelism=places())
    rows = [(n, total, s) for s, (total, n) in totals.items()]
    return Flow(stream.select("s", k=col("n"), v=col("total")), rows)


def running(rng, flow, _, places):
    """The numbers 1, 2, ... for each key: the same whatever the order."""
    counts = Counter(k for k, _, _ in flow.rows)
    rows = [(k, n, "r") for k, most in counts.items() for n in range(1, most + 1)]
    stream = flow.stream.group_by("k").running(n=ag.count(), parallelism=places())
    return Flow(stream.select("k", v=col("n"), s=lit("r")), rows)


def joined(rng, flow, other, places):
    """Matches by key, of two streams or of one with itself, directly or by two ways."""
    how = rng.choice(["inner", "left", "semi", "anti", "full"])
    matches = {}
    for row in other.rows:
        if row[0] is not None:
            matches.setdefault(row[0], []).append(row)
    size = sum(max(1, len(matches.get(row[0], ()))) for row in flow.rows) + len(other.rows)
    if size > MOST_ROWS:
        how = rng.choice(["semi", "anti"])
    stream = flow.stream.join(other.stream, on="k", how=how, parallelism=places())
    if how == "semi":
        return Flow(stream, [row for row in flow.rows if row[0] in matches])
    if how == "anti":
        return Flow(stream, [row for row in flow.rows if row[0] not in matches])
    rows = []
    for k, v, s in flow.rows:
        found = matches.get(k, ()) if k is not None else ()
        rows += [(k, v + right[1], s) for right in found]
        if not found and how in ("left", "full"):
            rows.append((k, v - 1000, s))
    if how == "full":
        left = {row[0] for row in flow.rows}
        rows += [(k, v - 1000, None) for k, v, _ in other.rows if k is None or k not in left]
    value = (col("v") + col("v_right")).fill_null(
        (col("v") - 1000).fill_null(col("v_right") - 1000)
    )
    return Flow(stream.select("k", "s", v=value), rows)


def exploded(rng, flow, _, places):
    """One row for each word."""
    if len(flow.rows) * 2 > MOST_ROWS:
        return by_expression(rng, flow, _, places)
    rows = [
        (k, v, word) for k, v, s in flow.rows for word in ([None] if s is None else s.split(" "))
    ]
    stream = flow.stream.with_columns(words=col("s").str.split(" "))
    stream = stream.explode("words", parallelism=places())
    return Flow(stream.select("k", "v", s=col("words")), rows)


def in_order(_, flow, __, ___):
    """All rows sorted by all columns."""
    stream = flow.stream.sort("k", "v", "s")
    return Flow(stream, sorted(flow.rows, key=key), ordered=True)


def counted(rng, flow, _, __):
    """How many rows a limit lets through: the same whichever they are."""
    most = rng.choice([0, 1, 10, 100_000])
    stream = flow.stream.limit(most).agg(n=ag.count())
    rows = [(min(most, len(flow.rows)), 0, "n")]
    return Flow(stream.select(k=col("n"), v=lit(0, "int64"), s=lit("n")), rows)


OPERATORS = [
    by_expression,
    by_function,
    mapped,
    several,
    selected,
    united,
    different,
    grouped,
    running,
    joined,
    joined,
    united,
    exploded,
    in_order,
    counted,
]


def random_dataflow(rng: Random):
    """Several sinks over a few sources and three to eight operators: ``(sinks, expected)``."""

    def places():
        return rng.choice([None, 1, 2, 3, 4])

    flows = [source(rng, places) for _ in range(rng.choice([1, 1, 2, 3]))]
    unread = list(flows)
    for _ in range(rng.randrange(3, 9)):
        flow = rng.choice(unread if rng.random() < 0.7 and unread else flows)
        other = rng.choice(flows)
        made = rng.choice(OPERATORS)(rng, flow, other, places)
        unread = [each for each in unread if each is not flow]
        flows.append(made)
        unread.append(made)
    ends = unread[-3:] if rng.random() < 0.5 else unread[-1:]
    sinks = [
        flow.stream.to_table(name=f"t{number}", parallelism=places() if not flow.ordered else 1)
        for number, flow in enumerate(ends)
    ]
    return sinks, {f"t{number}": flow for number, flow in enumerate(ends)}
