"""How fast rows go from one process to another: the ring against a copy in cache and a pipe.

One writer and one reader, both awake or asleep as it comes (nobody spins). ``memcpy`` copies the
same bytes within one process, both places in its cache: no transport can be faster. ``ring``
copies into a record, and the reader looks at every cache line in place; ``batches`` is the same
with record batches through a channel; ``pipe`` is ``multiprocessing.Pipe`` with ``send_bytes``.
``wake`` is the time from ringing the bell of a sleeping process to its being awake.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, Pipe
from typing import Any

import numpy as np
import pyarrow as pa

from ambergate.batch import End
from ambergate.channels.bell import BELL_BYTES, RING_HEADER_BYTES, Bell, Ring
from ambergate.channels.channel import RingChannel
from ambergate.channels.memory import Memory
from benchmarks.harness import ROOT, WrongAnswer, alone, emit_to, machine

RING_BYTES = 4 << 20
MEMORY_BYTES = 2 * BELL_BYTES + RING_HEADER_BYTES + RING_BYTES
WAIT_NS = 20_000_000_000
LINE_WORDS = 8  # of 8 bytes in a cache line
SCHEMA = pa.schema([("a", pa.int64())])


class Transport:
    """The memory, bells and ring of both processes, and pipes each way."""

    def __init__(self, memory: Memory, into: Connection, out_of: Connection):
        self.memory, self.into, self.out_of = memory, into, out_of
        self.data_bell = Bell(memory.mapping, 0)
        self.space_bell = Bell(memory.mapping, BELL_BYTES)
        self.ring = Ring(
            memory.mapping,
            2 * BELL_BYTES,
            MEMORY_BYTES - 2 * BELL_BYTES,
            self.data_bell,
            self.space_bell,
        )

    def wait(self, bell: Bell, ready: Callable[[], bool]) -> None:
        """Sleep until ``ready`` holds."""
        while True:
            seen = bell.heard()
            if ready():
                return
            if not bell.wait(seen, WAIT_NS):
                raise TimeoutError("the other process is silent")


def look(words: np.ndarray) -> int:
    """Touch every cache line."""
    return int(words[::LINE_WORDS].sum())


# the reading process


def read_ring(transport: Transport, count: int, nbytes: int) -> int:
    """The sum of all lines of ``count`` records."""
    ring, total = transport.ring, 0
    for _ in range(count):
        record = ring.peek()
        if record is None:
            transport.wait(transport.data_bell, lambda: ring.peek() is not None)
            record = ring.peek()
        total += look(np.frombuffer(record, np.int64))
        ring.advance()
    return total


def read_batches(transport: Transport, count: int, nbytes: int) -> int:
    """The same of record batches, up to the end marker."""
    channel, total = RingChannel.reader(transport.ring, SCHEMA), 0
    while True:
        item = channel.peek()
        if item is None:
            transport.wait(transport.data_bell, lambda: channel.peek() is not None)
            continue
        channel.pop()
        if isinstance(item, End):
            return total
        total += look(np.frombuffer(item.column(0).buffers()[1], np.int64))
        channel.consumed(item.num_rows)


def read_pipe(transport: Transport, count: int, nbytes: int) -> int:
    """The same of messages of a pipe."""
    total = 0
    for _ in range(count):
        total += look(np.frombuffer(transport.out_of.recv_bytes(), np.int64))
    return total


def hear(transport: Transport, count: int, nbytes: int) -> int:
    """Wake up ``count`` times; the median time it took in nanoseconds."""
    ring, taken = transport.ring, []
    for _ in range(count):
        transport.wait(transport.data_bell, lambda: ring.peek() is not None)
        now = time.monotonic_ns()
        taken.append(now - int(np.frombuffer(ring.peek(), np.int64)[0]))
        ring.advance()
    return int(statistics.median(taken))


READERS = {"ring": read_ring, "batches": read_batches, "pipe": read_pipe, "wake": hear}


def serve(memory_fd: int, into_fd: int, out_of_fd: int) -> None:
    """Read what the other process says it will send, until it says no more."""
    transport = Transport(
        Memory.attach(memory_fd, MEMORY_BYTES), Connection(into_fd), Connection(out_of_fd)
    )
    while (order := transport.out_of.recv()) is not None:
        name, count, nbytes = order
        transport.into.send(None)  # ready
        transport.into.send(READERS[name](transport, count, nbytes))


# the writing process


def write_ring(transport: Transport, payload: np.ndarray, count: int) -> None:
    """Send a payload ``count`` times."""
    ring = transport.ring
    for _ in range(count):
        if not ring.offer(payload, 0):
            transport.wait(transport.space_bell, lambda: ring.offer(payload, 0))


def write_batches(transport: Transport, payload: np.ndarray, count: int) -> None:
    """Send it as batches of one column, and the end."""
    channel = RingChannel.writer(transport.ring, SCHEMA)
    batch = pa.record_batch([payload], schema=SCHEMA)
    for item in [*[batch] * count, End()]:
        if not channel.push(item):
            transport.wait(transport.space_bell, lambda item=item: channel.push(item))


def write_pipe(transport: Transport, payload: np.ndarray, count: int) -> None:
    """Send it through the pipe."""
    for _ in range(count):
        transport.into.send_bytes(payload)


def ring_bell(transport: Transport, payload: np.ndarray, count: int) -> None:
    """Wake the reader up, each time after it has gone to sleep."""
    for _ in range(count):
        time.sleep(0.001)
        transport.ring.offer(np.array([time.monotonic_ns()]), 0)


WRITERS = {"ring": write_ring, "batches": write_batches, "pipe": write_pipe, "wake": ring_bell}


def exchange(transport: Transport, name: str, payload: np.ndarray, count: int) -> tuple[float, int]:
    """Seconds from the first byte to the reader's answer, and the answer."""
    transport.into.send((name, count, payload.nbytes))
    transport.out_of.recv()
    began = time.perf_counter()
    WRITERS[name](transport, payload, count)
    answer = transport.out_of.recv()
    return time.perf_counter() - began, answer


def copy(payload: np.ndarray, count: int) -> float:
    """Seconds of ``count`` copies from cache to cache."""
    target = np.empty_like(payload)
    began = time.perf_counter()
    for _ in range(count):
        np.copyto(target, payload)
    return time.perf_counter() - began


def measure(transport: Transport, nbytes: int, count: int, rounds: int) -> dict[str, Any]:
    """Medians of interleaved runs, and of the ratios within a round."""
    payload = np.arange(nbytes // 8)
    right = count * look(payload)
    names = ["ring", "batches", "pipe"]
    seconds: dict[str, list[float]] = {name: [] for name in ["memcpy", *names]}
    for number in range(-1, rounds):  # the first is not kept
        with alone():
            taken = {"memcpy": copy(payload, count)}
            for name in names if number % 2 else reversed(names):
                taken[name], answer = exchange(transport, name, payload, count)
                if answer != right:
                    raise WrongAnswer(f"{name}: {answer} instead of {right}")
        if number >= 0:
            for name, each in taken.items():
                seconds[name].append(each)
    figures: dict[str, Any] = {}
    for name, each in seconds.items():
        figures[f"{name}_gb_per_s"] = round(nbytes * count / statistics.median(each) / 1e9, 2)
    for name in ("ring", "batches"):
        for other in ("memcpy", "pipe"):
            ratios = [a / b for a, b in zip(seconds[other], seconds[name], strict=True)]
            figures[f"{name}_to_{other}"] = round(statistics.median(ratios), 2)
    return figures


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nbytes", type=int, action="append", help="of a batch; 64 KiB")
    parser.add_argument("--count", type=int, default=20_000, help="batches in a run")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--smoke", action="store_true", help="a few batches, one round")
    parser.add_argument("--serve", type=int, nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        serve(*asked.serve)
        return
    count, rounds = (200, 1) if asked.smoke else (asked.count, asked.rounds)
    emit = emit_to()
    memory = Memory.create(MEMORY_BYTES)
    theirs_in, ours_in = Pipe(duplex=False)
    ours_out, theirs_out = Pipe(duplex=False)
    descriptors = [memory.fd, theirs_out.fileno(), theirs_in.fileno()]
    reader = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.ring", "--serve", *map(str, descriptors)],
        pass_fds=descriptors,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    transport = Transport(memory, ours_in, ours_out)
    try:
        for nbytes in asked.nbytes or [64 << 10]:
            figures = measure(transport, nbytes, count, rounds)
            emit(
                {"bench": "ring", "nbytes": nbytes, "count": count, "runs": rounds}
                | machine()
                | figures
            )
        woken = []
        for _ in range(rounds):
            with alone():
                woken.append(exchange(transport, "wake", np.zeros(1), min(count, 500))[1])
        emit(
            {
                "bench": "wake",
                "runs": rounds,
                **machine(),
                "median_us": round(statistics.median(woken) / 1e3, 1),
            }
        )
        ours_in.send(None)
        reader.wait(10)
    finally:
        reader.kill()
        reader.wait()


if __name__ == "__main__":
    main()
