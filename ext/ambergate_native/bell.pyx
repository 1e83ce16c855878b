# cython: language_level=3
"""A doorbell in shared memory: one waiter, many ringers, no ring lost.

    +-----------------------+-----------------------+-----+
    | sequence (8 bytes)    | sleeping (8 bytes)    | pad |  128 bytes
    +-----------------------+-----------------------+-----+
      rings so far            the waiter sleeps

The waiter reads the sequence (``heard``), looks whether there is work, and if not waits for the
sequence to move on from what it heard: a ring in between is not lost, ``wait`` returns at once.

The ringer adds to ``sequence``, fences, and reads ``sleeping``; the waiter stores ``sleeping``,
fences, and reads ``sequence``. One of the two sees the other's store (Dekker), so the ringer needs
the system call only if someone sleeps. The kernel compares the sequence once more when it puts the
waiter to sleep, which closes the last gap.
"""

import mmap

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uintptr_t

cimport cython
from cpython.exc cimport PyErr_CheckSignals

from ambergate_native.atomics cimport fence_seq_cst, load_acquire, load_relaxed, store_relaxed
from ambergate_native.futex cimport EINTR, futex_wait, monotonic_ns

BELL_BYTES = 128
cdef enum Heard:
    SILENCE, RANG, SIGNAL


@cython.no_gc
cdef class Listener:
    """One who is told before the bell's waiter goes to sleep."""

    cdef void rest(self) noexcept nogil:
        pass


@cython.final
cdef class Bell:
    """A doorbell over ``memory[offset:offset + BELL_BYTES]``; zeroed memory is a new bell.

    Parameters
    ----------
    memory : writable buffer, or None for memory of its own
        Shared with the ringers; kept alive by the bell.
    offset : int
        First byte of the bell, a multiple of 128.

    Raises
    ------
    ValueError
        The bell does not fit into the memory or is not aligned.
    """

    def __cinit__(self, memory=None, int64_t offset=0):
        cdef Py_buffer view
        if memory is None:
            memory, offset = mmap.mmap(-1, BELL_BYTES), 0
        # The memoryview pins the exporter: an mmap cannot be closed under the bell.
        self.memory = memoryview(memory)
        self.listeners = []
        PyObject_GetBuffer(memory, &view, PyBUF_WRITABLE)
        try:
            if offset < 0 or offset + BELL_BYTES > view.len:
                raise ValueError(f"a bell of {BELL_BYTES} bytes at {offset} is outside {view.len}")
            if (<uintptr_t>view.buf + offset) % 128:
                raise ValueError(f"a bell must be aligned to 128 bytes, offset {offset} is not")
            self.line = <BellLine*>(<char*>view.buf + offset)
        finally:
            PyBuffer_Release(&view)

    cdef int listen(self, int64_t seen, int64_t timeout_ns) noexcept nogil:
        """Wait for the sequence to leave ``seen``: SILENCE, RANG or SIGNAL (a signal came)."""
        cdef int64_t until, left = timeout_ns
        cdef int error
        if load_acquire(&self.line.sequence) != seen:
            return RANG
        until = monotonic_ns() + timeout_ns
        while left > 0:
            store_relaxed(&self.line.sleeping, 1)
            fence_seq_cst()
            if load_relaxed(&self.line.sequence) != seen:
                break
            error = futex_wait(&self.line.sequence, seen, left)
            if load_relaxed(&self.line.sequence) != seen:
                break
            if error == EINTR:
                store_relaxed(&self.line.sleeping, 0)
                return SIGNAL
            left = until - monotonic_ns()
        store_relaxed(&self.line.sleeping, 0)
        return RANG if load_acquire(&self.line.sequence) != seen else SILENCE

    def ring(self):
        """Wake the waiter, or keep it from going to sleep on what it heard before."""
        self.sound()

    def heard(self):
        """The sequence to pass to ``wait``; read it before looking for work."""
        return self.last()

    def wait(self, int64_t seen, int64_t timeout_ns):
        """Sleep until the bell has rung since ``seen`` was heard.

        Parameters
        ----------
        seen : what ``heard`` gave
        timeout_ns : bound of the sleep, at least 0; at 0 it only looks

        Returns
        -------
        bool
            True if the bell rang, False at the timeout.

        Raises
        ------
        ValueError
            The timeout is negative: every wait has a bound.
        KeyboardInterrupt, ...
            Whatever a signal handler raises; other signals do not end the wait.
        """
        cdef int64_t until
        cdef int heard
        cdef Listener listener
        if timeout_ns < 0:
            raise ValueError(f"a wait needs a bound of at least 0 ns, got {timeout_ns}")
        if load_acquire(&self.line.sequence) != seen:
            return True
        until = monotonic_ns() + timeout_ns
        for listener in self.listeners:
            listener.rest()
        while True:
            with nogil:
                heard = self.listen(seen, timeout_ns)
            if heard != SIGNAL:
                return heard == RANG
            PyErr_CheckSignals()
            timeout_ns = max(<int64_t>0, until - monotonic_ns())
