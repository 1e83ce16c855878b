# cython: language_level=3
"""What a user's function gave back, checked against its declared types value by value.

The fast path of each type takes Python's own classes; everything else (NumPy scalars, wrong types)
goes through ``convert``, a callable of the caller that gives a plain value or raises.
"""

from cpython.bytes cimport PyBytes_AsString, PyBytes_CheckExact, PyBytes_GET_SIZE
from cpython.dict cimport PyDict_GetItemWithError
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.long cimport PyLong_AsDouble, PyLong_Check, PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_Check
from libc.stdint cimport (
    INT32_MAX,
    int8_t,
    int16_t,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

cimport cython

from ambergate_native.columns cimport ArrowArray, Kind
from ambergate_native.selection cimport imported
from ambergate_native.views cimport is_text, new_buffers

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object value, int* overflow) except? -1
    unsigned long long PyLong_AsUnsignedLongLong(object value) except? 18446744073709551615ULL
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL

cdef dict KINDS = {
    "int8": (Kind.INT8, 1), "int16": (Kind.INT16, 2), "int32": (Kind.INT32, 4),
    "int64": (Kind.INT64, 8), "uint8": (Kind.UINT8, 1), "uint16": (Kind.UINT16, 2),
    "uint32": (Kind.UINT32, 4), "uint64": (Kind.UINT64, 8), "float": (Kind.FLOAT32, 4),
    "double": (Kind.FLOAT64, 8), "bool": (Kind.BOOL, 1), "string": (Kind.STRING, 4),
    "large_string": (Kind.LARGE_STRING, 8), "binary": (Kind.BINARY, 4),
    "large_binary": (Kind.LARGE_BINARY, 8),
}


cdef int room(void** memory, int64_t size) except -1:
    cdef void* larger = realloc(memory[0], size)
    if larger == NULL:
        raise MemoryError(f"no memory for {size} bytes of results")
    memory[0] = larger
    return 0


@cython.final
cdef class Builder:
    """A growing column of a declared type.

    Parameters
    ----------
    type_name : str
        ``str`` of its ``pa.DataType``.
    convert : callable(value) -> value
        Called with a value that is not of Python's own class for the type: gives one that is, or
        raises. For types without a buffer here it is called with each value and its result kept.
    """

    def __cinit__(self, str type_name, convert):
        self.values, self.valid, self.text = NULL, NULL, NULL
        self.kind, self.width = KINDS.get(type_name, (Kind.OTHER, 0))
        self.rows = self.capacity = self.nulls = self.text_size = self.text_capacity = 0
        self.objects = [] if self.kind == Kind.OTHER else None
        self.convert = convert

    def __dealloc__(self):
        free(self.values)
        free(self.valid)
        free(self.text)

    cdef int grow(self) except -1:
        cdef int64_t capacity = max(256, 2 * self.capacity)
        cdef int64_t width = 8 if is_text(self.kind) else self.width
        room(<void**>&self.values, (capacity + 1) * width)
        if is_text(self.kind) and self.capacity == 0:
            (<int64_t*>self.values)[0] = 0
        if self.valid != NULL:
            room(<void**>&self.valid, capacity)
        self.capacity = capacity
        return 0

    cdef int append(self, object value) except -1:
        """Append one value; nothing is appended when it raises."""
        if self.kind == Kind.OTHER:
            self.objects.append(None if value is None else self.convert(value))
            self.rows += 1
            return 0
        if self.rows == self.capacity:
            self.grow()
        if value is None:
            return self.put_null()
        if not self.put(value):
            value = self.convert(value)
            if value is None:
                return self.put_null()
            if not self.put(value):
                raise TypeError(f"{value!r} was converted for a column it does not fit")
        if self.valid != NULL:
            self.valid[self.rows - 1] = 1
        return 0

    cdef int put(self, object value) except -1:
        """Write a value of Python's own class; 0, and nothing written, for another one."""
        cdef int overflow = 0
        cdef long long integer
        cdef unsigned long long natural
        cdef Py_ssize_t size
        cdef const char* text
        cdef Kind kind = self.kind
        cdef int64_t row = self.rows
        if kind == Kind.FLOAT64 or kind == Kind.FLOAT32:
            if PyFloat_Check(value):
                number = PyFloat_AS_DOUBLE(value)
            elif PyLong_CheckExact(value):
                try:
                    number = PyLong_AsDouble(value)
                except OverflowError:
                    return 0
            else:
                return 0
            if kind == Kind.FLOAT64:
                (<double*>self.values)[row] = number
            else:
                (<float*>self.values)[row] = <float>number
        elif kind == Kind.BOOL:
            if value is True:
                self.values[row] = 1
            elif value is False:
                self.values[row] = 0
            else:
                return 0
        elif kind == Kind.STRING or kind == Kind.LARGE_STRING:
            if not PyUnicode_Check(value):
                return 0
            text = PyUnicode_AsUTF8AndSize(value, &size)
            return self.put_text(text, size)
        elif kind == Kind.BINARY or kind == Kind.LARGE_BINARY:
            if not PyBytes_CheckExact(value):
                return 0
            return self.put_text(PyBytes_AsString(value), PyBytes_GET_SIZE(value))
        else:
            if not PyLong_Check(value) or value is True or value is False:
                return 0
            if kind == Kind.UINT64:
                try:
                    natural = PyLong_AsUnsignedLongLong(value)
                except OverflowError:
                    return 0
                (<uint64_t*>self.values)[row] = natural
                self.rows += 1
                return 1
            integer = PyLong_AsLongLongAndOverflow(value, &overflow)
            if overflow:
                return 0
            if kind == Kind.INT64:
                (<int64_t*>self.values)[row] = integer
            elif kind == Kind.INT32:
                if <int32_t>integer != integer:
                    return 0
                (<int32_t*>self.values)[row] = <int32_t>integer
            elif kind == Kind.INT16:
                if <int16_t>integer != integer:
                    return 0
                (<int16_t*>self.values)[row] = <int16_t>integer
            elif kind == Kind.INT8:
                if <int8_t>integer != integer:
                    return 0
                (<int8_t*>self.values)[row] = <int8_t>integer
            elif kind == Kind.UINT32:
                if not 0 <= integer <= 4294967295:
                    return 0
                (<uint32_t*>self.values)[row] = <uint32_t>integer
            elif kind == Kind.UINT16:
                if not 0 <= integer <= 65535:
                    return 0
                (<uint16_t*>self.values)[row] = <uint16_t>integer
            else:
                if not 0 <= integer <= 255:
                    return 0
                (<uint8_t*>self.values)[row] = <uint8_t>integer
        self.rows += 1
        return 1

    cdef int put_text(self, const char* text, int64_t size) except -1:
        """Append bytes; 0, and nothing written, where the offsets of the type cannot tell them."""
        cdef int64_t end = self.text_size + size
        if self.width == 4 and end > INT32_MAX:
            return 0
        if end > self.text_capacity:
            room(<void**>&self.text, max(end, 2 * self.text_capacity, 1024))
            self.text_capacity = max(end, 2 * self.text_capacity, 1024)
        memcpy(self.text + self.text_size, text, size)
        self.text_size = end
        (<int64_t*>self.values)[self.rows + 1] = end
        self.rows += 1
        return 1

    cdef int put_null(self) except -1:
        if self.valid == NULL:
            room(<void**>&self.valid, self.capacity)
            memset(self.valid, 1, self.rows)
        self.valid[self.rows] = 0
        self.nulls += 1
        if is_text(self.kind):
            (<int64_t*>self.values)[self.rows + 1] = self.text_size
        else:
            memset(self.values + self.rows * self.width, 0, self.width)
        self.rows += 1
        return 0

    cdef int truncate(self, int64_t rows) except -1:
        """Forget the rows from ``rows`` on."""
        cdef int64_t row
        if rows >= self.rows:
            return 0
        if self.kind == Kind.OTHER:
            del self.objects[rows:]
        elif is_text(self.kind):
            self.text_size = (<int64_t*>self.values)[rows]
        if self.valid != NULL:
            for row in range(rows, self.rows):
                self.nulls -= not self.valid[row]
        self.rows = rows
        return 0

    def finish(self, importer, type, collect):
        """The column as an array; the builder is empty again.

        Parameters
        ----------
        importer : callable(address, type)
            ``pa.Array._import_from_c``
        type : pa.DataType, the declared one
        collect : callable(values, type)
            Makes the array of types without a buffer here: ``pa.array``
        """
        cdef ArrowArray root
        cdef int64_t[3] sizes
        cdef int64_t row, rows = self.rows
        cdef int32_t* offsets
        cdef uint8_t* bits
        if self.kind == Kind.OTHER:
            made, self.objects, self.rows = self.objects, [], 0
            return collect(made, type)
        sizes[0] = (rows + 7) >> 3 if self.nulls else -1
        sizes[1] = rows * self.width
        sizes[2] = self.text_size
        if self.kind == Kind.BOOL:
            sizes[1] = (rows + 7) >> 3
        elif is_text(self.kind):
            sizes[1] = (rows + 1) * self.width
        new_buffers(&root, rows, 3 if is_text(self.kind) else 2, sizes)
        root.null_count, root.n_children = self.nulls, 0
        root.children, root.dictionary = NULL, NULL
        if self.nulls:
            bits = <uint8_t*>root.buffers[0]
            memset(bits, 0, sizes[0])
            for row in range(rows):
                bits[row >> 3] |= self.valid[row] << (row & 7)
        if self.kind == Kind.BOOL:
            bits = <uint8_t*>root.buffers[1]
            memset(bits, 0, sizes[1])
            for row in range(rows):
                bits[row >> 3] |= self.values[row] << (row & 7)
        elif is_text(self.kind):
            if self.width == 8:
                (<int64_t*>root.buffers[1])[0] = 0
                memcpy(<void*>root.buffers[1], self.values, sizes[1] if rows else 0)
            else:
                offsets = <int32_t*>root.buffers[1]
                offsets[0] = 0
                for row in range(1, rows + 1):
                    offsets[row] = <int32_t>(<int64_t*>self.values)[row]
            memcpy(<void*>root.buffers[2], self.text, self.text_size)
        else:
            memcpy(<void*>root.buffers[1], self.values, sizes[1])
        self.rows = self.nulls = self.text_size = 0
        return imported(&root, importer, type)


@cython.final
cdef class Results:
    """Growing columns that take one result of a function a row.

    Parameters
    ----------
    names : sequence of str
        The declared columns, one or more.
    builders : list of Builder, one a name
    refuse : callable(result)
        Called with a result that has not the shape of a row, to raise what says so. With several
        columns a tuple or list of as many values, a dict of just the names, and None (a row of
        nulls) are rows; with one column the result is the value.
    """

    def __cinit__(self, names, list builders, refuse):
        if len(names) != len(builders) or not builders:
            raise ValueError(f"{len(names)} names for {len(builders)} columns")
        self.names, self.builders, self.refuse = tuple(names), builders, refuse
        self.count = len(builders)
        self.only = builders[0] if self.count == 1 else None

    cdef int append(self, object result) except -1:
        """Append one row; the caller truncates when it raises."""
        if self.only is not None:
            return self.only.append(result)
        return self.append_several(result)

    cdef int append_several(self, object result) except -1:
        cdef int64_t column
        cdef PyObject* value
        if isinstance(result, dict) and len(<dict>result) == self.count:
            for column in range(self.count):
                value = PyDict_GetItemWithError(result, self.names[column])
                if value == NULL:
                    self.refuse(result)
                    raise TypeError(f"{list(result)!r} are not {list(self.names)!r}")
                (<Builder>self.builders[column]).append(<object>value)
            return 0
        if isinstance(result, (tuple, list)) and len(result) == self.count:
            values = result
        elif result is None:
            values = (None,) * self.count
        else:
            self.refuse(result)
            raise TypeError(f"{type(result).__name__} is not a row")
        for column in range(self.count):
            (<Builder>self.builders[column]).append(values[column])
        return 0

    cdef int truncate(self, int64_t rows) except -1:
        for builder in self.builders:
            (<Builder>builder).truncate(rows)
        return 0

    cdef int64_t rows_made(self) noexcept:
        return (<Builder>self.builders[self.count - 1]).rows

    cdef int64_t size(self) noexcept:
        """Bytes of text held, the part of the output that rows do not bound."""
        cdef int64_t column, size = 0
        for column in range(self.count):
            size += (<Builder>self.builders[column]).text_size
        return size

    @property
    def rows(self):
        """Rows appended since the last ``finish``."""
        return self.rows_made()

    def finish(self, importer, types, collect):
        """The columns as arrays, see ``Builder.finish``; empty again."""
        return [
            builder.finish(importer, type, collect)
            for builder, type in zip(self.builders, types, strict=True)
        ]
