from libc.stdint cimport int64_t, uint8_t

from ambergate_native.columns cimport Kind


cdef class Builder:
    """A growing column of a declared type."""

    cdef Kind kind
    cdef int width
    cdef readonly int64_t rows
    cdef int64_t capacity
    cdef int64_t nulls
    cdef char* values            # fixed width: values; bool: a byte a row; text: int64 offsets
    cdef uint8_t* valid          # a byte a row, or NULL while no row was null
    cdef char* text
    cdef int64_t text_size
    cdef int64_t text_capacity
    cdef list objects            # values of the kinds that have no buffer here
    cdef object convert

    cdef int append(self, object value) except -1
    cdef int put(self, object value) except -1
    cdef int put_null(self) except -1
    cdef int put_text(self, const char* text, int64_t size) except -1
    cdef int grow(self) except -1
    cdef int truncate(self, int64_t rows) except -1


cdef class Results:
    """Growing columns that take one result of a function a row."""

    cdef list builders
    cdef tuple names
    cdef object refuse
    cdef readonly int64_t count
    cdef Builder only            # the builder, where there is one

    cdef int append(self, object result) except -1
    cdef int append_several(self, object result) except -1
    cdef int truncate(self, int64_t rows) except -1
    cdef int64_t size(self) noexcept
    cdef int64_t rows_made(self) noexcept
