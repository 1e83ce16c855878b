from libc.stdint cimport int16_t, int64_t, uint8_t, uint64_t

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


cdef class Store:
    """The memory of the records of one or several accumulators: those of a group side by side."""

    cdef char* memory
    cdef int64_t stride                  # bytes of all records of a group
    cdef int64_t room
    cdef int64_t groups

    cdef bint grow(self, int64_t groups) noexcept nogil


cdef class Records:
    """A record of fixed size for each group, all zero before its first row."""

    cdef Store store
    cdef int64_t offset                  # of the record among those of its group
    cdef int64_t record_bytes
    cdef readonly int width              # bytes of a result
    # the rows at hand: their values, and where each stands for several, of how many
    cdef View view
    cdef View counts
    cdef bint weighted
    cdef Records next                    # what is updated together with this

    cdef void add(self, const int64_t* ids, int64_t start, int64_t stop) noexcept nogil
    cdef void take_back(self, const int64_t* ids, int64_t start, int64_t stop) noexcept nogil
    cdef Outcome result(self, int64_t group, char* out) noexcept nogil
    cdef int64_t run(self, const int64_t* ids, int64_t start, int64_t stop, char* out,
                     uint8_t* valid) noexcept nogil
    cdef int check_column(self) except -1
    cdef list begin(self, array, counts, int64_t start, int64_t stop)
    cdef list check_rows(self, array, counts, const int64_t[::1] ids, int64_t start, int64_t stop)

    cdef inline char* record(self, int64_t group) noexcept nogil:
        return self.store.memory + group * self.store.stride + self.offset

    cdef inline void add_all(self, const int64_t* ids, int64_t start, int64_t stop) noexcept nogil:
        """Take rows into this and all that follow."""
        self.add(ids, start, stop)
        if self.next is not None:
            self.next.add_all(ids, start, stop)


cdef inline int64_t count_at(const View* counts, int64_t row) noexcept nogil:
    if counts.width == 2:
        return (<const int16_t*>counts.values)[counts.offset + row]
    return (<const int64_t*>counts.values)[counts.offset + row]
