"""Run the loops of ``ambergate_native.stress`` in two threads each; says ``held`` when all did.

Started as a process of its own, with a sanitizer before everything else.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from mmap import mmap

from ambergate_native.gate import Gate
from ambergate_native.ring import RING_HEADER_BYTES, Ring
from ambergate_native.stress import Work, pause_rows, read_records, run_rows, write_records

TIMEOUT_NS = 20_000_000_000


def stress_ring(pool, capacity: int, count: int, most: int, held: int) -> None:
    """One writer, one reader; every wait is by the bells, so a lost wake-up is a timeout."""
    nbytes = RING_HEADER_BYTES + capacity
    memory = mmap(-1, nbytes)
    writer = Ring(memory, 0, nbytes)
    reader = Ring(memory, 0, nbytes, writer.data_bell, writer.space_bell)
    sides = [
        pool.submit(write_records, writer, count, most, TIMEOUT_NS),
        pool.submit(read_records, reader, count, most, held, TIMEOUT_NS),
    ]
    for side in sides:
        side.result()
    assert (writer.published_rows, writer.used_bytes) == (count, 0)


def stress_gate(pool, pauses: int) -> None:
    """One task, one controller that pauses and resumes it."""
    gate, work = Gate(), Work()
    gate.reset()
    task = pool.submit(run_rows, gate, work)
    try:
        pause_rows(gate, work, pauses, TIMEOUT_NS)
    finally:
        work.stop()
    assert task.result() == work.rows == gate.position


def main(scale: int) -> None:
    """All loops, each ``scale`` times as long as the shortest run."""
    with ThreadPoolExecutor(2) as pool:
        stress_ring(pool, 128, 500 * scale, 0, 0)
        stress_ring(pool, 1024, 500 * scale, 900, 0)
        stress_ring(pool, 16384, 500 * scale, 3000, 5)
        stress_gate(pool, 200 * scale)
    print("held")


if __name__ == "__main__":
    main(int(sys.argv[1]))
