from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from ambergate_native.bell cimport Bell


cdef struct WriterLine:
    # written by the writer alone
    int64_t tail                           # bytes published since the ring was made
    int64_t published                      # rows
    int64_t dropped                        # rows not written because the reader needs no more


cdef struct ReaderLine:
    # written by the reader alone
    int64_t head                           # bytes released
    int64_t consumed                       # rows
    int64_t dropped                        # rows thrown away unread
    int64_t closed                         # 1: the reader needs no more rows


cdef struct RecordHeader:
    int64_t size                           # bytes of the payload
    int64_t kind                           # the caller's number, or SKIP
    int64_t rows
    int64_t flags


cdef struct Lease:
    int64_t stop                           # where the record ends
    int64_t done                           # 1: nothing refers to it any more


cdef class Ring:
    cdef WriterLine* writer
    cdef ReaderLine* reader
    cdef char* records
    cdef readonly int64_t capacity
    cdef readonly Bell data_bell
    cdef readonly Bell space_bell
    cdef object memory

    # the writer's own: nothing of it is shared
    cdef int64_t tail
    cdef int64_t head_seen
    cdef int64_t claimed                   # payload bytes of the open claim, or -1

    # the reader's own
    cdef int64_t cursor                    # start of the next record
    cdef int64_t tail_seen
    cdef int64_t peeked                    # lease of the record at the cursor, or -1
    cdef int64_t peeked_stop               # where it ends
    cdef PyObject* current                 # its Record while one is alive, which tells its end
    cdef Lease* leases                     # circular; records handed out and not yet released
    cdef int64_t lease_room                # a power of two
    cdef int64_t lease_first, lease_next   # ever-growing numbers of leases

    cdef int check_fits(self, int64_t size) except -1
    cdef char* claim_bytes(self, int64_t size) noexcept nogil
    cdef void publish_claim(self, int64_t kind, int64_t rows, int64_t flags,
                            int64_t counted) noexcept nogil
    cdef RecordHeader* next_record(self) noexcept nogil
    cdef int find(self) except -1
    cdef int64_t lend(self, int64_t stop) except -1 nogil
    cdef void release(self, int64_t lease) noexcept nogil


cdef class Record:
    cdef Ring ring
    cdef char* bytes
    cdef readonly int64_t size
    cdef readonly int64_t kind
    cdef readonly int64_t rows
    cdef readonly int64_t flags
    cdef int64_t lease
    cdef Py_ssize_t shape
