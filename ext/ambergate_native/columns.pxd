from libc.stdint cimport int32_t, int64_t, uint8_t

cdef extern from *:
    """
    #ifndef ARROW_C_DATA_INTERFACE
    #define ARROW_C_DATA_INTERFACE
    #include <stdint.h>
    struct ArrowSchema {
      const char* format; const char* name; const char* metadata; int64_t flags;
      int64_t n_children; struct ArrowSchema** children; struct ArrowSchema* dictionary;
      void (*release)(struct ArrowSchema*); void* private_data;
    };
    struct ArrowArray {
      int64_t length; int64_t null_count; int64_t offset; int64_t n_buffers; int64_t n_children;
      const void** buffers; struct ArrowArray** children; struct ArrowArray* dictionary;
      void (*release)(struct ArrowArray*); void* private_data;
    };
    #endif
    """
    struct ArrowSchema:
        const char* format
        int64_t n_children
        ArrowSchema** children
        ArrowSchema* dictionary
    struct ArrowArray:
        int64_t length
        int64_t null_count
        int64_t offset
        int64_t n_buffers
        int64_t n_children
        const void** buffers
        ArrowArray** children
        ArrowArray* dictionary
        void (*release)(ArrowArray*) noexcept nogil
        void* private_data


cpdef enum Kind:
    OTHER, NULLS, BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64,
    FLOAT32, FLOAT64, DECIMAL128, STRING, LARGE_STRING, BINARY, LARGE_BINARY, LIST, LARGE_LIST,
    FIXED


cdef class Column:
    """One Arrow array, seen as pointers; row ``i`` is element ``offset + i`` of the buffers."""

    cdef object capsules
    cdef ArrowArray* array
    cdef readonly Kind kind
    cdef readonly int width                # bytes of a value; 0 for bits, 4 or 8 for offsets
    cdef readonly int64_t offset
    cdef readonly int64_t length
    cdef const uint8_t* validity           # bits, or NULL where nothing is null
    cdef const void* values                # buffer 1
    cdef const uint8_t* bytes              # buffer 2 of strings and binaries

    cdef inline bint is_valid(self, int64_t row) noexcept nogil:
        cdef int64_t bit = self.offset + row
        return self.validity == NULL or (self.validity[bit >> 3] >> (bit & 7)) & 1

    cdef inline bint bit(self, int64_t row) noexcept nogil:
        """Row of a boolean column."""
        cdef int64_t at = self.offset + row
        return ((<const uint8_t*>self.values)[at >> 3] >> (at & 7)) & 1

    cdef inline const uint8_t* string(self, int64_t row, int64_t* size) noexcept nogil:
        """First byte and size of a row of a string or binary column."""
        cdef int64_t at = self.offset + row, first
        if self.width == 4:
            first = (<const int32_t*>self.values)[at]
            size[0] = (<const int32_t*>self.values)[at + 1] - first
        else:
            first = (<const int64_t*>self.values)[at]
            size[0] = (<const int64_t*>self.values)[at + 1] - first
        return self.bytes + first
