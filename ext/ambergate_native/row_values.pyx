# cython: language_level=3
"""What a user's function is given: the values of a row, or a view of the row.

Numbers, booleans, text and binaries are made from the buffers; every other type is fetched in
pieces of a bounded number of rows by a callable of the caller, when first asked for.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
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
from libc.stdlib cimport calloc, free

cimport cython

from ambergate_native.columns cimport Kind
from ambergate_native.views cimport View, Views, bit_of, string_of

cdef extern from "Python.h":
    object PyLong_FromLongLong(long long value)
    object PyLong_FromUnsignedLongLong(unsigned long long value)
    object PyFloat_FromDouble(double value)
    object PyUnicode_DecodeUTF8(const char* text, Py_ssize_t size, const char* errors)
    object PyObject_GenericGetAttr(object self, object name)


cdef object value_of(const View* view, int64_t row):
    """The value of a plain column as Python has it; None for null."""
    cdef int64_t at = view.offset + row, size
    cdef const uint8_t* bytes
    cdef Kind kind = view.kind
    if view.validity != NULL and not (view.validity[at >> 3] >> (at & 7)) & 1:
        return None
    if kind == Kind.FLOAT64:
        return PyFloat_FromDouble((<const double*>view.values)[at])
    elif kind == Kind.INT64:
        return PyLong_FromLongLong((<const int64_t*>view.values)[at])
    elif kind == Kind.STRING or kind == Kind.LARGE_STRING:
        bytes = string_of(view, row, &size)
        return PyUnicode_DecodeUTF8(<const char*>bytes, size, NULL)
    elif kind == Kind.BOOL:
        return True if bit_of(view, row) else False
    elif kind == Kind.INT32:
        return PyLong_FromLongLong((<const int32_t*>view.values)[at])
    elif kind == Kind.FLOAT32:
        return PyFloat_FromDouble((<const float*>view.values)[at])
    elif kind == Kind.INT8:
        return PyLong_FromLongLong((<const int8_t*>view.values)[at])
    elif kind == Kind.INT16:
        return PyLong_FromLongLong((<const int16_t*>view.values)[at])
    elif kind == Kind.UINT8:
        return PyLong_FromLongLong((<const uint8_t*>view.values)[at])
    elif kind == Kind.UINT16:
        return PyLong_FromLongLong((<const uint16_t*>view.values)[at])
    elif kind == Kind.UINT32:
        return PyLong_FromLongLong((<const uint32_t*>view.values)[at])
    elif kind == Kind.UINT64:
        return PyLong_FromUnsignedLongLong((<const uint64_t*>view.values)[at])
    elif kind == Kind.BINARY or kind == Kind.LARGE_BINARY:
        bytes = string_of(view, row, &size)
        return PyBytes_FromStringAndSize(<const char*>bytes, size)
    return None


@cython.final
cdef class Reader:
    """The values of a batch's rows as Python objects, in the order a function takes them.

    Parameters
    ----------
    source : Views, or pa.RecordBatch
    names : sequence of str
        One name for each column given.
    positions : sequence of int
        Where those columns are in the batch.
    plain : bytes, one for each column
        1 where the value in the buffer is the value itself: integers, floats, bool, text, binary,
        null; 0 where ``fetch`` gives it.
    fetch : callable(position, row) -> list
        The values of the batch's column at ``position`` from ``row`` on: one or more, as many as
        are worth fetching at once.
    places, attributes : dict, optional
        Column by name, and by the names that are attributes of a row (``attributes_of``), where
        they are at hand from another reader of the same columns.

    Raises
    ------
    IndexError
        A position outside the batch.
    ValueError
        ``names``, ``positions`` and ``plain`` differ in length, or a plain column is not one.
    """

    def __cinit__(self, source, names, positions, bytes plain, fetch, dict places=None,
                  dict attributes=None):
        cdef int64_t column
        cdef Kind kind
        self.positions, self.bases, self.arguments = NULL, NULL, NULL
        self.filled = 0
        self.views = source if isinstance(source, Views) else Views(source)
        self.count = len(positions)
        if len(names) != self.count or len(plain) != self.count:
            raise ValueError(f"{len(names)} names, {self.count} positions, {len(plain)} plain")
        self.positions = <int64_t*>calloc(self.count + 1, sizeof(int64_t))
        self.bases = <int64_t*>calloc(self.count + 1, sizeof(int64_t))
        self.arguments = <PyObject**>calloc(self.count + 2, sizeof(PyObject*))
        if self.positions == NULL or self.bases == NULL or self.arguments == NULL:
            raise MemoryError()
        for column in range(self.count):
            self.positions[column] = positions[column]
            if not 0 <= self.positions[column] < self.views.count:
                raise IndexError(f"column {positions[column]} of {self.views.count}")
            kind = self.views.views[self.positions[column]].kind
            if plain[column] and (kind == Kind.OTHER or kind == Kind.DECIMAL128
                                  or kind == Kind.FIXED):
                raise ValueError(f"column {names[column]!r} is not plain")
        self.plain, self.fetch = plain, fetch
        self.is_plain = plain
        self.pieces = [None] * self.count
        if places is None:
            places = {name: column for column, name in enumerate(names)}
        if attributes is None:
            attributes = attributes_of(places)
        self.places, self.attributes = places, attributes

    def __dealloc__(self):
        free(self.positions)
        free(self.bases)
        free(self.arguments)

    cdef object value(self, int64_t column, int64_t row):
        if self.is_plain[column]:
            return value_of(&self.views.views[self.positions[column]], row)
        return self.fetched(column, row)

    cdef object fetched(self, int64_t column, int64_t row):
        cdef list piece = self.pieces[column]
        cdef int64_t at = row - self.bases[column]
        if piece is None or not 0 <= at < len(piece):
            piece = self.fetch(self.positions[column], row)
            self.pieces[column] = piece
            self.bases[column] = row
            at = 0
        return piece[at]

    cdef int fill(self, int64_t row) except -1:
        """Put the row's values into ``arguments``, from 1; to be cleared, also when it raises."""
        cdef int64_t column
        for column in range(self.count):
            value = self.value(column, row)
            Py_INCREF(value)
            self.arguments[column + 1] = <PyObject*>value
            self.filled = column + 1
        return 0

    cdef void clear(self) noexcept:
        cdef int64_t column, filled = self.filled
        self.filled = 0
        for column in range(filled):
            Py_DECREF(<object>self.arguments[column + 1])

    def values(self, int64_t row):
        """The values of one row as a tuple."""
        if not 0 <= row < self.views.rows:
            raise IndexError(f"row {row} of {self.views.rows}")
        return tuple([self.value(column, row) for column in range(self.count)])


ROW_METHODS = frozenset(("as_dict", "keys", "values", "items", "get"))


def attributes_of(dict places):
    """The columns that are attributes of a row: all but those called as its methods are."""
    return {
        name: column for name, column in places.items()
        if not (name.startswith("__") or name in ROW_METHODS)
    }


@cython.final
cdef class Row:
    """One row of a batch, its columns read when asked: ``row.price``, ``row["price"]``.

    It is a mapping from column names to values: ``dict(row)``, ``"price" in row``. A row that is
    kept after the function has returned goes on showing the same row.
    """

    def __init__(self):
        raise TypeError("rows are made by ambergate")

    cdef object at(self, int64_t column):
        if self.kept is not None:
            return self.kept[column]
        return self.reader.value(column, self.row)

    cdef int keep(self) except -1:
        """Copy the values, for somebody holds the row while the batch goes."""
        if self.kept is None:
            self.kept = tuple([self.reader.value(at, self.row) for at in range(self.reader.count)])
            names = self.reader
            self.reader = Reader.__new__(Reader, [], (), (), b"", None)
            self.reader.places, self.reader.attributes = names.places, names.attributes
            self.reader.count = names.count
        return 0

    def __getattribute__(self, name):
        place = self.reader.attributes.get(name)
        if place is not None:
            return self.at(place)
        if name in ROW_METHODS or name.startswith("__"):
            return PyObject_GenericGetAttr(self, name)
        raise AttributeError(f"no column {name!r}; columns: {', '.join(self.reader.places)}")

    def __getitem__(self, name):
        place = self.reader.places.get(name)
        if place is None:
            raise KeyError(f"no column {name!r}; columns: {', '.join(self.reader.places)}")
        return self.at(place)

    def __len__(self):
        return self.reader.count

    def __iter__(self):
        return iter(self.reader.places)

    def __contains__(self, name):
        return name in self.reader.places

    def keys(self):
        """The names of the columns."""
        return self.reader.places.keys()

    def values(self):
        """The values in the order of the columns."""
        return [self.at(column) for column in range(self.reader.count)]

    def items(self):
        """Pairs of name and value."""
        return list(zip(self.reader.places, self.values(), strict=True))

    def get(self, name, default=None):
        """The value of a column, or ``default`` where there is no such column."""
        place = self.reader.places.get(name)
        return default if place is None else self.at(place)

    def as_dict(self):
        """The row as a dict of its own."""
        return dict(self.items())

    def __eq__(self, other):
        if isinstance(other, Row):
            return self.as_dict() == other.as_dict()
        return self.as_dict() == other

    __hash__ = None

    def __repr__(self):
        return f"Row({', '.join([f'{name}={value!r}' for name, value in self.items()])})"

    def __reduce__(self):
        return dict, (self.as_dict(),)
