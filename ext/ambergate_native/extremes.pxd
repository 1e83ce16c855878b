from libc.stdint cimport int64_t


cdef enum Choice:
    LEAST, GREATEST, FIRST, LAST


cdef enum State:
    NOTHING_YET, HAS_VALUE, HAS_NULL


cdef Choice choice_of(str of) except *


cdef inline bint wins(Choice choice, int64_t state, bint valid) noexcept nogil:
    """Whether a row is chosen without a look at its value."""
    if choice == FIRST:
        return state == NOTHING_YET
    if choice == LAST:
        return True
    return valid and state == NOTHING_YET
