"""The columns of a whole batch as pointers, and batches made natively."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from ambergate_native.columns cimport ArrowArray, Kind


cdef struct View:
    Kind kind
    int width                    # bytes of a value; 0 for bits, 4 or 8 for offsets
    int64_t offset               # row i is element offset + i of the buffers
    int64_t length
    const uint8_t* validity      # bits, or NULL where nothing is null
    const void* values
    const uint8_t* bytes


cdef inline bint is_valid(const View* view, int64_t row) noexcept nogil:
    cdef int64_t bit = view.offset + row
    return view.validity == NULL or (view.validity[bit >> 3] >> (bit & 7)) & 1


cdef inline bint bit_of(const View* view, int64_t row) noexcept nogil:
    cdef int64_t at = view.offset + row
    return ((<const uint8_t*>view.values)[at >> 3] >> (at & 7)) & 1


cdef inline const uint8_t* string_of(const View* view, int64_t row, int64_t* size) noexcept nogil:
    """First byte and size of a row of a string or binary column."""
    cdef int64_t at = view.offset + row, first
    if view.width == 4:
        first = (<const int32_t*>view.values)[at]
        size[0] = (<const int32_t*>view.values)[at + 1] - first
    else:
        first = (<const int64_t*>view.values)[at]
        size[0] = (<const int64_t*>view.values)[at + 1] - first
    return view.bytes + first


cdef inline bint is_text(Kind kind) noexcept nogil:
    """Whether the values are bytes behind offsets."""
    return (kind == Kind.STRING or kind == Kind.LARGE_STRING
            or kind == Kind.BINARY or kind == Kind.LARGE_BINARY)


cdef class Views:
    """Pointers into the columns of one batch (or into some arrays), kept alive with it."""

    cdef object capsules
    cdef View* views
    cdef readonly int64_t count
    cdef readonly int64_t rows
    cdef readonly bint native    # every column is of a kind that kernels know

cdef Views views_of(object source)

cdef int new_batch(ArrowArray* root, int64_t rows, int64_t columns) except -1 nogil
cdef int new_buffers(ArrowArray* child, int64_t rows, int buffers,
                     const int64_t* sizes) except -1 nogil
cdef int new_text(ArrowArray* child, int64_t size) except -1 nogil
