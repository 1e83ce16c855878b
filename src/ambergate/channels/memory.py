"""Memory shared between processes by descriptor: no name, nothing left behind."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import mmap
import os
import tempfile
from pathlib import Path

from ambergate.channels.descriptors import above_streams
from ambergate.errors import MemoryShortage

LINE_BYTES = 128  # what one side writes and the other reads stands on lines of its own


class Memory:
    """A shared mapping and its descriptor.

    Its pages are reserved when it is created, so that a shortage is an error then and there and
    never a SIGBUS later, and its size is sealed. A worker gets the descriptor (``pass_fds``) and
    attaches; the memory dies with its last user, whatever that one died of.

    >>> with Memory.create(4096) as memory:
    ...     memory.mapping[:2] = b"ok"
    ...     Memory.attach(os.dup(memory.fd), 4096).mapping[:2]
    b'ok'
    """

    def __init__(self, fd: int, nbytes: int):
        self.fd = fd
        self.nbytes = nbytes
        self.mapping: mmap.mmap = mmap.mmap(fd, nbytes)

    @classmethod
    def create(cls, nbytes: int) -> Memory:
        """New zeroed memory of ``nbytes``.

        Raises
        ------
        MemoryShortage
            The machine has not so much left.
        """
        if nbytes <= 0:
            raise ValueError(f"shared memory needs at least 1 byte, got {nbytes}")
        available = available_bytes()
        if available is not None and nbytes > available:
            raise MemoryShortage(nbytes, available)
        fd = anonymous_file()
        try:
            reserve(fd, nbytes)
            return cls(fd, nbytes)
        except BaseException as error:
            os.close(fd)
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.ENOMEM):
                raise MemoryShortage(nbytes, available_bytes()) from error
            raise

    @classmethod
    def attach(cls, fd: int, nbytes: int) -> Memory:
        """The memory another process created; ``fd`` is this object's from now on.

        Raises
        ------
        ValueError
            The descriptor is of something smaller.
        """
        size = os.fstat(fd).st_size
        if size < nbytes:
            raise ValueError(f"descriptor {fd} holds {size} bytes, not the {nbytes} to be attached")
        return cls(fd, nbytes)

    def close(self) -> None:
        """Give up the descriptor and the mapping; gates, bells and rings over it keep theirs."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
            with contextlib.suppress(BufferError):  # still used: unmapped with its last user
                self.mapping.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Carver:
    """Deals out aligned pieces of ``total`` bytes, in the order they are asked for.

    Without a total it only adds up how much is needed.

    >>> carver = Carver()
    >>> carver.take(512), carver.take(100), carver.take(8), carver.used
    (0, 512, 640, 648)
    """

    def __init__(self, total: int | None = None):
        self.total = total
        self.used = 0

    def take(self, nbytes: int, align: int = LINE_BYTES) -> int:
        """The offset of ``nbytes`` bytes that nobody else gets.

        Raises
        ------
        ValueError
            Less is left.
        """
        offset = -(-self.used // align) * align
        if self.total is not None and offset + nbytes > self.total:
            raise ValueError(
                f"{nbytes} bytes at {offset} are outside shared memory of {self.total} bytes"
            )
        self.used = offset + nbytes
        return offset


def anonymous_file() -> int:
    """A descriptor of an empty file without a name."""
    if hasattr(os, "memfd_create"):
        flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
        return above_streams(os.memfd_create("ambergate", flags))
    fd, path = tempfile.mkstemp(prefix="ambergate")
    os.unlink(path)
    return above_streams(fd)


def reserve(fd: int, nbytes: int) -> None:
    """Give the file its size and its pages, for good."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(fd, 0, nbytes)
    else:
        block = bytes(1 << 20)
        for start in range(0, nbytes, len(block)):
            os.pwrite(fd, block[: min(len(block), nbytes - start)], start)
    if hasattr(os, "memfd_create"):
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)


def available_bytes() -> int | None:
    """Memory that can still be taken on this machine, or in this container; None if unknown.

    A reservation beyond it would not fail: the kernel would kill a process to make room.
    """
    found = []
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable:"))
        found.append(int(line.split()[1]) * 1024)
    with contextlib.suppress(OSError, ValueError, StopIteration):
        groups = Path("/proc/self/cgroup").read_text().splitlines()
        group = next(line[3:] for line in groups if line.startswith("0::"))
        folder = Path("/sys/fs/cgroup") / group.lstrip("/")
        limit = (folder / "memory.max").read_text().strip()
        if limit != "max":
            found.append(int(limit) - int((folder / "memory.current").read_text()))
    return max(0, min(found)) if found else None
