# cython: language_level=3
"""Python functions over the rows of a batch, one vectorcall a row.

Every loop looks at the gate before a row and notes the row after it. A row whose function, result
or value fails leaves nothing behind: results are cut back to the rows before, and the exception is
returned, whatever it is (SystemExit and KeyboardInterrupt too), with the frames of the user alone.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_REFCNT
from libc.stdint cimport int64_t

cimport cython

from ambergate_native.gate cimport Gate
from ambergate_native.results cimport Results
from ambergate_native.row_values cimport Reader, Row

from ambergate_native.gate import DONE, FULL, RAISED, STOPPED

cdef extern from *:
    """
    /* Tells Cython that an exception is set. */
    static int ambergate_propagate(void) { return -1; }
    """
    int propagate "ambergate_propagate"() except -1

cdef extern from "Python.h":
    PyObject* PyObject_Vectorcall(
        PyObject* function, PyObject** arguments, size_t count, PyObject* names
    )
    size_t PY_VECTORCALL_ARGUMENTS_OFFSET

cdef extern from *:
    """
    static PyObject *ambergate_steal(PyObject *value) { return value; }
    """
    object steal "ambergate_steal"(PyObject* value)

# codes of the loops below, before they are told as statuses
cdef enum:
    RAN, HELD, FILLED

cdef int64_t TEXT_BYTES = 64 << 20  # results of one call hold no more text, but for one row


@cython.final
cdef class Caller:
    """One function over the rows of one batch.

    Parameters
    ----------
    function : callable
    reader : Reader
        The values given by position; with ``whole`` one ``Row`` is given instead.
    whole : bool
    """

    cdef object function
    cdef Reader reader
    cdef bint whole
    cdef Row view

    def __cinit__(self, function, Reader reader, bint whole):
        self.function, self.reader, self.whole = function, reader, whole

    cdef object call(self, int64_t row):
        cdef PyObject* raw
        if self.whole:
            if self.view is None:
                self.view = Row.__new__(Row)
                self.view.reader = self.reader
            self.view.row = row
            self.reader.arguments[1] = <PyObject*>self.view
            raw = PyObject_Vectorcall(<PyObject*>self.function, self.reader.arguments + 1,
                                      1 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)
        else:
            self.reader.fill(row)
            raw = PyObject_Vectorcall(<PyObject*>self.function, self.reader.arguments + 1,
                                      self.reader.count | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)
            self.reader.clear()
        if raw == NULL:
            propagate()
        return steal(raw)

    cdef int left(self) except -1:
        """The row has been left: one that somebody holds gets its values, and is not used again."""
        cdef Row view = self.view
        if view is not None and Py_REFCNT(view) > 2:  # ours are self.view and the local one
            self.view = None
            view.keep()
        return 0


cdef object caught(object error, Caller caller):
    """The exception with the frames of this package's native code taken off."""
    trace = error.__traceback__
    while trace is not None and "ambergate_native" in trace.tb_frame.f_code.co_filename:
        trace = trace.tb_next
    error.__traceback__ = trace
    caller.reader.clear()
    try:
        caller.left()
    except BaseException:
        caller.view = None
    return error


cdef int checked(Reader reader, int64_t start, int64_t stop) except -1:
    if not 0 <= start <= stop <= reader.views.rows:
        raise ValueError(f"rows {start}:{stop} are outside 0:{reader.views.rows}")
    return 0


cdef int map_loop(Caller caller, int64_t stop, Gate gate, Results results,
                  int64_t* cursor) except -1:
    while cursor[0] < stop:
        if gate.bound(cursor[0], cursor[0] + 1) == cursor[0]:
            return HELD
        result = caller.call(cursor[0])
        results.append(result)
        result = None
        if caller.whole:
            caller.left()
        cursor[0] += 1
        gate.note(cursor[0])
        if results.size() > TEXT_BYTES:
            return RAN if cursor[0] == stop else FILLED
    return RAN


def map_rows(function, Reader reader, bint whole, int64_t start, int64_t stop, Gate gate not None,
             Results results not None):
    """Append to ``results`` what ``function`` gives for each row ``start:stop``.

    Parameters
    ----------
    function : callable
        Called with the reader's values by position, or with one ``Row``.
    reader : Reader of the batch
    whole : bool
        Give one ``Row``.
    start, stop : rows to call it for
    gate : the task's gate, looked at before each row and told each row
    results : Results

    Returns
    -------
    status, cursor, error
        ``results`` has grown by ``cursor - start`` rows. FULL: the text of the results is more
        than 64 MiB. RAISED: the row ``cursor`` raised ``error``; else that is None.

    Raises
    ------
    ValueError
        The rows are outside the batch.
    """
    cdef int64_t cursor = start, before = results.rows_made()
    cdef int code
    checked(reader, start, stop)
    caller = Caller(function, reader, whole)
    try:
        code = map_loop(caller, stop, gate, results, &cursor)
    except BaseException as error:
        results.truncate(before + cursor - start)
        return RAISED, cursor, caught(error, caller)
    return (DONE, STOPPED, FULL)[code], cursor, None


cdef int filter_loop(Caller caller, int64_t stop, Gate gate, truth, int64_t* indices,
                     int64_t* count, int64_t* cursor) except -1:
    cdef bint kept
    while cursor[0] < stop:
        if gate.bound(cursor[0], cursor[0] + 1) == cursor[0]:
            return HELD
        result = caller.call(cursor[0])
        if result is True:
            kept = True
        elif result is False or result is None:
            kept = False
        else:
            kept = truth(result)
        result = None
        if caller.whole:
            caller.left()
        if kept:
            indices[count[0]] = cursor[0]
            count[0] += 1
        cursor[0] += 1
        gate.note(cursor[0])
    return RAN


def filter_rows(function, Reader reader, bint whole, int64_t start, int64_t stop,
                Gate gate not None, truth, int64_t[::1] indices):
    """Write to ``indices`` the rows ``start:stop`` for which ``function`` gives a true value.

    Parameters
    ----------
    function, reader, whole, start, stop, gate
        As for ``map_rows``.
    truth : callable(result) -> bool
        Called with each result that is not True, False or None; raises for what is no truth
        value (a coroutine, a generator).
    indices : int64, shape (>= stop - start,), filled from 0

    Returns
    -------
    status, cursor, count, error
    """
    cdef int64_t cursor = start, count = 0
    cdef int code
    checked(reader, start, stop)
    if indices.shape[0] < stop - start:
        raise ValueError(f"indices holds {indices.shape[0]} of {stop - start} rows")
    if start == stop:
        return DONE, cursor, 0, None
    caller = Caller(function, reader, whole)
    try:
        code = filter_loop(caller, stop, gate, truth, &indices[0], &count, &cursor)
    except BaseException as error:
        return RAISED, cursor, count, caught(error, caller)
    return (DONE, STOPPED, FULL)[code], cursor, count, None


cdef int append_all(object result, Results results) except -1:
    if type(result) is list or type(result) is tuple:
        for item in result:
            results.append(item)
    else:
        for item in result:
            results.append(item)
    return 0


cdef int flat_map_loop(Caller caller, int64_t stop, Gate gate, refuse, Results results,
                       int64_t most, int64_t* counts, int64_t* made,
                       int64_t* cursor) except -1:
    cdef int64_t rows, start = cursor[0]
    while cursor[0] < stop:
        if made[0] and (made[0] >= most or results.size() > TEXT_BYTES):
            return FILLED
        if gate.bound(cursor[0], cursor[0] + 1) == cursor[0]:
            return HELD
        result = caller.call(cursor[0])
        if not (type(result) is list or type(result) is tuple):
            result = refuse(result)
        append_all(result, results)
        result = None
        if caller.whole:
            caller.left()
        rows = results.rows_made()
        counts[cursor[0] - start] = rows - made[0]
        made[0] = rows
        cursor[0] += 1
        gate.note(cursor[0])
    return RAN


def flat_map_rows(function, Reader reader, bint whole, int64_t start, int64_t stop,
                  Gate gate not None, refuse, Results results not None, int64_t most,
                  int64_t[::1] counts):
    """Append to ``results`` each of the rows that ``function`` gives for each row ``start:stop``.

    Parameters
    ----------
    function, reader, whole, start, stop, gate
        As for ``map_rows``; the function gives an iterable of rows.
    refuse : callable(result) -> iterable
        Called with a result that is neither list nor tuple: gives an iterable, or raises.
    results : Results, empty
    most : rows of output after which no further row is started
    counts : int64, shape (>= stop - start,)
        Filled from 0: how many rows of output each row has.

    Returns
    -------
    status, cursor, error
        FULL: ``most`` rows were reached, or 64 MiB of text.
    """
    cdef int64_t cursor = start, made = 0
    cdef int code
    checked(reader, start, stop)
    if counts.shape[0] < stop - start:
        raise ValueError(f"counts holds {counts.shape[0]} of {stop - start} rows")
    if results.rows_made():
        raise ValueError(f"results hold {results.rows_made()} rows already")
    if start == stop:
        return DONE, cursor, None
    caller = Caller(function, reader, whole)
    try:
        code = flat_map_loop(caller, stop, gate, refuse, results, most, &counts[0], &made, &cursor)
    except BaseException as error:
        results.truncate(made)
        return RAISED, cursor, caught(error, caller)
    return (DONE, STOPPED, FULL)[code], cursor, None
