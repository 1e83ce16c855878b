from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.channels.gate import DONE, STOPPED, Gate
from ambergate.expr import col
from ambergate.kernels.evaluate import compile_expression
from ambergate.kernels.reference import strings as reference
from ambergate.kernels.strings import split_rows
from ambergate_native.columns import Column
from ambergate_native.strings import split

TEXTS = st.lists(st.none() | st.text(alphabet="ab, \0é", max_size=25), max_size=40)


@settings(max_examples=150, deadline=None)
@given(
    texts=TEXTS,
    separator=st.sampled_from([" ", ",", ", ", "aa", "é", "\0", "aba", ",,"]),
    of=st.sampled_from([pa.string(), pa.large_string()]),
    skip=st.integers(0, 9),
    stops=st.lists(st.integers(0, 40), max_size=4),
)
def test_split_is_that_of_python_wherever_it_stops(texts, separator, of, skip, stops):
    strings = pa.array(texts, of).slice(skip)
    texts = texts[skip:]
    gate = Gate()
    gate.reset()
    gate.at(0)
    start, rows = 0, []
    for limit in [*sorted(stops), 2**60]:
        gate.set_limit(limit)
        status, cursor, lists = split_rows(strings, separator, start, len(strings), gate)
        lists.validate(full=True)
        assert cursor == min(max(limit, start), len(strings)) and len(lists) == cursor - start
        assert status == (DONE if cursor == len(strings) else STOPPED)
        rows += lists.to_pylist()
        start = cursor
    assert rows == reference.split(texts, separator, 0, len(texts))


def test_text_behind_a_null_is_no_text():
    strings = pa.array(["a b", "c d", "e"])
    hidden = pa.Array.from_buffers(pa.string(), 3, [pa.py_buffer(b"\x05"), *strings.buffers()[1:]])
    gate = Gate()
    gate.reset()
    assert split_rows(hidden, " ", 0, 3, gate)[2].to_pylist() == [["a", "b"], None, ["e"]]


def test_the_evaluator_of_split_uses_the_kernel_and_agrees_within_expressions():
    batch = pa.record_batch({"t": ["to be", None, "or  not"]})
    gate = Gate()
    gate.reset()
    whole = compile_expression(col("t").str.split(" "), batch.schema)
    part = compile_expression(col("t").str.split(" ").list.length(), batch.schema)
    found = whole.evaluate(batch, 0, 3, gate)
    assert found.values.to_pylist() == [["to", "be"], None, ["or", "", "not"]]
    assert found.values.type == whole.type
    assert part.evaluate(batch, 0, 3, gate).values.to_pylist() == [2, None, 3]


def test_arguments_are_checked():
    gate = Gate()
    gate.reset()
    texts = Column(pa.array(["a"]))
    with pytest.raises(TypeError, match="cannot be split"):
        split(Column(pa.array([1])), b" ", 0, 1, gate, pa.allocate_buffer)
    with pytest.raises(ValueError, match="at least one byte"):
        split(texts, b"", 0, 1, gate, pa.allocate_buffer)
    with pytest.raises(ValueError, match="outside"):
        split(texts, b" ", 0, 2, gate, pa.allocate_buffer)
