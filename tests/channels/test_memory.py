import mmap
import os
import pickle

import pytest

from ambergate.channels.bell import Bell
from ambergate.channels.memory import Carver, Memory, available_bytes
from ambergate.errors import AmbergateError, MemoryShortage
from tests.processes import python

LAST_BYTE = """
import sys
from ambergate.channels.memory import Memory
Memory.attach(int(sys.argv[1]), 10_000).mapping[9_999:] = b"x"
"""


def test_memory_is_zeroed_and_shared_by_descriptor():
    with Memory.create(10_000) as memory:
        assert memory.mapping[:] == bytes(10_000)
        with python(LAST_BYTE, fd=memory.fd) as other:
            assert other.wait(20) == 0
        assert memory.mapping[9_999:] == b"x"


def test_a_shortage_is_an_error_with_the_numbers_and_the_remedy():
    available = available_bytes()
    with pytest.raises(MemoryShortage, match="ring_bytes=") as caught:
        Memory.create(available + (1 << 40))
    error = pickle.loads(pickle.dumps(caught.value))
    assert error.needed == available + (1 << 40)
    assert isinstance(error, AmbergateError) and isinstance(error, MemoryError)
    assert str(error.needed) in str(error) and str(error.available) in str(error)


def test_bad_sizes_are_refused():
    with pytest.raises(ValueError, match="at least 1"):
        Memory.create(0)
    with Memory.create(4096) as memory, pytest.raises(ValueError, match="holds 4096"):
        Memory.attach(memory.fd, 8192)


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="sealing is Linux's")
def test_nobody_can_cut_it_short():
    with Memory.create(4096) as memory, pytest.raises(PermissionError):
        os.ftruncate(memory.fd, 0)


def test_close_leaves_no_descriptor_and_keeps_what_is_in_use():
    before = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
    memory = Memory.create(4096)
    bell = Bell(memory.mapping)
    memory.close()
    memory.close()
    bell.ring()
    assert bell.heard() == 1
    del bell, memory
    if before:
        assert set(os.listdir("/proc/self/fd")) == before


def test_the_carver_deals_out_lines_of_their_own():
    carver = Carver(1024)
    offsets = [carver.take(size) for size in (512, 1, 128)]
    assert offsets == [0, 512, 640]
    assert carver.take(64, align=64) == 768
    with pytest.raises(ValueError, match="outside"):
        carver.take(129)
    assert carver.used == 832
    assert mmap.PAGESIZE % 128 == 0
