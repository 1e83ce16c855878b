# cython: language_level=3
"""The gate of one task: what holds it between two rows, and the page its counters are read from.

    +----------------------+--------------------------------+
    | control (128 bytes)  | report (256 bytes)             |
    | limit, output_limit, | running, position, emitted,    |
    | turn                 | state, counters                |
    +----------------------+--------------------------------+
      written by the         written by the task alone
      controller alone

The task may start row ``k`` only if ``k < limit``. ``turn`` is odd while the task is to stand
still, even while it may run; it is a number and not a flag, because a flag loses a pause when the
task is off the processor across pause, resume, pause.

The task stores ``running``, fences, and reads the control line; the controller stores the control
line, fences, and reads ``running``. One of the two sees the other's store (Dekker), so a task that
is *not running under a closed gate* is paused, and needs not to acknowledge it.
"""

import mmap

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport INT64_MAX, int64_t, uintptr_t

cimport cython

from ambergate_native.atomics cimport (
    fence_seq_cst,
    load_acquire,
    load_relaxed,
    store_relaxed,
    store_release,
)

GATE_BYTES = 512
NO_LIMIT = INT64_MAX
DONE, STOPPED, FULL, RAISED = 0, 1, 2, 3

REPORT_FIELDS = (
    "running", "position", "emitted", "state", "rows_out", "discarded", "batches", "bytes_out",
    "busy_ns", "blocked_ns", "idle_ns", "watermark", "epoch", "steps", "held", "since_ns",
)
cdef dict FIELD_INDEX = {name: index for index, name in enumerate(REPORT_FIELDS)}


@cython.final
cdef class Gate:
    """One task's gate over ``memory[offset:offset + GATE_BYTES]``.

    Parameters
    ----------
    memory : writable buffer, or None for memory of its own
        Shared with the controller; kept alive by the gate.
    offset : int
        First byte of the gate, a multiple of 128.

    Raises
    ------
    ValueError
        The gate does not fit into the memory or is not aligned.
    """

    def __cinit__(self, memory=None, int64_t offset=0):
        cdef Py_buffer view
        if memory is None:
            memory, offset = mmap.mmap(-1, GATE_BYTES), 0
        # The memoryview pins the exporter: an mmap cannot be closed under the gate.
        self.memory = memoryview(memory)
        PyObject_GetBuffer(memory, &view, PyBUF_WRITABLE)
        try:
            if offset < 0 or offset + GATE_BYTES > view.len:
                raise ValueError(f"a gate of {GATE_BYTES} bytes at {offset} is outside {view.len}")
            if (<uintptr_t>view.buf + offset) % 128:
                raise ValueError(f"a gate must be aligned to 128 bytes, offset {offset} is not")
            self.control = <ControlLine*>(<char*>view.buf + offset)
            self.report = <ReportLine*>(<char*>view.buf + offset + 128)
        finally:
            PyBuffer_Release(&view)
        self.base = 0

    # the controller's side

    def reset(self):
        """Open the gate at turn 0 with no limit and all counters zero."""
        cdef int64_t* words = <int64_t*>self.report
        for index in range(16):
            store_relaxed(&words[index], 0)
        store_relaxed(&self.control.turn, 0)
        store_relaxed(&self.control.output_limit, NO_LIMIT)
        store_release(&self.control.limit, NO_LIMIT)

    def close(self, int64_t turn):
        """Pause: no further row is started from now on; ``turn`` is odd."""
        if turn % 2 == 0:
            raise ValueError(f"a pause has an odd turn, got {turn}")
        self.halt(turn)

    def open(self, int64_t turn, int64_t limit=INT64_MAX):
        """Run on, up to ``limit`` rows since the job's start; ``turn`` is even."""
        if turn % 2:
            raise ValueError(f"a run has an even turn, got {turn}")
        self.release(turn, limit)

    def set_limit(self, int64_t limit):
        """Move the limit of an open gate: rows from ``limit`` on are not started."""
        store_release(&self.control.limit, limit)
        fence_seq_cst()

    def set_output_limit(self, int64_t limit):
        """Rows from ``limit`` on are not released."""
        store_release(&self.control.output_limit, limit)
        fence_seq_cst()

    def is_running(self):
        """Whether the task is inside a step; with the gate closed before, False means paused."""
        return self.running()

    def read(self):
        """The page as a dict of the names in ``REPORT_FIELDS``, with limit and turn."""
        cdef int64_t* words = <int64_t*>self.report
        page = {}
        load_acquire(&self.report.running)
        for index, name in enumerate(REPORT_FIELDS):
            page[name] = load_relaxed(&words[index])
        page["limit"] = load_relaxed(&self.control.limit)
        page["output_limit"] = load_relaxed(&self.control.output_limit)
        page["turn"] = load_relaxed(&self.control.turn)
        return page

    @property
    def limit(self):
        """Rows since the job's start that may be started."""
        return load_relaxed(&self.control.limit)

    @property
    def turn(self):
        """Odd while the task is to stand still."""
        return load_acquire(&self.control.turn)

    @property
    def position(self):
        """Rows consumed since the job's start, as last told by the task."""
        return load_acquire(&self.report.position)

    @property
    def state(self):
        """The task's state as last told by it."""
        return load_acquire(&self.report.state)

    # the task's side

    def enter(self):
        """Begin a step; False, and nothing begun, when the gate's turn is odd."""
        return self.begin()

    def leave(self):
        """End a step; everything written before is visible to who sees it ended."""
        self.finish()

    def at(self, int64_t base):
        """Say that row 0 of the batch at hand is row ``base`` since the job's start."""
        self.base = base

    def rows(self, int64_t row, int64_t stop):
        """The row to stop before, as ``bound`` for callers in Python."""
        return self.bound(row, stop)

    def tell(self, str field, int64_t value):
        """Store one field of the report line."""
        cdef int64_t index = FIELD_INDEX[field]
        store_relaxed(&(<int64_t*>self.report)[index], value)

    def add(self, str field, int64_t value):
        """Add to one field of the report line; the task is its only writer."""
        cdef int64_t index = FIELD_INDEX[field]
        cdef int64_t* word = &(<int64_t*>self.report)[index]
        store_relaxed(word, load_relaxed(word) + value)

    def advance(self, int64_t position, int64_t emitted):
        """Store position and emitted rows after a step."""
        store_relaxed(&self.report.emitted, emitted)
        store_relaxed(&self.report.position, position)
