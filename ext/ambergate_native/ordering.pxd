from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcmp

cdef extern from *:
    """
    #define AMBERGATE_NULL_FIRST 1
    #define AMBERGATE_VALUE 2
    #define AMBERGATE_NULL_LAST 3
    #define AMBERGATE_EXHAUSTED 4
    """
    const uint8_t NULL_FIRST "AMBERGATE_NULL_FIRST"
    const uint8_t VALUE "AMBERGATE_VALUE"
    const uint8_t NULL_LAST "AMBERGATE_NULL_LAST"
    const uint8_t EXHAUSTED "AMBERGATE_EXHAUSTED"


cdef class Keys:
    """Order-preserving keys of some rows: the order of rows is that of (prefix, mark, tail)."""

    cdef readonly int64_t length
    cdef uint64_t* prefixes
    cdef uint8_t* marks        # one a row; NULL where the first column has no nulls
    cdef uint8_t* tails        # NULL where prefix and mark say all
    cdef int64_t* ends         # end of each row's tail; NULL where all have ``stride`` bytes
    cdef int64_t stride

    cdef Keys blank(self, int64_t length, bint marked, int64_t tail_bytes, bint even)

    cdef inline uint8_t mark(self, int64_t row) noexcept nogil:
        return VALUE if self.marks == NULL else self.marks[row]

    cdef inline const uint8_t* tail(self, int64_t row, int64_t* size) noexcept nogil:
        cdef int64_t first
        if self.ends == NULL:
            size[0] = self.stride
            return self.tails + row * self.stride
        first = self.ends[row - 1] if row else 0
        size[0] = self.ends[row] - first
        return self.tails + first


cdef inline int compare_bytes(const uint8_t* a, int64_t a_size, const uint8_t* b,
                              int64_t b_size) noexcept nogil:
    cdef int order = memcmp(a, b, a_size if a_size < b_size else b_size)
    return order if order else (a_size > b_size) - (a_size < b_size)


cdef inline int compare_ties(Keys a, int64_t i, Keys b, int64_t j) noexcept nogil:
    """Order of row ``i`` of ``a`` and row ``j`` of ``b``, whose prefixes are equal."""
    cdef int order = <int>a.mark(i) - <int>b.mark(j)
    cdef int64_t a_size, b_size
    cdef const uint8_t* a_tail
    cdef const uint8_t* b_tail
    if order or a.tails == NULL:
        return order
    a_tail = a.tail(i, &a_size)
    b_tail = b.tail(j, &b_size)
    return compare_bytes(a_tail, a_size, b_tail, b_size)


cdef Keys encode(list columns, list descending, list nulls_last, int64_t start, int64_t stop)
