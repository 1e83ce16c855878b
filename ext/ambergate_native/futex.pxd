"""Declarations of futex.h."""

from libc.stdint cimport int64_t

cdef extern from "<errno.h>" nogil:
    const int EINTR

cdef extern from "futex.h" nogil:
    int64_t monotonic_ns() noexcept
    int futex_wait(int64_t* word, int64_t seen, int64_t timeout_ns) noexcept
    void futex_wake(int64_t* word) noexcept
