from libc.stdint cimport int64_t

from ambergate_native.bell cimport Bell
from ambergate_native.leases cimport Leases


cdef struct WriterLine:
    # written by the writer alone
    int64_t tail                           # bytes published since the ring was made
    int64_t published                      # rows
    int64_t dropped                        # rows not written because the reader needs no more
    int64_t wish                           # head at which to be woken, or 0: does not wait


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
    cdef bint waits                        # a wish is stored
    cdef int64_t claimed                   # payload bytes of the open claim, or -1

    # the reader's own
    cdef int64_t cursor                    # start of the next record
    cdef int64_t tail_seen
    cdef int64_t cursor_stop               # end of the record there, once it is peeked at
    cdef bint listens                      # the data bell tells the leases
    cdef Leases leases

    cdef int check_fits(self, int64_t size) except -1
    cdef bint has_room(self, int64_t need) noexcept nogil
    cdef char* claim_bytes(self, int64_t size) noexcept nogil
    cdef void publish_claim(self, int64_t kind, int64_t rows, int64_t flags,
                            int64_t counted) noexcept nogil
    cdef RecordHeader* next_record(self) noexcept nogil
    cdef int find(self) except -1
