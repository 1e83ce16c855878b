from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from ambergate_native.views cimport View, Views


cdef class Reader:
    """The values of a batch's rows as Python objects."""

    cdef Views views
    cdef int64_t* positions      # of the columns given to the function, in its order
    cdef readonly int64_t count
    cdef object plain            # per column: bytes, 1 where a view's value is the value
    cdef const unsigned char* is_plain
    cdef object fetch            # callable(position, row) -> list of the values from row on
    cdef list pieces             # per column: the list fetched last
    cdef int64_t* bases          # and the row it begins at
    cdef PyObject** arguments    # room for one call's arguments, one in front for the callee
    cdef int64_t filled          # how many of them hold a reference
    cdef dict places             # name -> column
    cdef dict attributes         # the same without the names of Row's methods

    cdef object value(self, int64_t column, int64_t row)
    cdef object fetched(self, int64_t column, int64_t row)
    cdef int fill(self, int64_t row) except -1
    cdef void clear(self) noexcept


cdef class Row:
    """One row, read when asked; valid for ever."""

    cdef Reader reader
    cdef int64_t row
    cdef tuple kept              # the values, once the row has been left and somebody holds it

    cdef object at(self, int64_t column)
    cdef int keep(self) except -1
