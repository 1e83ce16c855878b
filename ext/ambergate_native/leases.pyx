# cython: language_level=3
"""Records lent by the reading side of a ring, and the space they give back.

A record's space is free when nothing refers to it any more and all records before it are free: the
head moves over all ended leases at its front. The one record that was peeked at and not read keeps
its lease whatever becomes of its ``Record``; the next peek makes another.

A writer that finds no room stores the head it would like to see before it is woken: not the next
one, at which it could write one record and sleep again. While the reader has work it wakes the
writer at that head only. When it runs out of work, or goes to sleep on its bell, it wakes the
writer if any space has come back: what the writer waits for may then never come.
"""

from cpython.buffer cimport (
    PyBUF_FORMAT,
    PyBUF_ND,
    PyBUF_STRIDES,
    PyBUF_WRITABLE,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

cimport cython

from ambergate_native.atomics cimport fence_seq_cst, load_relaxed, store_release
from ambergate_native.bell cimport Bell, Listener

cdef const char* OCTETS = "B"


@cython.final
@cython.no_gc
cdef class Leases(Listener):
    """The leases of one reading side; kept alive by the ring and by every record."""

    def __cinit__(self):
        self.room = 16
        self.first = self.next = 0
        self.unread = -1
        self.record = NULL
        self.lent = <Lease*>malloc(self.room * sizeof(Lease))
        if self.lent == NULL:
            raise MemoryError("no memory for the leases of a ring")

    def __dealloc__(self):
        free(self.lent)

    cdef int64_t lend(self, int64_t stop) except -1 nogil:
        """Note that the record that ends at ``stop`` is handed out; the number of the lease."""
        cdef Lease* wider
        cdef int64_t lease
        if self.next - self.first == self.room:
            wider = <Lease*>malloc(2 * self.room * sizeof(Lease))
            if wider == NULL:
                with gil:
                    raise MemoryError("no memory for the leases of a ring")
            for lease in range(self.first, self.next):
                wider[lease & (2 * self.room - 1)] = self.lent[lease & (self.room - 1)]
            free(self.lent)
            self.lent = wider
            self.room *= 2
        self.resting = False
        lease = self.next
        self.next += 1
        self.lent[lease & (self.room - 1)].stop = stop
        self.lent[lease & (self.room - 1)].done = 0
        return lease

    cdef void release(self, int64_t lease) noexcept nogil:
        """End a lease, and give back what is free at the front."""
        cdef int64_t head = -1, wish, mask = self.room - 1
        self.lent[lease & mask].done = 1
        while self.first < self.next and self.lent[self.first & mask].done:
            head = self.lent[self.first & mask].stop
            self.first += 1
        if head >= 0:
            store_release(self.head, head)
            # the writer stores its wish, fences, and reads the head once more
            fence_seq_cst()
            wish = load_relaxed(self.wish)
            if wish and (head >= wish or self.resting):
                self.bell.sound()

    cdef void rest(self) noexcept nogil:
        """The reader has no work: what has come back must do."""
        if not self.resting:
            self.resting = True
            fence_seq_cst()
            if load_relaxed(self.wish):
                self.bell.sound()

    cdef void read(self) noexcept:
        """The record peeked at counts as read: its lease ends with its Record."""
        cdef int64_t lease = self.unread
        self.unread = -1
        if self.record == NULL:
            self.release(lease)
        self.record = NULL


@cython.final
@cython.no_gc
cdef class Record:
    """One record in place, read-only; a buffer of ``size`` bytes.

    Its space is released when the ring has advanced over it and the last reference to it, or to a
    buffer made from it, is gone.
    """

    def __cinit__(self):
        self.lease = -1

    def __dealloc__(self):
        if self.lease < 0:
            return
        if self.lease == self.leases.unread:
            self.leases.record = NULL
        else:
            self.leases.release(self.lease)

    def __len__(self):
        return self.size

    def copy(self, target, int64_t at=0):
        """Copy the record's bytes to ``target[at:at + size]``, a writable buffer.

        Raises
        ------
        ValueError
            They are outside of it.
        """
        cdef Py_buffer view
        PyObject_GetBuffer(target, &view, PyBUF_WRITABLE)
        try:
            if at < 0 or at + self.size > view.len:
                raise ValueError(f"{self.size} bytes at {at} are outside {view.len}")
            memcpy(<char*>view.buf + at, self.bytes, self.size)
        finally:
            PyBuffer_Release(&view)

    def __getbuffer__(self, Py_buffer* view, int flags):
        if flags & PyBUF_WRITABLE:
            raise BufferError("a record in a ring is read-only")
        view.buf = self.bytes
        view.obj = self
        view.len = self.size
        view.itemsize = 1
        view.readonly = 1
        view.ndim = 1
        view.format = NULL
        if flags & PyBUF_FORMAT:
            view.format = <char*>OCTETS
        view.shape = &self.shape if flags & PyBUF_ND else NULL
        view.strides = NULL
        if flags & PyBUF_STRIDES == PyBUF_STRIDES:
            view.strides = &view.itemsize
        view.suboffsets = NULL
        view.internal = NULL


cdef Leases make_leases(int64_t* head, const int64_t* wish, Bell bell, object memory):
    """No leases yet; ``memory`` is kept alive, ``bell`` rung when ``head`` comes to ``wish``."""
    cdef Leases leases = Leases.__new__(Leases)
    leases.head = head
    leases.wish = wish
    leases.bell = bell
    leases.memory = memory
    return leases


cdef Record make_record(Leases leases, char* start, int64_t size, int64_t kind, int64_t rows,
                        int64_t flags):
    """The Record of the unread lease."""
    cdef Record record = Record.__new__(Record)
    record.leases = leases
    record.bytes = start
    record.size = record.shape = size
    record.kind, record.rows, record.flags = kind, rows, flags
    record.lease = leases.unread
    leases.record = <PyObject*>record
    return record
