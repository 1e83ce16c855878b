# cython: language_level=3
"""Two-thread loops over bell, ring and gate without the interpreter lock, for the sanitizers.

Each function is one side. What passes from one thread to the other is plain memory, so a release
or an acquire that is missing anywhere is a data race, which ThreadSanitizer reports even on a
processor that would never show it. The engine does not use this module.
"""

from libc.stdint cimport INT64_MAX, int64_t

cimport cython

from ambergate_native.atomics cimport load_relaxed, store_relaxed
from ambergate_native.futex cimport monotonic_ns
from ambergate_native.gate cimport Gate
from ambergate_native.ring cimport RecordHeader, Ring

cdef extern from "<sched.h>" nogil:
    int sched_yield() noexcept

cdef enum:
    HEADER = 64
    SKIP = -1
    STEP_ROWS = 200


cdef inline int64_t size_of(int64_t number, int64_t most) noexcept nogil:
    return number * 7919 % (most // 8 + 1) * 8


cdef inline int64_t word_of(int64_t number, int64_t word) noexcept nogil:
    return number * 1000003 + word


def write_records(Ring ring, int64_t count, int64_t most, int64_t timeout_ns):
    """Publish ``count`` records of 0 to ``most`` bytes; waits for room up to ``timeout_ns``."""
    cdef int64_t number, word, size, seen
    cdef int64_t* words
    with nogil:
        for number in range(count):
            size = size_of(number, most)
            while True:
                seen = ring.space_bell.last()
                words = <int64_t*>ring.claim_bytes(size)
                if words != NULL:
                    break
                if not ring.space_bell.listen(seen, timeout_ns):
                    with gil:
                        raise TimeoutError(f"no room for record {number}: a wake-up was lost")
            for word in range(size // 8):
                words[word] = word_of(number, word)
            ring.publish_claim(number, 1, 0, 1)


def read_records(Ring ring, int64_t count, int64_t most, int64_t held, int64_t timeout_ns):
    """Check ``count`` records as written, each released when ``held`` more have been read."""
    cdef int64_t number = 0, word, size, seen, stop, lease, oldest = 0
    cdef int64_t* words
    cdef RecordHeader* header
    cdef bint right
    with nogil:
        while number < count:
            seen = ring.data_bell.last()
            header = ring.next_record()
            if header == NULL:
                # nothing may come before what is held is released
                while oldest < ring.leases.next:
                    ring.leases.release(oldest)
                    oldest += 1
                ring.leases.rest()
                if not ring.data_bell.listen(seen, timeout_ns):
                    with gil:
                        raise TimeoutError(f"record {number} did not come: a wake-up was lost")
                continue
            stop = ring.cursor + HEADER + ((header.size + 63) & ~<int64_t>63)
            lease = ring.leases.lend(stop)
            ring.cursor = stop
            if header.kind != SKIP:
                size = size_of(number, most)
                right = header.kind == number and header.size == size
                words = <int64_t*>(<char*>header + HEADER)
                for word in range(size // 8 if right else 0):
                    right = right and words[word] == word_of(number, word)
                if not right:
                    with gil:
                        raise AssertionError(f"record {number} is not as it was written")
                number += 1
            while oldest <= lease - held:
                ring.leases.release(oldest)
                oldest += 1
        while oldest < ring.leases.next:
            ring.leases.release(oldest)
            oldest += 1


@cython.final
cdef class Work:
    """What a task does: a plain counter, as any state of an executor is."""

    cdef int64_t done
    cdef int64_t stopped                   # read and written as an atomic word

    def stop(self):
        """End ``run_rows``."""
        store_relaxed(&self.stopped, 1)

    @property
    def rows(self):
        """Rows done; to be read when the task is paused, or has ended."""
        return self.done


def run_rows(Gate gate, Work work):
    """A task: bounded steps under the gate until the work is stopped; gives the rows done."""
    cdef int64_t row = 0, _step
    gate.base = 0
    with nogil:
        while not load_relaxed(&work.stopped):
            if gate.begin():
                for _step in range(STEP_ROWS):
                    if gate.bound(row, row + 1) == row:
                        break
                    work.done += 1
                    row += 1
                    gate.note(row)
                gate.finish()
            else:
                sched_yield()
    return row


def pause_rows(Gate gate, Work work, int64_t pauses, int64_t timeout_ns):
    """A controller: pause, look twice, resume, at every other time with a limit."""
    cdef int64_t pause, first, position, deadline, again, limit = INT64_MAX
    with nogil:
        for pause in range(pauses):
            gate.halt(2 * pause + 1)
            deadline = monotonic_ns() + timeout_ns
            while gate.running():
                if monotonic_ns() > deadline:
                    with gil:
                        raise TimeoutError(f"pause {pause} was not kept")
                sched_yield()
            first = work.done
            position = load_relaxed(&gate.report.position)
            sched_yield()
            again = work.done
            if first != position or first != again or first > limit:
                with gil:
                    raise AssertionError(
                        f"pause {pause}: {first} rows done, then {again}, "
                        f"position {position}, limit {limit}"
                    )
            limit = first + pause % 50 if pause % 2 else INT64_MAX
            gate.release(2 * pause + 2, limit)
            sched_yield()
