import mmap
from collections import deque

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.batch import Barrier, Change, End, Skipped, Watermark
from ambergate.channels.bell import RING_HEADER_BYTES, Bell, Ring
from ambergate.channels.channel import LocalChannel, RingChannel
from ambergate.channels.memory import Memory
from tests.processes import python

SCHEMA = pa.schema([("v", pa.int64()), ("s", pa.string())])
MARKERS = [End(), Barrier(3), Watermark(-(2**60)), Change(2**40)]


def batch(first: int, rows: int, width: int = 3, schema: pa.Schema = SCHEMA) -> pa.RecordBatch:
    numbers = range(first, first + rows)
    words = [chr(97 + number % 26) * width if number % 5 else None for number in numbers]
    return pa.RecordBatch.from_arrays(
        [
            pa.array(column, field.type)
            for column, field in zip([numbers, words], schema, strict=True)
        ],
        schema=schema,
    )


def local(**options):
    channel = LocalChannel(**options)
    return channel, channel


def ring(capacity: int = 4096, schema: pa.Schema = SCHEMA, copy: bool = False):
    nbytes = RING_HEADER_BYTES + capacity
    memory, bells = mmap.mmap(-1, nbytes), (Bell(), Bell())
    return (
        RingChannel.writer(Ring(memory, 0, nbytes, *bells), schema),
        RingChannel.reader(Ring(memory, 0, nbytes, *bells), schema, copy),
    )


def own(item):
    """The item independent of the ring."""
    return pa.concat_batches([item]) if isinstance(item, pa.RecordBatch) else item


def drain(writer, reader) -> list:
    """All items, batches as lists of rows."""
    items = []
    while (item := reader.peek()) is not None or not writer.flush() or reader.peek() is not None:
        if item is None:
            continue
        if isinstance(item, pa.RecordBatch):
            reader.consumed(item.num_rows)
            items.extend(item.to_pylist())
        else:
            items.append(item)
        reader.pop()
        del item
    return items


KINDS = pytest.mark.parametrize("make", [local, ring, lambda: ring(copy=True)])


@KINDS
def test_batches_and_markers_keep_one_order(make):
    writer, reader = make()
    for marker in MARKERS:
        one = batch(0, 5)
        assert writer.push(one)
        assert writer.push(marker)
        assert reader.peek().equals(one)
        reader.pop()
        assert reader.peek() == marker
        assert reader.peek() is reader.peek()
        reader.pop()
    assert reader.peek() is None


@KINDS
def test_an_empty_channel_has_nothing_to_pop(make):
    _, reader = make()
    with pytest.raises(IndexError):
        reader.pop()


@KINDS
def test_rows_handed_out_count_as_queued_until_told_as_consumed(make):
    writer, reader = make()
    writer.push(batch(0, 10))
    assert (writer.pushed_rows, reader.queued_rows, reader.consumed_rows) == (10, 10, 0)
    assert writer.queued_bytes > 0
    reader.peek()
    reader.consumed(4)
    reader.pop()
    assert (writer.queued_rows, writer.consumed_rows) == (6, 4)
    reader.consumed(6)
    assert (reader.queued_rows, reader.queued_bytes) == (0, 0)


@KINDS
def test_skipped_rows_count_like_any_others(make):
    writer, reader = make()
    assert writer.push(Skipped(100))
    assert (writer.pushed_rows, reader.queued_rows) == (100, 100)
    assert reader.queued() == [Skipped(100)]
    assert reader.peek() == Skipped(100)
    reader.consumed(60)
    reader.close()
    assert writer.push(Skipped(7))
    assert (reader.consumed_rows, reader.discarded_rows, reader.queued_rows) == (60, 47, 0)


@KINDS
def test_a_closed_channel_discards_rows_and_passes_markers(make):
    writer, reader = make()
    writer.push(batch(0, 10))
    writer.push(batch(10, 3))
    reader.peek()
    reader.consumed(4)
    assert not writer.closed
    reader.close()
    reader.close()
    assert writer.closed and reader.closed
    for _ in range(50):
        assert writer.push(batch(13, 100))
    assert writer.push(Barrier(1))
    assert reader.peek() == Barrier(1)
    reader.pop()
    assert reader.peek() is None
    assert writer.pushed_rows == 13 + 5000
    assert (reader.consumed_rows, reader.discarded_rows, reader.queued_rows) == (4, 5009, 0)


@KINDS
def test_the_rest_of_a_popped_batch_is_discarded_at_close(make):
    writer, reader = make()
    writer.push(batch(0, 10))
    reader.peek()
    reader.pop()
    reader.consumed(7)
    reader.close()
    assert (reader.discarded_rows, reader.queued_rows) == (3, 0)


@KINDS
def test_queued_shows_what_was_not_popped(make):
    writer, reader = make()
    writer.push(batch(0, 3))
    writer.push(Watermark(1))
    writer.push(batch(3, 4))
    for _ in range(2):
        assert [one.num_rows for one in reader.queued()] == [3, 4]
        assert reader.items()[1] == Watermark(1)
        reader.peek()
    reader.pop()
    reader.peek()
    assert reader.items() == [Watermark(1), batch(3, 4)]
    reader.pop()
    assert reader.queued() == [batch(3, 4)]


@KINDS
def test_a_full_channel_takes_nothing_until_there_is_room(make):
    writer, reader = make()
    pushed = 0
    while writer.push(batch(pushed, 10, 30)):
        pushed += 10
    assert 20 <= pushed < 200
    assert not writer.room()
    assert writer.pushed_rows == reader.queued_rows == pushed
    while reader.peek() is not None:
        reader.pop()
    assert writer.room()
    assert writer.push(batch(pushed, 10, 30))


def test_a_local_channel_is_bounded_in_bytes_and_rings():
    bells = Bell(), Bell()
    writer, reader = local(data_bell=bells[0], space_bell=bells[1], max_batches=100, max_bytes=3000)
    big = batch(0, 1000)
    assert writer.push(big)  # one always fits
    assert bells[0].heard() == 1
    assert not writer.push(batch(0, 1))
    assert writer.queued_bytes == big.get_total_buffer_size()
    assert reader.peek() is big
    reader.pop()
    assert bells[1].heard() == 1
    assert writer.push(batch(0, 1))
    assert not writer.push(big)
    assert not writer.room()
    assert writer.push(batch(0, 1)) and writer.room()


def test_a_batch_in_place_holds_its_space_and_a_copy_does_not():
    for copy in (False, True):
        writer, reader = ring(copy=copy)
        writer.push(batch(0, 10))
        kept = reader.peek()
        reader.pop()
        assert (writer.queued_bytes == 0) == copy
        column = kept.column(1)
        del kept
        assert (writer.queued_bytes == 0) == copy
        assert all(buffer.address % 64 == 0 for buffer in column.buffers() if buffer)
        del column
        assert writer.queued_bytes == 0


def test_a_batch_of_another_schema_is_refused():
    writer, _ = ring()
    with pytest.raises(ValueError, match="other: int8"):
        writer.push(pa.record_batch([pa.array([1], pa.int8())], ["other"]))
    with pytest.raises(TypeError, match="got str"):
        writer.push("rows")


OTHER_SCHEMAS = [
    pa.schema([("v", pa.int64()), ("s", pa.dictionary(pa.int8(), pa.string()))]),
    pa.schema([("v", pa.int64()), ("s", pa.string_view())]),
    pa.schema([("v", pa.decimal128(20, 0)), ("s", pa.large_string())]),
]


@pytest.mark.parametrize("schema", OTHER_SCHEMAS)
@pytest.mark.parametrize("copy", [False, True])
def test_every_layout_passes_in_pieces_or_whole(schema, copy):
    writer, reader = ring(16384, schema, copy)
    expected = []
    for rows in (0, 1, 26, 3000):
        one = batch(0, rows, schema=schema).slice(rows // 3)
        while not writer.push(one):
            expected.extend(drain(writer, reader))
        read = drain(writer, reader)
        assert read == one.to_pylist()
    assert writer.pushed_rows == reader.consumed_rows
    while not writer.push(batch(0, 2, schema=schema)):
        drain(writer, reader)
    assert reader.peek().schema.equals(schema)


def test_a_row_larger_than_the_ring_passes_and_can_be_looked_at():
    writer, reader = ring(4096)
    giant = batch(1, 1, 50_000)
    assert writer.push(giant)
    assert writer.pending() == [giant]
    assert not writer.push(End())
    assert reader.queued() == []
    assert writer.pushed_rows == reader.queued_rows == 1
    assert drain(writer, reader) == giant.to_pylist()
    assert writer.push(End())
    assert reader.peek() == End()
    assert writer.queued_rows == 0


def test_a_giant_row_wholly_arrived_is_queued():
    writer, reader = ring(4096)
    giant = batch(1, 1, 2000)
    assert writer.push(giant)
    reader.peek()
    assert reader.queued() == [giant]


def test_a_refused_big_batch_was_not_taken():
    writer, reader = ring(4096)
    while writer.push(batch(0, 5)):
        pass
    queued = reader.queued_rows
    assert not writer.push(batch(0, 1000))
    assert writer.pending() == []
    assert not writer.push(batch(1, 1, 50_000))
    assert reader.queued_rows == queued
    assert len(drain(writer, reader)) == queued


@settings(max_examples=100, deadline=None)
@given(
    capacity=st.integers(4, 64).map(lambda blocks: blocks * 64),
    copy=st.booleans(),
    moves=st.lists(
        st.one_of(
            st.tuples(st.just("rows"), st.integers(0, 60), st.integers(0, 300)),
            st.tuples(st.just("marker"), st.sampled_from(MARKERS), st.none()),
            st.tuples(st.just("take"), st.booleans(), st.none()),
            st.tuples(st.just("free"), st.integers(0, 9), st.none()),
            st.tuples(st.just("look"), st.none(), st.none()),
        ),
        max_size=50,
    ),
)
def test_a_ring_channel_is_a_deque_of_rows_and_markers(capacity, copy, moves):
    writer, reader = ring(capacity, copy=copy)
    model, held, first = deque(), [], 0
    consumed = 0

    def take(keep: bool) -> bool:
        nonlocal consumed
        item = reader.peek()
        if item is None:
            return False
        reader.pop()
        if not isinstance(item, pa.RecordBatch):
            assert item == model.popleft()
            return True
        rows = [model.popleft() for _ in range(item.num_rows)]
        assert item.to_pylist() == rows
        reader.consumed(len(rows))
        consumed += len(rows)
        if keep:
            held.append((item, rows))
        return True

    for move, what, width in moves:
        if move == "rows":
            one = batch(first, what, width)
            if writer.push(one):
                model.extend(one.to_pylist())
                first += what
        elif move == "marker" and writer.push(what):
            model.append(what)
        elif move == "take":
            take(what)
        elif move == "free" and held:
            del held[what % len(held)]
        elif move == "look":
            seen = []
            for item in [*reader.items(), *writer.pending()]:
                seen.extend(item.to_pylist() if isinstance(item, pa.RecordBatch) else [item])
            assert seen == list(model)
        assert all(item.to_pylist() == rows for item, rows in held)
        assert writer.pushed_rows == first
        assert writer.consumed_rows + writer.queued_rows == first
    held.clear()
    while take(False) or not writer.flush() or take(False):
        pass
    assert not model
    assert (consumed, writer.queued_rows, writer.queued_bytes) == (first, 0, 0)


READER = """
import sys, pyarrow as pa
from ambergate.batch import Barrier, End
from ambergate.channels.bell import Bell, Ring
from ambergate.channels.channel import RingChannel
from ambergate.channels.memory import Memory
from tests.processes import python
fd, nbytes = map(int, sys.argv[1:])
memory = Memory.attach(fd, nbytes)
bells = Bell(memory.mapping, 0), Bell(memory.mapping, 128)
schema = pa.schema([("v", pa.int64()), ("s", pa.string())])
channel = RingChannel.reader(Ring(memory.mapping, 256, nbytes - 256, *bells), schema)
row = epochs = 0
while True:
    seen = bells[0].heard()
    item = channel.peek()
    if item is None:
        assert bells[0].wait(seen, 20_000_000_000), "nothing came"
    elif isinstance(item, pa.RecordBatch):
        assert item.column(0).to_pylist() == list(range(row, row + item.num_rows))
        row += item.num_rows
        channel.pop()
        channel.consumed(item.num_rows)
    elif item == End():
        break
    else:
        assert item == Barrier(epochs)
        epochs += 1
        channel.pop()
print(row, epochs)
"""


def test_two_processes():
    nbytes = 256 + RING_HEADER_BYTES + 16 * 1024
    with Memory.create(nbytes) as memory, python(READER, nbytes, fd=memory.fd) as reader:
        bells = Bell(memory.mapping, 0), Bell(memory.mapping, 128)
        writer = RingChannel.writer(Ring(memory.mapping, 256, nbytes - 256, *bells), SCHEMA)
        first = 0
        items = []
        for step in range(200):
            rows = step * 37 % 300
            items.append(batch(first, rows, 50_000 if step % 50 == 7 and rows == 1 else step % 40))
            first += rows
            if step % 10 == 0:
                items.append(Barrier(step // 10))
        items.append(batch(first, 1, 40_000))
        first += 1
        for item in [*items, End()]:
            while True:
                seen = bells[1].heard()
                if writer.push(item):
                    break
                assert bells[1].wait(seen, 20_000_000_000)
        output, _ = reader.communicate(timeout=20)
        assert output.split() == [str(first), "20"]
        assert (writer.pushed_rows, writer.queued_rows) == (first, 0)
