import mmap
import os
import signal
import threading
import time

import pytest

from ambergate.channels.bell import BELL_BYTES, Bell
from ambergate.channels.memory import Memory
from tests.processes import python

SECOND = 1_000_000_000


def test_a_ring_after_heard_is_not_lost():
    bell = Bell()
    seen = bell.heard()
    bell.ring()
    assert bell.wait(seen, 0)
    assert not bell.wait(bell.heard(), 0)


def test_wait_ends_at_its_bound():
    bell = Bell()
    start = time.monotonic()
    assert not bell.wait(bell.heard(), SECOND // 50)
    assert 0.02 <= time.monotonic() - start < 2


def test_a_sleeper_is_woken():
    bell = Bell()
    seen = bell.heard()
    ringer = threading.Timer(0.05, bell.ring)
    ringer.start()
    assert bell.wait(seen, 30 * SECOND)
    ringer.join()


def test_two_ends_over_one_memory_share_the_bell():
    memory = mmap.mmap(-1, 4096)
    waiter, ringer = Bell(memory, 128), Bell(memory, 128)
    other = Bell(memory, 256)
    seen = waiter.heard()
    ringer.ring()
    assert waiter.heard() == seen + 1
    assert other.heard() == 0
    with pytest.raises(BufferError):
        memory.close()


@pytest.mark.parametrize(
    ("offset", "nbytes", "problem"),
    [(64, 4096, "aligned"), (4096, 4096, "outside"), (-128, 4096, "outside"), (0, 64, "outside")],
)
def test_bad_places_are_refused(offset, nbytes, problem):
    with pytest.raises(ValueError, match=problem):
        Bell(memoryview(mmap.mmap(-1, 4096))[:nbytes], offset)


def test_read_only_memory_and_endless_waits_are_refused():
    with pytest.raises(BufferError):
        Bell(bytes(BELL_BYTES))
    with pytest.raises(ValueError, match="bound"):
        Bell().wait(0, -1)


def test_signal_handlers_run_while_it_sleeps():
    def interrupt(*_):
        raise InterruptedError

    before = signal.signal(signal.SIGUSR1, interrupt)
    kill = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1))
    kill.start()
    try:
        with pytest.raises(InterruptedError):
            Bell().wait(0, 30 * SECOND)
    finally:
        kill.join()
        signal.signal(signal.SIGUSR1, before)


def test_a_signal_without_consequence_does_not_end_the_wait():
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    kill = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGUSR1))
    kill.start()
    try:
        start = time.monotonic()
        assert not Bell().wait(0, SECOND // 10)
        assert time.monotonic() - start >= 0.1
    finally:
        kill.join()
        signal.signal(signal.SIGUSR1, before)


PLAYER = """
import sys
from ambergate.channels.bell import Bell
from ambergate.channels.memory import Memory
memory = Memory.attach(int(sys.argv[1]), 4096)
mine, other = Bell(memory.mapping, 128), Bell(memory.mapping, 0)
for turn in range(500):
    if not mine.wait(turn, 20_000_000_000):
        raise SystemExit("a ring was lost")
    other.ring()
"""


def test_no_ring_is_lost_between_two_processes():
    with Memory.create(4096) as memory, python(PLAYER, fd=memory.fd) as player:
        mine, other = Bell(memory.mapping, 0), Bell(memory.mapping, 128)
        for turn in range(500):
            other.ring()
            assert mine.wait(turn, 20 * SECOND)
        assert player.wait(20) == 0
