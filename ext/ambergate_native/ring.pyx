# cython: language_level=3
"""Bounded single-producer single-consumer ring of records over any writable memory.

    +------------------+------------------+----------------------------------------------------+
    | writer (128 B)   | reader (128 B)   | capacity bytes of records                          |
    | tail, published, | head, consumed,  | +-------------+---------+-------------+---------+  |
    | dropped, wish    | dropped, closed  | | header 64 B | payload | header 64 B | payload |  |
    +------------------+------------------+----------------------------------------------------+

    header: size, kind, rows, flags (8 bytes each); records begin at multiples of 64 bytes

``tail`` and ``head`` only grow; a sequence modulo ``capacity`` is the place. The writer writes a
record, then ``tail`` with release order; the reader reads ``tail`` with acquire order, then the
record; in the same way ``head`` gives the space back. Each side keeps the opposite sequence as it
last saw it, in its own object and not on a shared line, and looks again only when it must.

A record never wraps: what is left before the end is filled by a record of kind SKIP, published on
its own as soon as it fits, so any record up to the whole capacity passes in the end.

The reader lends records, and their space comes back as ``leases`` tells.

Waiting is not the ring's: it rings ``data_bell`` after every publish, and ``space_bell`` when there
is room again for a writer that found none.

Source: Lamport 1983; cached opposite cursor from Lee et al., ANCS 2009.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memcpy

cimport cython

from ambergate_native.atomics cimport (
    fence_seq_cst,
    load_acquire,
    load_relaxed,
    store_relaxed,
    store_release,
)
from ambergate_native.bell cimport Bell
from ambergate_native.futex cimport monotonic_ns
from ambergate_native.leases cimport Record, make_leases, make_record

RING_HEADER_BYTES = 256
RECORD_HEADER_BYTES = 64
cdef enum:
    HEADER = 64
    SKIP = -1
    UNCOUNTED = -1


cdef inline int64_t aligned(int64_t size) noexcept nogil:
    return (size + 63) & ~<int64_t>63


@cython.final
cdef class Ring:
    """One end of a ring over ``memory[offset:offset + nbytes]``; zeroed memory is an empty ring.

    One object is used by one side: by the writer, or by the reader (a test may do both with one).

    Parameters
    ----------
    memory : writable buffer
        Shared by the two sides; kept alive by the ring.
    offset : int
        First byte of the ring, a multiple of 128.
    nbytes : int
        ``RING_HEADER_BYTES`` plus the capacity, a multiple of 64.
    data_bell, space_bell : Bell or None
        Rung after a publish, and when there is room again. None: a bell nobody hears. The reader's
        ``data_bell`` is the very object its thread waits on, which tells the ring before it sleeps.

    Raises
    ------
    ValueError
        The ring does not fit into the memory, or is not aligned.
    """

    def __cinit__(self, memory, int64_t offset, int64_t nbytes,
                  Bell data_bell=None, Bell space_bell=None):
        cdef Py_buffer view
        cdef char* start
        cdef int64_t capacity = nbytes - RING_HEADER_BYTES
        if capacity < 2 * HEADER or capacity % 64:
            raise ValueError(
                f"a ring of {nbytes} bytes: its capacity, that less {RING_HEADER_BYTES}, must be "
                f"a multiple of 64 and at least {2 * HEADER}"
            )
        # The memoryview pins the exporter: an mmap cannot be closed under the ring.
        self.memory = memoryview(memory).cast("B")
        PyObject_GetBuffer(memory, &view, PyBUF_WRITABLE)
        try:
            if offset < 0 or offset + nbytes > view.len:
                raise ValueError(f"a ring of {nbytes} bytes at {offset} is outside {view.len}")
            if (<uintptr_t>view.buf + offset) % 128:
                raise ValueError(f"a ring must be aligned to 128 bytes, offset {offset} is not")
            start = <char*>view.buf + offset
        finally:
            PyBuffer_Release(&view)
        self.memory = self.memory[offset + RING_HEADER_BYTES:offset + nbytes]
        self.writer = <WriterLine*>start
        self.reader = <ReaderLine*>(start + 128)
        self.records = start + <int64_t>RING_HEADER_BYTES
        self.capacity = capacity
        self.data_bell = Bell() if data_bell is None else data_bell
        self.space_bell = Bell() if space_bell is None else space_bell
        # a side that takes over from another goes on where that one stood
        self.head_seen = self.cursor = load_acquire(&self.reader.head)
        self.tail = self.tail_seen = load_acquire(&self.writer.tail)
        self.claimed = -1
        self.waits = load_relaxed(&self.writer.wish) != 0
        self.leases = make_leases(&self.reader.head, &self.writer.wish, self.space_bell,
                                  self.memory)

    # the writer's side

    cdef bint has_room(self, int64_t need) noexcept nogil:
        """Whether ``need`` bytes are free; if not, the reader is asked to tell."""
        if self.tail + need - self.head_seen > self.capacity:
            self.head_seen = load_acquire(&self.reader.head)
        if self.tail + need - self.head_seen > self.capacity:
            # when half of the ring is free: to wake for every record costs more than to write it
            store_relaxed(&self.writer.wish, self.tail + max(need - self.capacity,
                                                             -(self.capacity // 2)))
            self.waits = True
            fence_seq_cst()
            self.head_seen = load_acquire(&self.reader.head)
        if self.tail + need - self.head_seen > self.capacity:
            return False
        if self.waits:
            store_relaxed(&self.writer.wish, 0)
            self.waits = False
        return True

    cdef char* claim_bytes(self, int64_t size) noexcept nogil:
        """Where to write a payload of ``size`` bytes; NULL: no room now."""
        cdef int64_t need = HEADER + aligned(size)
        cdef int64_t before_end = self.capacity - self.tail % self.capacity
        cdef RecordHeader* header
        if before_end < need:
            if not self.has_room(before_end):
                return NULL
            header = <RecordHeader*>(self.records + self.tail % self.capacity)
            header.size = before_end - HEADER
            header.kind = SKIP
            header.rows = header.flags = 0
            self.tail += before_end
            store_release(&self.writer.tail, self.tail)
            if not self.has_room(need):
                # the reader may sleep, and has to pass the skip before there is room
                self.data_bell.sound()
                return NULL
        elif not self.has_room(need):
            return NULL
        self.claimed = size
        return self.records + self.tail % self.capacity + HEADER

    cdef void publish_claim(self, int64_t kind, int64_t rows, int64_t flags,
                            int64_t counted) noexcept nogil:
        """Make the claimed record visible to the reader."""
        cdef RecordHeader* header = <RecordHeader*>(self.records + self.tail % self.capacity)
        header.size = self.claimed
        header.kind = kind
        header.rows = rows
        header.flags = flags
        self.tail += HEADER + aligned(self.claimed)
        self.claimed = -1
        if counted:
            store_relaxed(&self.writer.published, load_relaxed(&self.writer.published) + counted)
        store_release(&self.writer.tail, self.tail)
        self.data_bell.sound()

    cdef int check_fits(self, int64_t size) except -1:
        if size < 0 or HEADER + aligned(size) > self.capacity:
            raise ValueError(
                f"a payload of {size} bytes never fits into a ring of {self.capacity}, "
                f"at most {self.capacity - HEADER} do"
            )
        return 0

    def claim(self, int64_t size):
        """Room for a payload of ``size`` bytes, to be written and then published.

        An open claim is replaced by the next one. The view must not be written to after
        ``publish``.

        Returns
        -------
        memoryview or None
            Writable, ``size`` bytes, aligned to 64; None if there is no room now.

        Raises
        ------
        ValueError
            A payload of this size never fits.
        """
        cdef int64_t start
        self.check_fits(size)
        if self.claim_bytes(size) == NULL:
            return None
        start = self.tail % self.capacity + HEADER
        return self.memory[start:start + size]

    def offer(self, payload, int64_t kind, int64_t rows=0, int64_t flags=0,
              int64_t counted=UNCOUNTED):
        """Claim, copy ``payload`` (any contiguous buffer) and publish; False: no room now."""
        cdef Py_buffer view
        cdef char* room
        if kind < 0:
            raise ValueError(f"a record's kind is at least 0, got {kind}")
        PyObject_GetBuffer(payload, &view, PyBUF_SIMPLE)
        try:
            self.check_fits(view.len)
            room = self.claim_bytes(view.len)
            if room == NULL:
                return False
            memcpy(room, view.buf, view.len)
        finally:
            PyBuffer_Release(&view)
        self.publish_claim(kind, rows, flags, rows if counted == UNCOUNTED else counted)
        return True

    def publish(self, int64_t kind, int64_t rows=0, int64_t flags=0, int64_t counted=UNCOUNTED):
        """Make the claimed record visible to the reader.

        Parameters
        ----------
        kind : the caller's number for what the record is, at least 0
        rows : the rows in it
        flags : the caller's, passed through
        counted : rows to add to ``published_rows``; ``rows`` if not given

        Raises
        ------
        ValueError
            Nothing is claimed, or the kind is negative.
        """
        if self.claimed < 0:
            raise ValueError("publish without a claim")
        if kind < 0:
            raise ValueError(f"a record's kind is at least 0, got {kind}")
        self.publish_claim(kind, rows, flags, rows if counted == UNCOUNTED else counted)

    def drop(self, int64_t rows):
        """Count rows that were not written because the reader needs no more."""
        store_relaxed(&self.writer.dropped, load_relaxed(&self.writer.dropped) + rows)

    def send(self, payload, int64_t timeout_ns, int64_t kind=0, int64_t rows=0):
        """Write one record, waiting for room; False at the timeout."""
        cdef int64_t until = monotonic_ns() + timeout_ns, seen
        while True:
            seen = self.space_bell.last()
            if self.offer(payload, kind, rows):
                return True
            if not self.space_bell.wait(seen, max(<int64_t>0, until - monotonic_ns())):
                return False

    # the reader's side

    cdef RecordHeader* next_record(self) noexcept nogil:
        """The record at the cursor, or NULL; skips are not passed."""
        if self.cursor == self.tail_seen:
            self.tail_seen = load_acquire(&self.writer.tail)
            if self.cursor == self.tail_seen:
                return NULL
        return <RecordHeader*>(self.records + self.cursor % self.capacity)

    cdef int find(self) except -1:
        """Pass skips up to the record at the cursor and lend it; 0: there is none."""
        cdef RecordHeader* header
        cdef int64_t stop
        if not self.listens:
            self.data_bell.listeners.append(self.leases)
            self.listens = True
        while self.leases.unread < 0:
            header = self.next_record()
            if header == NULL:
                self.leases.rest()
                return 0
            stop = self.cursor + HEADER + aligned(header.size)
            if not 0 <= header.size <= self.capacity or stop > self.tail_seen:
                raise RuntimeError(f"a record of {header.size} bytes at {self.cursor} in a ring "
                                   f"published up to {self.tail_seen}: its memory was overwritten")
            if header.kind == SKIP:
                self.leases.release(self.leases.lend(stop))
                self.cursor = stop
            else:
                self.leases.unread = self.leases.lend(stop)
                self.cursor_stop = stop
        return 1

    def peek(self):
        """The next record, or None; the same one until ``advance``."""
        cdef RecordHeader* header
        if self.leases.record != NULL:
            return <Record>self.leases.record
        if not self.find():
            return None
        header = <RecordHeader*>(self.records + self.cursor % self.capacity)
        return make_record(self.leases, <char*>header + HEADER, header.size, header.kind,
                           header.rows, header.flags)

    def advance(self):
        """Go on to the next record; the one peeked at lives on with those who hold it."""
        if not self.find():
            raise ValueError("advance over a record that is not there")
        self.cursor = self.cursor_stop
        self.leases.read()

    def unread(self):
        """Copies of all records from the cursor on: tuples of kind, rows, flags, bytes."""
        cdef int64_t cursor = self.cursor, tail = load_acquire(&self.writer.tail)
        cdef RecordHeader* header
        records = []
        while cursor < tail:
            header = <RecordHeader*>(self.records + cursor % self.capacity)
            if header.kind != SKIP:
                payload = (<char*>header + HEADER)[:header.size]
                records.append((header.kind, header.rows, header.flags, payload))
            cursor += HEADER + aligned(header.size)
        return records

    def consumed(self, int64_t rows):
        """Count rows the task has consumed."""
        store_relaxed(&self.reader.consumed, load_relaxed(&self.reader.consumed) + rows)

    def discard(self, int64_t rows):
        """Count rows the reader throws away unread."""
        store_relaxed(&self.reader.dropped, load_relaxed(&self.reader.dropped) + rows)

    def close(self):
        """Tell the writer that no more rows are needed."""
        store_release(&self.reader.closed, 1)
        self.space_bell.sound()

    def receive(self, int64_t timeout_ns):
        """A copy of the next record's bytes, waiting for it; None at the timeout."""
        cdef int64_t until = monotonic_ns() + timeout_ns, seen
        cdef Record record
        while True:
            seen = self.data_bell.last()
            record = self.peek()
            if record is not None:
                payload = record.bytes[:record.size]
                self.advance()
                return payload
            if not self.data_bell.wait(seen, max(<int64_t>0, until - monotonic_ns())):
                return None

    # both sides, and anyone else who maps the memory

    @property
    def closed(self):
        """Whether the reader needs no more rows."""
        return load_acquire(&self.reader.closed) != 0

    @property
    def used_bytes(self):
        """Bytes published and not yet released, headers and skips included."""
        cdef int64_t head = load_acquire(&self.reader.head)
        return load_acquire(&self.writer.tail) - head

    @property
    def published_rows(self):
        """Rows written to the ring, those on their way included."""
        return load_relaxed(&self.writer.published)

    @property
    def consumed_rows(self):
        """Rows the reader's task has consumed."""
        return load_relaxed(&self.reader.consumed)

    @property
    def dropped_rows(self):
        """Rows the writer did not write because the reader needed no more."""
        return load_relaxed(&self.writer.dropped)

    @property
    def discarded_rows(self):
        """Rows the reader threw away unread."""
        return load_relaxed(&self.reader.dropped)
