from libc.stdint cimport int64_t

from ambergate_native.atomics cimport (
    add_release,
    exchange_relaxed,
    fence_seq_cst,
    load_acquire,
    load_relaxed,
)
from ambergate_native.futex cimport futex_wake


cdef struct BellLine:
    int64_t sequence                       # rings so far; written by the ringers
    int64_t sleeping                       # 1 while the waiter sleeps or is about to


cdef class Listener:
    """One who is told before the bell's waiter goes to sleep."""

    cdef void rest(self) noexcept nogil


cdef class Bell:
    cdef BellLine* line
    cdef object memory
    cdef list listeners

    cdef inline void sound(self) noexcept nogil:
        """Ring: what was written before is seen by the waiter that hears it."""
        add_release(&self.line.sequence, 1)
        fence_seq_cst()
        # the ringer that takes the word back is the only one to pay for the system call
        if load_relaxed(&self.line.sleeping) and exchange_relaxed(&self.line.sleeping, 0):
            futex_wake(&self.line.sequence)

    cdef inline int64_t last(self) noexcept nogil:
        return load_acquire(&self.line.sequence)

    cdef int listen(self, int64_t seen, int64_t timeout_ns) noexcept nogil
