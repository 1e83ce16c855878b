"""Declarations of atomics.h, the one place that names a memory order."""

from libc.stdint cimport int64_t

cdef extern from "atomics.h" nogil:
    int64_t load_relaxed(const int64_t* word) noexcept
    int64_t load_acquire(const int64_t* word) noexcept
    void store_relaxed(int64_t* word, int64_t value) noexcept
    void store_release(int64_t* word, int64_t value) noexcept
    int64_t add_relaxed(int64_t* word, int64_t value) noexcept
    int64_t add_release(int64_t* word, int64_t value) noexcept
    int64_t exchange_relaxed(int64_t* word, int64_t value) noexcept
    void fence_seq_cst() noexcept
