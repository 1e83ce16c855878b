# cython: language_level=3
"""Row loops for Python functions: values made from Arrow buffers, functions called by vectorcall.

Each loop looks at the gate before every row and notes every finished row in the task's page. A row
whose call raises, or whose result does not fit, leaves nothing behind: results are counted per row,
and what the row had written is cut off.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.float cimport PyFloat_FromDouble
from cpython.long cimport PyLong_FromLongLong, PyLong_FromUnsignedLongLong
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport (
    int8_t,
    int16_t,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)

cimport cython

from ambergate_native.columns cimport Column, Kind
from ambergate_native.gate cimport Gate

from ambergate_native.gate import DONE, FULL, RAISED, STOPPED

MOST_ARGUMENTS = 64
cdef enum:
    MOST = 64

cdef extern from "Python.h":
    object PyObject_Vectorcall(object function, PyObject* const* arguments, size_t count, void* names)
    int PyObject_IsTrue(object value) except -1
    long long PyLong_AsLongLongAndOverflow(object value, int* overflow) except? -1
    double PyFloat_AsDouble(object value) except? -1
    bint PyLong_Check(object value)
    bint PyFloat_Check(object value)
    bint PyBool_Check(object value)
    bint PyUnicode_Check(object value)
    bint PyBytes_Check(object value)
    bint PyIndex_Check(object value)
    Py_ssize_t Py_REFCNT(object value)


@cython.final
cdef class Values:
    """The values of one column as Python objects, made when asked for.

    Parameters
    ----------
    array : Arrow array of a boolean, integer, float, string or binary type; or None
    objects : the values themselves, of any type, beginning with row ``first``
    """

    cdef Column column
    cdef list objects
    cdef int64_t first

    def __init__(self, array, list objects=None, int64_t first=0):
        self.column = None if array is None else Column(array)
        self.objects = objects
        self.first = first

    cdef object at(self, int64_t row):
        cdef Column column = self.column
        cdef int64_t at, size = 0
        cdef const uint8_t* text
        cdef Kind kind
        if column is None:
            return self.objects[row - self.first]
        if not column.is_valid(row):
            return None
        kind = column.kind
        at = column.offset + row
        if kind == Kind.FLOAT64:
            return PyFloat_FromDouble((<const double*>column.values)[at])
        if kind == Kind.INT64:
            return PyLong_FromLongLong((<const int64_t*>column.values)[at])
        if kind == Kind.STRING or kind == Kind.LARGE_STRING:
            text = column.string(row, &size)
            return PyUnicode_DecodeUTF8(<const char*>text, size, NULL)
        if kind == Kind.INT32:
            return PyLong_FromLongLong((<const int32_t*>column.values)[at])
        if kind == Kind.BOOL:
            return bool(column.bit(row))
        if kind == Kind.FLOAT32:
            return PyFloat_FromDouble((<const float*>column.values)[at])
        if kind == Kind.INT16:
            return PyLong_FromLongLong((<const int16_t*>column.values)[at])
        if kind == Kind.INT8:
            return PyLong_FromLongLong((<const int8_t*>column.values)[at])
        if kind == Kind.UINT64:
            return PyLong_FromUnsignedLongLong((<const uint64_t*>column.values)[at])
        if kind == Kind.UINT32:
            return PyLong_FromLongLong((<const uint32_t*>column.values)[at])
        if kind == Kind.UINT16:
            return PyLong_FromLongLong((<const uint16_t*>column.values)[at])
        if kind == Kind.UINT8:
            return PyLong_FromLongLong((<const uint8_t*>column.values)[at])
        if kind == Kind.BINARY or kind == Kind.LARGE_BINARY:
            text = column.string(row, &size)
            return PyBytes_FromStringAndSize(<const char*>text, size)
        return None

    def get(self, int64_t row):
        """The value of one row."""
        if self.column is not None and not 0 <= row < self.column.length:
            raise IndexError(f"row {row} is outside 0:{self.column.length}")
        return self.at(row)


@cython.final
cdef class Row:
    """One row as a function without ``columns=`` sees it: ``row.name``, ``row["name"]``.

    Valid during the call; a row that the function keeps holds its values for good.
    """

    cdef dict places
    cdef list values
    cdef int64_t row
    cdef dict kept

    def __init__(self, dict places, list values):
        self.places, self.values, self.kept = places, values, None

    cdef object value(self, object name):
        if self.kept is not None:
            return self.kept[name]
        return (<Values>self.values[self.places[name]]).at(self.row)

    def __getattr__(self, name):
        if name not in self.places:
            raise AttributeError(f"the row has no column {name!r}; it has {', '.join(self.places)}")
        return self.value(name)

    def __getitem__(self, name):
        if name not in self.places:
            raise KeyError(f"the row has no column {name!r}; it has {', '.join(self.places)}")
        return self.value(name)

    def __contains__(self, name):
        return name in self.places

    def __len__(self):
        return len(self.places)

    def __iter__(self):
        return iter(self.places)

    def keys(self):
        """The names of the columns."""
        return list(self.places)

    def as_dict(self):
        """All values by name."""
        return {name: self.value(name) for name in self.places}

    def __repr__(self):
        return f"Row({', '.join(f'{name}={self.value(name)!r}' for name in self.places)})"

    cdef keep(self):
        """Hold the values for good."""
        self.kept = self.as_dict()


cpdef enum Result:
    # how values of a declared type are kept and checked
    OBJECT, INTEGER, REAL, TRUTH, TEXT, BYTES


@cython.final
cdef class Builder:
    """The values of one result column, each checked against the declared type as it comes.

    Parameters
    ----------
    kind : INTEGER keeps int64 within ``low`` to ``high``; REAL float64; TRUTH 0 or 1 as int64;
        TEXT, BYTES and OBJECT keep the objects
    check : of OBJECT: called with each value, raises where it does not fit
    """

    cdef readonly Result kind
    cdef int64_t low, high
    cdef object check
    cdef readonly list objects
    cdef int64_t[::1] integers
    cdef double[::1] reals
    cdef uint8_t[::1] valid
    cdef readonly int64_t count
    cdef readonly int64_t nulls
    cdef int64_t room

    def __init__(self, Result kind, int64_t low=0, int64_t high=0, check=None):
        self.kind, self.low, self.high, self.check = kind, low, high, check
        self.objects = []
        self.count = self.nulls = self.room = 0

    cdef int grow(self) except -1:
        import numpy as np

        cdef int64_t room = self.room * 2 if self.room else 1024
        valid = np.empty(room, np.uint8)
        valid[: self.count] = np.asarray(self.valid)[: self.count] if self.room else 0
        if self.kind == REAL:
            reals = np.empty(room, np.float64)
            if self.room:
                reals[: self.count] = np.asarray(self.reals)[: self.count]
            self.reals = reals
        elif self.kind == INTEGER or self.kind == TRUTH:
            integers = np.empty(room, np.int64)
            if self.room:
                integers[: self.count] = np.asarray(self.integers)[: self.count]
            self.integers = integers
        self.valid = valid
        self.room = room
        return 0

    cdef int put(self, object value) except -1:
        """Keep one value; 1 where it does not fit the declared type."""
        cdef int overflow = 0
        cdef int64_t number
        if self.count == self.room:
            self.grow()
        if value is None:
            self.valid[self.count] = 0
            self.nulls += 1
            if self.kind == REAL:
                self.reals[self.count] = 0.0
            elif self.kind == INTEGER or self.kind == TRUTH:
                self.integers[self.count] = 0
            else:
                self.objects.append(None)
            self.count += 1
            return 0
        if self.kind == REAL:
            if PyFloat_Check(value):
                self.reals[self.count] = PyFloat_AsDouble(value)
            elif PyBool_Check(value) or not is_number(value):
                return 1
            else:
                self.reals[self.count] = PyFloat_AsDouble(value)
        elif self.kind == INTEGER:
            if not PyLong_Check(value):
                if not PyIndex_Check(value) or is_truth(value):
                    return 1
                value = value.__index__()
            elif PyBool_Check(value):
                return 1
            number = PyLong_AsLongLongAndOverflow(value, &overflow)
            if overflow or number < self.low or number > self.high:
                return 1
            self.integers[self.count] = number
        elif self.kind == TRUTH:
            if not PyBool_Check(value) and not is_truth(value):
                return 1
            self.integers[self.count] = PyObject_IsTrue(value)
        elif self.kind == TEXT:
            if not PyUnicode_Check(value):
                return 1
            self.objects.append(value)
        elif self.kind == BYTES:
            if not PyBytes_Check(value):
                return 1
            self.objects.append(value)
        else:
            self.check(value)
            self.objects.append(value)
        self.valid[self.count] = 1
        self.count += 1
        return 0

    cdef int cut(self, int64_t count) except -1:
        """Forget the values from ``count`` on."""
        while self.count > count:
            self.count -= 1
            if not self.valid[self.count]:
                self.nulls -= 1
        del self.objects[count:]
        return 0

    def take(self):
        """The values so far as (objects or numbers, validity bytes); the builder is empty then."""
        import numpy as np

        cdef int64_t count = self.count
        valid = np.asarray(self.valid)[:count] if self.room else np.empty(0, np.uint8)
        if self.kind == REAL:
            values = np.asarray(self.reals)[:count] if self.room else np.empty(0)
        elif self.kind == INTEGER or self.kind == TRUTH:
            values = np.asarray(self.integers)[:count] if self.room else np.empty(0, np.int64)
        else:
            values = self.objects
        self.objects = []
        self.count = self.nulls = self.room = 0
        return values, valid


cdef bint is_truth(object value):
    """Whether this is a NumPy boolean."""
    return type(value).__name__ in ("bool_", "bool") and type(value).__module__ == "numpy"


cdef bint is_number(object value):
    """Whether this is an integer, or a NumPy number that is no boolean."""
    if PyLong_Check(value):
        return True
    return (
        type(value).__module__ == "numpy" and hasattr(value, "__float__") and not is_truth(value)
    )


cdef object call(object function, list values, int64_t row):
    """``function`` of the values of one row, positionally."""
    cdef PyObject* arguments[MOST]
    cdef Py_ssize_t count = len(values), index, made = 0
    cdef object value
    try:
        for index in range(count):
            value = (<Values>values[index]).at(row)
            Py_INCREF(value)
            arguments[index] = <PyObject*>value
            made += 1
        return PyObject_Vectorcall(function, arguments, count, NULL)
    finally:
        for index in range(made):
            Py_XDECREF(arguments[index])


@cython.final
cdef class Caller:
    """Calls one function row by row, with values or with a row view.

    Parameters
    ----------
    function : the user's
    values : one ``Values`` per argument, or per column of the view
    places : None, or column name -> index into ``values``: the function gets one view then
    """

    cdef object function
    cdef list values
    cdef dict places
    cdef Row view

    def __init__(self, function, list values, dict places=None):
        if places is None and len(values) > MOST:
            raise ValueError(f"a function can be given {MOST} columns at most, got {len(values)}")
        self.function, self.values, self.places = function, values, places
        self.view = None if places is None else Row(places, values)

    cdef object call(self, int64_t row):
        if self.view is None:
            return call(self.function, self.values, row)
        self.view.row = row
        try:
            return self.function(self.view)
        finally:
            if Py_REFCNT(self.view) > 1:
                self.view.keep()
                self.view = Row(self.places, self.values)


cdef int put_row(object result, list builders, tuple names, object complain) except -1:
    """Hand one result to the builders: a value, or a tuple or dict for several columns."""
    cdef Py_ssize_t index, count = len(builders)
    if count == 1 and not (type(result) is dict and names[0] in <dict>result):
        if (<Builder>builders[0]).put(result):
            complain(names[0], result)
        return 0
    if type(result) is tuple:
        if len(<tuple>result) != count:
            complain(None, result)
        for index in range(count):
            if (<Builder>builders[index]).put((<tuple>result)[index]):
                complain(names[index], (<tuple>result)[index])
        return 0
    if not isinstance(result, dict) or len(result) != count:
        complain(None, result)
    for index in range(count):
        if names[index] not in result:
            complain(None, result)
        if (<Builder>builders[index]).put(result[names[index]]):
            complain(names[index], result[names[index]])
    return 0


def map_rows(Caller caller, list builders, tuple names, complain, int64_t start, int64_t stop,
             Gate gate):
    """Call the function for rows ``start:stop``; one result a row goes to the builders.

    Parameters
    ----------
    builders, names : one per result column
    complain : called with (column or None, value) where a result does not fit; raises

    Returns
    -------
    status, cursor, error
        RAISED: row ``cursor`` raised ``error`` and left nothing in the builders.
    """
    cdef int64_t row = start, kept = (<Builder>builders[0]).count
    cdef Builder builder
    try:
        while row < stop:
            if gate.bound(row, row + 1) == row:
                return STOPPED, row, None
            put_row(caller.call(row), builders, names, complain)
            row += 1
            gate.note(row)
    except BaseException as error:
        for builder in builders:
            builder.cut(kept + row - start)
        return RAISED, row, error
    return DONE, row, None


def filter_rows(Caller caller, int64_t start, int64_t stop, Gate gate, int64_t[::1] places):
    """Write the rows of ``start:stop`` for which the function's result is true to ``places``.

    Returns
    -------
    status, cursor, count, error
    """
    cdef int64_t row = start, count = 0
    if places.shape[0] < stop - start:
        raise ValueError(f"places holds {places.shape[0]} of {stop - start} rows")
    try:
        while row < stop:
            if gate.bound(row, row + 1) == row:
                return STOPPED, row, count, None
            if PyObject_IsTrue(caller.call(row)):
                places[count] = row
                count += 1
            row += 1
            gate.note(row)
    except BaseException as error:
        return RAISED, row, count, error
    return DONE, row, count, None


def flat_map_rows(Caller caller, list builders, tuple names, complain, refuse, int64_t start,
                  int64_t stop, Gate gate, list parents, int64_t most):
    """Call the function for rows ``start:stop``; each result is an iterable of result rows.

    Parameters
    ----------
    refuse : called with a result that is no iterable of rows (text, dict, None); raises
    parents : gets the input row of each result row
    most : FULL at the end of the row that brings this many result rows

    Returns
    -------
    status, cursor, error
    """
    cdef int64_t row = start, kept = (<Builder>builders[0]).count
    cdef Builder builder
    try:
        while row < stop:
            if gate.bound(row, row + 1) == row:
                return STOPPED, row, None
            result = caller.call(row)
            if result is None or isinstance(result, (str, bytes, dict)):
                refuse(result)
            for each in result:
                put_row(each, builders, names, complain)
                parents.append(row)
            kept = (<Builder>builders[0]).count
            row += 1
            gate.note(row)
            if kept >= most:
                return (DONE if row == stop else FULL), row, None
    except BaseException as error:
        for builder in builders:
            builder.cut(kept)
        del parents[kept:]
        return RAISED, row, error
    return DONE, row, None


def each_row(Caller caller, int64_t start, int64_t stop, Gate gate):
    """Call the function for rows ``start:stop``; results are dropped.

    Returns
    -------
    status, cursor, error
    """
    cdef int64_t row = start
    try:
        while row < stop:
            if gate.bound(row, row + 1) == row:
                return STOPPED, row, None
            caller.call(row)
            row += 1
            gate.note(row)
    except BaseException as error:
        return RAISED, row, error
    return DONE, row, None
