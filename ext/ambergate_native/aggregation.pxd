from libc.stdint cimport int64_t, uint8_t, uint64_t

from ambergate_native.grouping cimport View

cdef extern from "wide.h" nogil:
    ctypedef long long int128 "ambergate_int128"
    ctypedef struct WideSum:
        uint64_t low
        uint64_t middle
        int64_t high
        int64_t count
    void wide_add(WideSum* total, int128 value) noexcept
    void wide_subtract(WideSum* total, int128 value) noexcept
    bint wide_fits_int64(const WideSum* total) noexcept
    bint wide_fits_uint64(const WideSum* total) noexcept
    bint wide_fits_decimal(const WideSum* total) noexcept
    double wide_double(const WideSum* total) noexcept
    int128 load_int128(const uint8_t* bytes) noexcept
    uint64_t ordered_double(double value) noexcept
    double double_of_ordered(uint64_t word) noexcept


cdef enum Outcome:
    NO_VALUE = 0
    VALUE = 1
    TOO_LARGE = 2                        # the result does not fit its type


cdef class Records:
    """A record of fixed size for each group, all zero before its first row."""

    cdef char* records
    cdef int64_t record_bytes
    cdef int64_t room
    cdef readonly int64_t groups
    cdef readonly int width              # bytes of a result

    cdef void add(self, const View* view, const int64_t* ids, int64_t start,
                  int64_t stop) noexcept nogil
    cdef void take_back(self, const View* view, const int64_t* ids, int64_t start,
                        int64_t stop) noexcept nogil
    cdef Outcome result(self, int64_t group, char* out) noexcept nogil
    cdef int check_column(self, const View* view) except -1
    cdef View view_of_rows(self, array, const int64_t[::1] ids, int64_t start,
                           int64_t stop) except *
