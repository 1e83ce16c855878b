# cython: language_level=3
"""Least, greatest, first and last values of groups; see ``aggregation`` for what all share.

Least and greatest pass over nulls, and over NaN unless a group has nothing else; -0.0 is less than
0.0, texts are in the order of their bytes. First and last take the row as it is, null or not.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

cimport cython

from ambergate_native.aggregation cimport (
    NO_VALUE, VALUE, Outcome, Records, double_of_ordered, load_int128, ordered_double,
)
from ambergate_native.columns cimport Column, Kind
from ambergate_native.grouping cimport View
from ambergate_native.keys cimport is_valid, value_word

cdef extern from *:
    """
    #define AMBERGATE_TOP_BIT ((uint64_t)1 << 63)
    #define AMBERGATE_ALL_BITS (~(uint64_t)0)
    """
    const uint64_t TOP_BIT "AMBERGATE_TOP_BIT"
    const uint64_t ALL_BITS "AMBERGATE_ALL_BITS"

cdef dict CHOICES = {"min": LEAST, "max": GREATEST, "first": FIRST, "last": LAST}


cdef Choice choice_of(str of) except *:
    if of not in CHOICES:
        raise ValueError(f"chooses {', '.join(CHOICES)}, not {of!r}")
    return <Choice>CHOICES[of]


cdef struct Chosen:
    uint64_t word
    int64_t state                        # a State


cdef inline bint is_signed(Kind kind) noexcept nogil:
    return Kind.INT8 <= kind <= Kind.INT64


cdef inline uint64_t raw_word(const View* view, int64_t row) noexcept nogil:
    """The bits of a value as they are; those of a float too."""
    cdef uint64_t word = 0
    if view.kind == Kind.BOOL:
        return value_word(view, row)
    memcpy(&word, view.values + (view.offset + row) * view.width, view.width)
    return word


cdef inline uint64_t ordered_word(const View* view, int64_t row, bint greatest) noexcept nogil:
    """A word in whose order the values are; the word of NaN never wins against another."""
    cdef int64_t at = view.offset + row
    cdef double value
    if view.kind == Kind.INT64:
        return (<const uint64_t*>view.values)[at] ^ TOP_BIT
    if view.kind == Kind.FLOAT64 or view.kind == Kind.FLOAT32:
        if view.kind == Kind.FLOAT64:
            value = (<const double*>view.values)[at]
        else:
            value = (<const float*>view.values)[at]
        if value != value:
            return 0 if greatest else ALL_BITS
        return ordered_double(value)
    if view.kind == Kind.INT32:
        return <uint64_t><int64_t>(<const int32_t*>view.values)[at] ^ TOP_BIT
    if view.kind == Kind.INT16:
        return <uint64_t><int64_t>(<const int16_t*>view.values)[at] ^ TOP_BIT
    if view.kind == Kind.INT8:
        return <uint64_t><int64_t>(<const int8_t*>view.values)[at] ^ TOP_BIT
    return value_word(view, row)


@cython.final
cdef class Values(Records):
    """Chosen values of at most 8 bytes.

    Parameters
    ----------
    of : "min", "max", "first" or "last"
    sample : pyarrow.Array
        Of the type of the values; empty will do.

    Results of booleans are bytes of 0 or 1.
    """

    cdef Choice choice
    cdef Kind kind

    def __cinit__(self, str of, sample):
        cdef Column column = Column(sample)
        if not Kind.BOOL <= column.kind <= Kind.FLOAT64:
            raise TypeError(f"values of type {getattr(sample, 'type', '?')} are not of 8 bytes")
        self.choice, self.kind = choice_of(of), column.kind
        self.record_bytes, self.width = sizeof(Chosen), max(column.width, 1)

    cdef int check_column(self) except -1:
        if self.view.kind != self.kind:
            raise TypeError("values are of another type than those before")
        return 0

    cdef void add(self, const int64_t* ids, int64_t start, int64_t stop) noexcept nogil:
        cdef const View* view = &self.view
        cdef int64_t row, group = 0
        cdef uint64_t word
        cdef Chosen* chosen
        cdef bint valid
        for row in range(start, stop):
            if ids != NULL:
                group = ids[row - start]
            chosen = <Chosen*>self.record(group)
            valid = is_valid(view, row)
            if self.choice == FIRST or self.choice == LAST:
                if self.choice == LAST or chosen.state == NOTHING_YET:
                    chosen.word = raw_word(view, row)
                    chosen.state = HAS_VALUE if valid else HAS_NULL
            elif valid:
                word = ordered_word(view, row, self.choice == GREATEST)
                if (chosen.state == NOTHING_YET
                        or (word < chosen.word if self.choice == LEAST else word > chosen.word)):
                    chosen.word, chosen.state = word, HAS_VALUE

    cdef Outcome result(self, int64_t group, char* out) noexcept nogil:
        cdef Chosen* chosen = <Chosen*>self.record(group)
        cdef uint64_t word = chosen.word
        cdef double value
        cdef float narrow
        if chosen.state != HAS_VALUE:
            return NO_VALUE
        if self.choice == LEAST or self.choice == GREATEST:
            if self.kind == Kind.FLOAT64 or self.kind == Kind.FLOAT32:
                if word == (0 if self.choice == GREATEST else ALL_BITS):
                    word = <uint64_t>0x7FF8 << 48
                    memcpy(&value, &word, 8)
                else:
                    value = double_of_ordered(word)
                if self.kind == Kind.FLOAT32:
                    narrow = <float>value
                    memcpy(out, &narrow, 4)
                else:
                    memcpy(out, &value, 8)
                return VALUE
            if is_signed(self.kind):
                word ^= TOP_BIT
        memcpy(out, &word, self.width)  # the lowest byte first
        return VALUE


cdef struct ChosenWide:
    uint8_t bytes[16]
    int64_t state


@cython.final
cdef class Decimals(Records):
    """Chosen decimals of 128 bits.

    Parameters
    ----------
    of : "min", "max", "first" or "last"
    """

    cdef Choice choice

    def __cinit__(self, str of):
        self.choice = choice_of(of)
        self.record_bytes, self.width = sizeof(ChosenWide), 16

    cdef int check_column(self) except -1:
        if self.view.kind != Kind.DECIMAL128:
            raise TypeError("values are no decimals of 128 bits")
        return 0

    cdef void add(self, const int64_t* ids, int64_t start, int64_t stop) noexcept nogil:
        cdef const View* view = &self.view
        cdef int64_t row, group = 0
        cdef const uint8_t* value
        cdef ChosenWide* chosen
        cdef bint valid
        for row in range(start, stop):
            if ids != NULL:
                group = ids[row - start]
            chosen = <ChosenWide*>self.record(group)
            valid = is_valid(view, row)
            value = view.values + 16 * (view.offset + row)
            if wins(self.choice, chosen.state, valid) or (
                    valid and chosen.state == HAS_VALUE and (
                        self.choice == LEAST and load_int128(value) < load_int128(chosen.bytes)
                        or self.choice == GREATEST
                        and load_int128(value) > load_int128(chosen.bytes))):
                memcpy(chosen.bytes, value, 16)
                chosen.state = HAS_VALUE if valid else HAS_NULL

    cdef Outcome result(self, int64_t group, char* out) noexcept nogil:
        cdef ChosenWide* chosen = <ChosenWide*>self.record(group)
        if chosen.state != HAS_VALUE:
            return NO_VALUE
        memcpy(out, chosen.bytes, 16)
        return VALUE
