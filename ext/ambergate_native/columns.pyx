# cython: language_level=3
"""Arrow arrays as native kernels see them, through the Arrow C data interface.

Source: https://arrow.apache.org/docs/format/CDataInterface.html. Any object with
``__arrow_c_array__`` will do, so the extension is built without pyarrow.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport uint8_t

cimport cython

cdef dict WIDTHS = {
    "c": (Kind.INT8, 1), "C": (Kind.UINT8, 1), "s": (Kind.INT16, 2), "S": (Kind.UINT16, 2),
    "i": (Kind.INT32, 4), "I": (Kind.UINT32, 4), "l": (Kind.INT64, 8), "L": (Kind.UINT64, 8),
    "f": (Kind.FLOAT32, 4), "g": (Kind.FLOAT64, 8), "b": (Kind.BOOL, 0), "n": (Kind.NULLS, 0),
    "u": (Kind.STRING, 4), "U": (Kind.LARGE_STRING, 8), "z": (Kind.BINARY, 4),
    "Z": (Kind.LARGE_BINARY, 8), "+l": (Kind.LIST, 4), "+L": (Kind.LARGE_LIST, 8),
    # dates, times, timestamps and durations are integers to a kernel
    "tdD": (Kind.INT32, 4), "tdm": (Kind.INT64, 8), "tts": (Kind.INT32, 4),
    "ttm": (Kind.INT32, 4), "ttu": (Kind.INT64, 8), "ttn": (Kind.INT64, 8),
    "tDs": (Kind.INT64, 8), "tDm": (Kind.INT64, 8), "tDu": (Kind.INT64, 8), "tDn": (Kind.INT64, 8),
}


cdef tuple kind_of(str format):
    if format in WIDTHS:
        return WIDTHS[format]
    if format.startswith("ts"):
        return Kind.INT64, 8
    if format.startswith("d:"):
        parts = format[2:].split(",")
        if len(parts) == 2 or parts[2] == "128":
            return Kind.DECIMAL128, 16
    if format.startswith("w:"):
        return Kind.FIXED, int(format[2:])
    return Kind.OTHER, 0


@cython.final
cdef class Column:
    """Pointers into one Arrow array, kept alive as long as the column.

    Parameters
    ----------
    array : object with ``__arrow_c_array__``
        A ``pyarrow.Array``, not chunked.
    """

    def __cinit__(self, array):
        cdef ArrowSchema* schema
        schema_capsule, array_capsule = array.__arrow_c_array__()
        self.capsules = (schema_capsule, array_capsule)
        schema = <ArrowSchema*>PyCapsule_GetPointer(schema_capsule, "arrow_schema")
        self.array = <ArrowArray*>PyCapsule_GetPointer(array_capsule, "arrow_array")
        self.kind, self.width = Kind.OTHER, 0  # a dictionary's format is that of its indices
        if schema.dictionary == NULL:
            self.kind, self.width = kind_of(schema.format.decode("ascii"))
        self.offset, self.length = self.array.offset, self.array.length
        self.validity = NULL
        self.values = NULL
        self.bytes = NULL
        if self.array.n_buffers > 0 and self.array.null_count != 0 and self.kind != Kind.NULLS:
            self.validity = <const uint8_t*>self.array.buffers[0]
        if self.array.n_buffers > 1:
            self.values = self.array.buffers[1]
        if self.array.n_buffers > 2:
            self.bytes = <const uint8_t*>self.array.buffers[2]

    def __len__(self):
        return self.length
