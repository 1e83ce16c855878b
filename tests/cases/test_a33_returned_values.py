"""A33: what a user function returns is what was declared, or an error that says what was found."""

import numpy as np
import pyarrow as pa
import pytest

import ambergate as ag
from tests.cases.conftest import bag

SOURCE = {"x": [1, 2, 3]}
ONE = {"y": "int64"}
TWO = {"y": "int64", "z": "string"}


def stream():
    return ag.from_arrow(SOURCE)


async def later(x):
    return x


def generated(x):
    yield x
    yield 10 * x


def generated_and_returned(x):
    yield x
    return [99]


RIGHT = {
    "None from map": (
        lambda s: s.map(lambda x: None, ["x"], ONE),
        [(1, None), (2, None), (3, None)],
    ),
    "NumPy scalar": (lambda s: s.map(lambda x: np.int32(x), ["x"], ONE), [(1, 1), (2, 2), (3, 3)]),
    "tuple": (lambda s: s.map(lambda x: (x, "a"), ["x"], TWO), [(n, n, "a") for n in (1, 2, 3)]),
    "dict": (
        lambda s: s.map(lambda x: {"z": "a", "y": x}, ["x"], TWO),
        [(n, n, "a") for n in (1, 2, 3)],
    ),
    "generator of flat_map": (
        lambda s: s.flat_map(generated, ["x"], ONE),
        [(n, m) for n in (1, 2, 3) for m in (n, 10 * n)],
    ),
    "generator that returns": (
        lambda s: s.flat_map(generated_and_returned, ["x"], ONE),
        [(n, n) for n in (1, 2, 3)],
    ),
    "no rows": (lambda s: s.flat_map(lambda x: [], ["x"], ONE), []),
    "batch of other length": (
        lambda s: s.map_batches(lambda b: pa.record_batch({"y": [b.num_rows] * 2}), ONE, rows=3),
        None,
    ),
    "nothing is true": (lambda s: s.filter(lambda x: None, ["x"]), []),
    "NumPy truth": (lambda s: s.filter(lambda x: np.bool_(x > 1), ["x"]), [(2,), (3,)]),
}


@pytest.mark.parametrize("what", RIGHT)
def test_values_that_fit(everywhere, what):
    write, expected = RIGHT[what]
    made = write(stream())
    if expected is None:  # the batches of one task depend on the number of tasks
        table = made.collect(workers=1, backend="inline")
        assert table.to_pylist() == [{"y": 3}, {"y": 3}]
        return
    table = everywhere(made)
    assert table.schema == made.schema
    assert bag(table) == sorted(map(repr, expected))


WRONG = {
    "text from flat_map": (
        lambda s: s.flat_map(lambda x: "abc", ["x"], {"y": "string"}),
        ["'abc'"],
    ),
    "bytes from flat_map": (
        lambda s: s.flat_map(lambda x: b"abc", ["x"], {"y": "binary"}),
        ["b'abc'"],
    ),
    "dict from flat_map": (lambda s: s.flat_map(lambda x: {"y": 1}, ["x"], ONE), ["dict"]),
    "None from flat_map": (lambda s: s.flat_map(lambda x: None, ["x"], ONE), ["None", "[]"]),
    "generator from map": (lambda s: s.map(generated, ["x"], ONE), ["generated", "generator"]),
    "coroutine from map": (lambda s: s.map(later, ["x"], ONE), ["later", "coroutine"]),
    "coroutine from flat_map": (lambda s: s.flat_map(later, ["x"], ONE), ["later", "coroutine"]),
    "coroutine from filter": (lambda s: s.filter(later, ["x"]), ["later", "coroutine"]),
    "text for a number": (
        lambda s: s.map(lambda x: "a", ["x"], ONE),
        ["int64", "'a'", "str", "'y'"],
    ),
    "number for a text": (
        lambda s: s.map(lambda x: 1, ["x"], {"y": "string"}),
        ["string", "1", "int"],
    ),
    "fraction for an integer": (lambda s: s.map(lambda x: 1.5, ["x"], ONE), ["int64", "1.5"]),
    "too large": (lambda s: s.map(lambda x: 300, ["x"], {"y": "int8"}), ["int8", "300"]),
    "dict without a column": (lambda s: s.map(lambda x: {"y": 1}, ["x"], TWO), ["'z'"]),
    "dict with one more": (
        lambda s: s.map(lambda x: {"y": 1, "z": "a", "w": 2}, ["x"], TWO),
        ["'w'"],
    ),
    "tuple too short": (lambda s: s.map(lambda x: (1,), ["x"], TWO), ["2"]),
    "batch without the column": (
        lambda s: s.map_batches(lambda b: pa.record_batch({"q": [1]}), ONE, rows=1),
        ["'y'"],
    ),
    "no batch": (lambda s: s.map_batches(lambda b: None, ONE, rows=1), ["None"]),
}


@pytest.mark.parametrize("what", WRONG)
def test_values_that_do_not_fit(backend, what):
    write, words = WRONG[what]
    with pytest.raises(ag.JobFailed) as caught:
        write(stream()).collect(backend=backend, workers=1)
    text = str(caught.value)
    assert "must return" in text
    assert caught.value.position == 0
    assert [word for word in words if word not in text] == [], text


def test_the_naive_way_makes_three_rows_of_a_text():
    assert [row for rows in map(lambda x: "abc", [1]) for row in rows] == ["a", "b", "c"]
