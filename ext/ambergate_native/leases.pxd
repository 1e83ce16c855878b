from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from ambergate_native.bell cimport Bell, Listener


cdef struct Lease:
    int64_t stop                           # where the record ends
    int64_t done                           # 1: nothing refers to it any more


cdef class Leases(Listener):
    cdef int64_t* head                     # shared: bytes released
    cdef const int64_t* wish               # shared: head the writer waits for, or 0
    cdef Bell bell
    cdef bint resting                      # nothing was lent since the reader ran out of work
    cdef object memory
    cdef Lease* lent                       # circular; of all records not yet released
    cdef int64_t room                      # a power of two
    cdef int64_t first, next               # ever-growing numbers of leases
    cdef int64_t unread                    # lease of the record peeked at, or -1
    cdef PyObject* record                  # its Record while one is alive; borrowed, no cycle

    cdef int64_t lend(self, int64_t stop) except -1 nogil
    cdef void release(self, int64_t lease) noexcept nogil
    cdef void read(self) noexcept
    cdef void rest(self) noexcept nogil


cdef class Record:
    cdef Leases leases
    cdef char* bytes
    cdef readonly int64_t size
    cdef readonly int64_t kind
    cdef readonly int64_t rows
    cdef readonly int64_t flags
    cdef int64_t lease
    cdef Py_ssize_t shape


cdef Leases make_leases(int64_t* head, const int64_t* wish, Bell bell, object memory)
cdef Record make_record(Leases leases, char* start, int64_t size, int64_t kind, int64_t rows,
                        int64_t flags)
