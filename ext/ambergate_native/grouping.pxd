from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from ambergate_native.columns cimport Column, Kind
from ambergate_native.gate cimport Gate

cdef extern from "pages.h" nogil:
    void* move_to_room(void* before, size_t used, size_t bytes) noexcept

cdef extern from "grouping.h" nogil:
    const uint64_t LONG_TEXT "AMBERGATE_LONG_TEXT"
    uint64_t word_hash(uint64_t word) noexcept
    bint same_long_text(const uint8_t* one, const uint8_t* other, int64_t size) noexcept
    uint64_t text_word(const uint8_t* text, int64_t size, const uint8_t* end) noexcept
    uint64_t double_word(double value) noexcept
    uint64_t float_word(float value) noexcept


cdef enum Form:
    # what a key of the table is made of: one value of at most 8 bytes, one text or wide value,
    # a row of several values, or nothing but nulls
    WORD, TEXT, ROWS, NOTHING


cdef struct Slot:
    uint64_t word
    int64_t group                        # -1: free


cdef struct View:
    # the parts of a Column that loops read
    Kind kind
    int width
    int64_t offset
    int64_t length
    const uint8_t* validity
    const uint8_t* values
    const uint8_t* bytes


cdef struct Block:
    # the keys of up to BLOCK_ROWS rows
    uint64_t words[256]
    uint64_t hashes[256]
    const uint8_t* texts[256]
    int64_t sizes[256]
    uint8_t nulls[256]
    int64_t cursors[256]
    bint has_nulls


cdef class GroupTable:
    cdef Form form
    cdef int columns
    cdef View* views
    cdef Block* block
    cdef Slot* slots
    cdef int64_t mask                    # slots - 1, a power of two - 1
    cdef int shift                       # a hash >> shift is a slot
    cdef uint64_t* words                 # of each group
    cdef int64_t* starts                 # of each group's bytes, and where the last one's end
    cdef int64_t room                    # groups there is memory for
    cdef readonly int64_t count
    cdef int64_t null_group              # -1: no null was seen
    cdef uint8_t* arena                  # the bytes of all groups, in order
    cdef int64_t arena_room
    cdef uint8_t* rows                   # the encoded rows of the block
    cdef int64_t rows_room

    cdef int check(self, int index, int64_t first, int64_t last) except -1
    cdef bint is_null(self, int index, int64_t group) noexcept nogil
    cdef const uint8_t* value(self, int index, int64_t group, int64_t* size) noexcept nogil
    cdef bint reserve(self, int64_t groups, int64_t bytes) noexcept nogil
    cdef bint rehash(self, int64_t slots) noexcept nogil
    cdef int64_t prepare(self, int64_t start, int64_t rows) noexcept nogil
    cdef list begin(self, list columns, int64_t start, int64_t stop)
    cdef int64_t take(self, Gate gate, int64_t row, int64_t rows, int64_t* ids, bint insert,
                      bint nulls_match) noexcept nogil
    cdef tuple look(self, list columns, int64_t start, int64_t stop, Gate gate, int64_t[::1] ids,
                    bint insert, bint nulls_match)
