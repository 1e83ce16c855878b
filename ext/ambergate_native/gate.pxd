from libc.stdint cimport int64_t

from ambergate_native.atomics cimport (
    fence_seq_cst,
    load_acquire,
    load_relaxed,
    store_relaxed,
    store_release,
)

cdef extern from *:
    """
    #define AMBERGATE_BLOCK_ROWS 256
    #ifdef AMBERGATE_UNGATED
    #define AMBERGATE_GATED 0
    #else
    #define AMBERGATE_GATED 1
    #endif
    """
    const int64_t BLOCK_ROWS "AMBERGATE_BLOCK_ROWS"
    const bint GATED "AMBERGATE_GATED"  # false only in the build that the gate's cost is told by


cdef struct ControlLine:
    # written by the controller alone
    int64_t limit
    int64_t output_limit
    int64_t turn


cdef struct ReportLine:
    # written by the task alone
    int64_t running
    int64_t position
    int64_t emitted
    int64_t state
    int64_t rows_out
    int64_t discarded
    int64_t batches
    int64_t bytes_out
    int64_t busy_ns
    int64_t blocked_ns
    int64_t idle_ns
    int64_t watermark
    int64_t epoch
    int64_t steps
    int64_t held
    int64_t since_ns


cdef class Gate:
    cdef ControlLine* control
    cdef ReportLine* report
    cdef int64_t base
    cdef object memory

    cdef inline int64_t bound(self, int64_t row, int64_t stop) noexcept nogil:
        """The row to stop before: ``stop``, less where the limit says so; ``row`` when closed."""
        cdef int64_t end
        if not GATED:
            return stop
        end = load_relaxed(&self.control.limit) - self.base
        if end >= stop:
            return stop
        return end if end > row else row

    cdef inline void note(self, int64_t row) noexcept nogil:
        """Tell readers of the page that the rows of this batch before ``row`` are consumed."""
        store_relaxed(&self.report.position, self.base + row)

    cdef inline bint begin(self) noexcept nogil:
        """The task's ``enter``."""
        store_relaxed(&self.report.running, 1)
        fence_seq_cst()
        if load_acquire(&self.control.turn) % 2:
            store_release(&self.report.running, 0)
            return False
        return True

    cdef inline void finish(self) noexcept nogil:
        """The task's ``leave``."""
        store_release(&self.report.running, 0)

    cdef inline void halt(self, int64_t turn) noexcept nogil:
        """The controller's ``close``."""
        store_relaxed(&self.control.turn, turn)
        store_release(&self.control.limit, 0)
        fence_seq_cst()

    cdef inline void release(self, int64_t turn, int64_t limit) noexcept nogil:
        """The controller's ``open``."""
        store_relaxed(&self.control.limit, limit)
        store_release(&self.control.turn, turn)
        fence_seq_cst()

    cdef inline bint running(self) noexcept nogil:
        """The controller's ``is_running``."""
        fence_seq_cst()
        return load_acquire(&self.report.running) != 0
