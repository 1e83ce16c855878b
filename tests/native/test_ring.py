import gc
import mmap
from collections import deque

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.channels.bell import RECORD_HEADER_BYTES, RING_HEADER_BYTES, Bell, Ring
from ambergate.channels.memory import Memory
from tests.processes import python

SECOND = 1_000_000_000


def ends(capacity: int) -> tuple[Ring, Ring]:
    nbytes = RING_HEADER_BYTES + capacity
    memory = mmap.mmap(-1, nbytes)
    data, space = Bell(), Bell()
    return Ring(memory, 0, nbytes, data, space), Ring(memory, 0, nbytes, data, space)


def taken(size: int) -> int:
    return RECORD_HEADER_BYTES + -(-size // 64) * 64


def test_a_record_comes_out_as_it_went_in():
    writer, reader = ends(1024)
    view = writer.claim(5)
    assert view.nbytes == 5 and not view.readonly
    view[:] = b"hello"
    assert reader.peek() is None
    writer.publish(7, rows=3, flags=-9)
    record = reader.peek()
    assert (record.kind, record.rows, record.flags, record.size) == (7, 3, -9, 5)
    assert bytes(record) == b"hello" and len(record) == 5
    assert reader.peek() is record
    assert (reader.published_rows, reader.used_bytes) == (3, taken(5))


def test_payloads_are_aligned_and_read_only():
    writer, reader = ends(4096)
    for size in (1, 64, 65, 0, 7):
        assert writer.offer(bytes(size), 0)
    for _ in range(5):
        buffer = pa.py_buffer(reader.peek())
        assert buffer.address % 64 == 0 and not buffer.is_mutable
        reader.advance()
    with pytest.raises(TypeError):
        memoryview(reader.peek() or b"")[0] = 1


def test_space_comes_back_in_order_when_nothing_refers_to_it_any_more():
    writer, reader = ends(1024)
    for letter in (b"a", b"b", b"c"):
        assert writer.offer(letter * 10, 0)
    first = pa.py_buffer(reader.peek())
    reader.advance()
    second = memoryview(reader.peek())
    reader.advance()
    third = reader.peek()
    reader.advance()
    assert writer.used_bytes == 3 * taken(10)
    second.release()
    del third
    assert writer.used_bytes == 3 * taken(10)
    assert first.to_pybytes() == b"a" * 10
    del first
    assert writer.used_bytes == 0


def test_a_writer_that_found_no_room_is_woken_when_half_of_the_ring_is_free():
    writer, reader = ends(8 * 128)
    bell = writer.space_bell
    while writer.offer(b"x", 0):
        pass
    for number in range(1, 5):
        assert bell.heard() == 0
        reader.peek()
        reader.advance()
        assert writer.used_bytes == (8 - number) * 128
    assert bell.heard() == 1
    assert writer.offer(b"x", 0)
    while reader.peek():
        reader.advance()
    assert bell.heard() == 1


def test_a_waiting_writer_is_woken_when_the_reader_runs_out_of_work():
    writer, reader = ends(8 * 128)
    while writer.offer(b"x", 0):
        pass
    held = []
    for _ in range(8):
        record = reader.peek()
        held.append(record)
        reader.advance()
    del record, held[0]
    assert writer.space_bell.heard() == 0
    assert reader.peek() is None
    assert writer.space_bell.heard() == 1
    del held[0]
    assert writer.space_bell.heard() == 2
    assert writer.offer(b"x", 0)
    del held[0]
    assert writer.space_bell.heard() == 2


def test_a_waiting_writer_is_woken_when_the_reader_goes_to_sleep():
    writer, reader = ends(8 * 128)
    while writer.offer(b"x", 0):
        pass
    reader.peek()
    reader.advance()
    seen = reader.data_bell.heard()
    assert writer.space_bell.heard() == 0
    assert not reader.data_bell.wait(seen, 1000)
    assert writer.space_bell.heard() == 1


def test_a_record_is_not_released_before_the_ring_advances():
    writer, reader = ends(1024)
    writer.offer(b"abc", 4)
    reader.peek()
    gc.collect()
    assert writer.used_bytes == taken(3)
    assert bytes(reader.peek()) == b"abc"
    reader.advance()
    assert writer.used_bytes == 0


def test_a_record_outlives_its_ring():
    writer, reader = ends(1024)
    writer.offer(b"abc", 4)
    record = reader.peek()
    del reader
    gc.collect()
    assert bytes(record) == b"abc"
    del record
    assert writer.used_bytes == taken(3)


def test_a_full_ring_refuses_and_a_payload_that_never_fits_is_an_error():
    writer, reader = ends(512)
    assert writer.offer(bytes(512 - 64), 0)
    assert writer.claim(0) is None
    assert not writer.offer(b"", 0)
    with pytest.raises(ValueError, match="never fits"):
        writer.claim(512 - 63)
    with pytest.raises(ValueError, match="never fits"):
        writer.claim(-1)
    reader.advance()
    assert writer.claim(512 - 64) is not None


def test_a_record_of_the_whole_capacity_passes_from_any_place():
    writer, reader = ends(512)
    for size in range(0, 448, 64):
        assert writer.offer(bytes(size), 0)
        reader.advance()
        whole = bytes(range(256)) + bytes(192)
        while not writer.offer(whole, 1):
            assert reader.peek() is None  # passes the skip
        assert bytes(reader.peek()) == whole
        reader.advance()


def test_the_skip_alone_rings_the_reader():
    writer, reader = ends(512)
    writer.offer(bytes(128), 0)
    reader.advance()
    rung = reader.data_bell.heard()
    assert not writer.offer(bytes(448), 0)
    assert reader.data_bell.heard() > rung


def test_misuse_is_refused():
    writer, reader = ends(512)
    with pytest.raises(ValueError, match="without a claim"):
        writer.publish(0)
    writer.claim(1)
    with pytest.raises(ValueError, match="kind"):
        writer.publish(-1)
    with pytest.raises(ValueError, match="kind"):
        writer.offer(b"", -1)
    with pytest.raises(ValueError, match="not there"):
        reader.advance()
    with pytest.raises(BufferError):
        Ring(bytes(1024), 0, 1024)


@pytest.mark.parametrize(
    ("offset", "nbytes", "problem"),
    [
        (64, 1024, "aligned"),
        (3584, 1024, "outside"),
        (-128, 1024, "outside"),
        (0, 8192, "outside"),
        (0, 300, "multiple of 64"),
        (0, 256 + 64, "at least"),
    ],
)
def test_bad_places_are_refused(offset, nbytes, problem):
    with pytest.raises(ValueError, match=problem):
        Ring(mmap.mmap(-1, 4096), offset, nbytes)


def test_overwritten_memory_is_noticed():
    memory = mmap.mmap(-1, 1024)
    writer, reader = Ring(memory, 0, 1024), Ring(memory, 0, 1024)
    writer.offer(b"abc", 0)
    memory[256:264] = b"\xff" * 7 + b"\x7f"
    with pytest.raises(RuntimeError, match="overwritten"):
        reader.peek()


def test_counters_and_the_closed_word_are_seen_by_everyone():
    writer, reader = ends(1024)
    nbytes = RING_HEADER_BYTES + 1024
    assert not writer.closed
    writer.offer(b"", 0, rows=5)
    writer.offer(b"", 0, rows=3, counted=10)
    writer.drop(2)
    reader.consumed(4)
    reader.discard(1)
    rung = writer.space_bell.heard()
    reader.close()
    assert writer.space_bell.heard() > rung
    assert writer.closed and reader.closed
    assert (reader.published_rows, reader.dropped_rows) == (15, 2)
    assert (writer.consumed_rows, writer.discarded_rows) == (4, 1)
    del nbytes


def test_unread_copies_without_taking():
    writer, reader = ends(512)
    writer.offer(b"gone", 1)
    reader.advance()
    for number in range(3):
        writer.offer(bytes([number]), number, rows=number)
    reader.peek()
    expected = [(n, n, 0, bytes([n])) for n in range(3)]
    assert reader.unread() == expected
    assert reader.unread() == expected
    assert bytes(reader.peek()) == b"\0"


def test_send_and_receive_end_at_their_bound():
    writer, reader = ends(512)
    assert reader.receive(SECOND // 100) is None
    assert writer.send(bytearray(448), 0)
    assert not writer.send(b"x", SECOND // 100)
    assert reader.receive(0) == bytes(448)
    assert writer.send(b"x", 0)


@settings(max_examples=100, deadline=None)
@given(
    capacity=st.integers(2, 24).map(lambda blocks: blocks * 64),
    moves=st.lists(
        st.one_of(
            st.tuples(st.just("offer"), st.integers(0, 1600)),
            st.tuples(st.just("take"), st.booleans()),  # and whether it is held
            st.tuples(st.just("free"), st.integers(0, 10)),
            st.tuples(st.just("unread"), st.just(0)),
        ),
        max_size=60,
    ),
)
def test_the_ring_is_a_deque_with_leases(capacity, moves):
    writer, reader = ends(capacity)
    model, held, number = deque(), [], 0
    for move, argument in moves:
        if move == "offer":
            payload = bytes([number % 251]) * argument
            if taken(argument) > capacity:
                with pytest.raises(ValueError, match="never fits"):
                    writer.offer(payload, number)
                continue
            if writer.offer(payload, number, rows=argument):
                model.append((number, payload))
                number += 1
            else:
                assert writer.used_bytes > 0 or reader.peek() is None
        elif move == "take":
            record = reader.peek()
            assert (record is not None) == bool(model)
            if record is not None:
                kind, payload = model.popleft()
                assert (record.kind, bytes(record)) == (kind, payload)
                reader.advance()
                if argument:
                    held.append((pa.py_buffer(record), payload))
            del record
        elif move == "free" and held:
            del held[argument % len(held)]
        else:
            assert [(k, p) for k, _, _, p in reader.unread()] == list(model)
        # never overwritten while it is held
        assert all(buffer.to_pybytes() == payload for buffer, payload in held)
        assert 0 <= writer.used_bytes <= capacity
    held.clear()
    while (record := reader.peek()) is not None:
        assert (record.kind, bytes(record)) == model.popleft()
        reader.advance()
        del record
    assert not model
    assert writer.used_bytes == 0


def test_many_leases_at_once():
    writer, reader = ends(64 * 1000)
    for number in range(1000):
        assert writer.offer(b"", number)
    held = []
    for _ in range(1000):
        held.append(reader.peek())
        reader.advance()
    del held[1:]
    assert writer.used_bytes == 64 * 1000
    held.clear()
    assert writer.used_bytes == 0


READER = """
import sys
from ambergate.channels.bell import Bell, Ring
from ambergate.channels.memory import Memory
fd, nbytes, count = map(int, sys.argv[1:])
memory = Memory.attach(fd, nbytes)
bells = Bell(memory.mapping, 0), Bell(memory.mapping, 128)
ring = Ring(memory.mapping, 256, nbytes - 256, *bells)
held = []
for number in range(count):
    seen = bells[0].heard()
    while (record := ring.peek()) is None:
        assert bells[0].wait(seen, 20_000_000_000), "nothing came"
        seen = bells[0].heard()
    size = number * 7919 % 3000
    assert record.kind == number and bytes(record) == bytes([number % 256]) * size, number
    ring.advance()
    ring.consumed(record.rows)
    held.append(memoryview(record))
    del record
    if number % 5 == 4:
        del held[::2]
    if len(held) > 6:
        held.clear()
"""


def test_two_processes_with_held_records_and_wraps():
    nbytes, count = 256 + 256 + 32 * 1024, 3000
    with Memory.create(nbytes) as memory, python(READER, nbytes, count, fd=memory.fd) as reader:
        bells = Bell(memory.mapping, 0), Bell(memory.mapping, 128)
        ring = Ring(memory.mapping, 256, nbytes - 256, *bells)
        for number in range(count):
            payload = bytes([number % 256]) * (number * 7919 % 3000)
            assert ring.send(payload, 20 * SECOND, kind=number, rows=1)
        assert reader.wait(20) == 0
        assert (ring.published_rows, ring.consumed_rows, ring.used_bytes) == (count, count, 0)
