# cython: language_level=3
"""The columns of a whole batch as pointers, and batches made natively.

One export of a batch costs about 1 us whatever its width; ``Column`` costs 0.4 us a column and
the array object before it 0.7 us. Results go back the same way: a struct of arrays whose buffers
are ours (64-byte aligned, freed by ``release``), taken over by ``pa.RecordBatch._import_from_c``.

Source: https://arrow.apache.org/docs/format/CDataInterface.html.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

cimport cython

from ambergate_native.columns cimport ArrowArray, ArrowSchema, Kind

cdef extern from "stdlib.h" nogil:
    int posix_memalign(void** memory, size_t alignment, size_t size)


cdef void classify(const ArrowSchema* schema, View* view) noexcept nogil:
    """Kind and width of a format string; dates, times and durations are integers to a kernel."""
    cdef const char* text = schema.format
    cdef char head = text[0]
    cdef int commas = 0, at = 0
    view.kind, view.width = Kind.OTHER, 0
    if schema.dictionary != NULL:  # its format is that of its indices
        return
    if text[1] == 0:
        if head == b"l":
            view.kind, view.width = Kind.INT64, 8
        elif head == b"g":
            view.kind, view.width = Kind.FLOAT64, 8
        elif head == b"u":
            view.kind, view.width = Kind.STRING, 4
        elif head == b"b":
            view.kind = Kind.BOOL
        elif head == b"i":
            view.kind, view.width = Kind.INT32, 4
        elif head == b"f":
            view.kind, view.width = Kind.FLOAT32, 4
        elif head == b"c":
            view.kind, view.width = Kind.INT8, 1
        elif head == b"C":
            view.kind, view.width = Kind.UINT8, 1
        elif head == b"s":
            view.kind, view.width = Kind.INT16, 2
        elif head == b"S":
            view.kind, view.width = Kind.UINT16, 2
        elif head == b"I":
            view.kind, view.width = Kind.UINT32, 4
        elif head == b"L":
            view.kind, view.width = Kind.UINT64, 8
        elif head == b"U":
            view.kind, view.width = Kind.LARGE_STRING, 8
        elif head == b"z":
            view.kind, view.width = Kind.BINARY, 4
        elif head == b"Z":
            view.kind, view.width = Kind.LARGE_BINARY, 8
        elif head == b"n":
            view.kind = Kind.NULLS
    elif head == b"t":
        if text[1] == b"s" or text[1] == b"D":  # timestamp, duration
            view.kind, view.width = Kind.INT64, 8
        elif text[1] == b"d":  # date
            view.kind, view.width = (Kind.INT32, 4) if text[2] == b"D" else (Kind.INT64, 8)
        elif text[1] == b"t":  # time of day
            if text[2] == b"s" or text[2] == b"m":
                view.kind, view.width = Kind.INT32, 4
            else:
                view.kind, view.width = Kind.INT64, 8
    elif head == b"d" and text[1] == b":":
        while text[at]:
            commas += text[at] == b","
            at += 1
        if commas == 1 or (commas == 2 and at > 4 and text[at - 4] == b"," and text[at - 3] == b"1"
                           and text[at - 2] == b"2" and text[at - 1] == b"8"):
            view.kind, view.width = Kind.DECIMAL128, 16
    elif head == b"w" and text[1] == b":":
        view.kind = Kind.FIXED
        at = 2
        while text[at]:
            view.width = view.width * 10 + (text[at] - 48)
            at += 1


cdef void look(const ArrowSchema* schema, const ArrowArray* array, View* view) noexcept nogil:
    classify(schema, view)
    view.offset, view.length = array.offset, array.length
    view.validity, view.values, view.bytes = NULL, NULL, NULL
    if array.n_buffers > 0 and array.null_count != 0 and view.kind != Kind.NULLS:
        view.validity = <const uint8_t*>array.buffers[0]
    if array.n_buffers > 1:
        view.values = array.buffers[1]
    if array.n_buffers > 2:
        view.bytes = <const uint8_t*>array.buffers[2]


@cython.final
cdef class Views:
    """Pointers into the columns of one batch (or into some arrays), kept alive with it.

    Parameters
    ----------
    source : pa.RecordBatch, or a list of pa.Array
        Anything with ``__arrow_c_array__`` that exports a struct is a batch.

    Raises
    ------
    ValueError
        The arrays differ in length.
    """

    def __cinit__(self, source):
        cdef ArrowSchema* schema
        cdef ArrowArray* array
        cdef int64_t index
        self.views = NULL
        self.native = True
        if isinstance(source, (list, tuple)):
            self.count, self.rows = len(source), 0
            self.views = <View*>calloc(max(1, self.count), sizeof(View))
            self.capsules = []
            for index in range(self.count):
                pair = source[index].__arrow_c_array__()
                self.capsules.append(pair)
                schema = <ArrowSchema*>PyCapsule_GetPointer(pair[0], "arrow_schema")
                array = <ArrowArray*>PyCapsule_GetPointer(pair[1], "arrow_array")
                look(schema, array, &self.views[index])
                if index == 0:
                    self.rows = array.length
                elif array.length != self.rows:
                    raise ValueError(
                        f"column {index} has {array.length} rows, column 0 has {self.rows}"
                    )
        else:
            pair = source.__arrow_c_array__()
            self.capsules = pair
            schema = <ArrowSchema*>PyCapsule_GetPointer(pair[0], "arrow_schema")
            array = <ArrowArray*>PyCapsule_GetPointer(pair[1], "arrow_array")
            self.count, self.rows = array.n_children, array.length
            self.views = <View*>calloc(max(1, self.count), sizeof(View))
            for index in range(self.count):
                look(schema.children[index], array.children[index], &self.views[index])
                self.views[index].offset += array.offset
                self.views[index].length = array.length
        for index in range(self.count):
            if self.views[index].kind == Kind.OTHER:
                self.native = False

    def __dealloc__(self):
        free(self.views)


cdef Views views_of(object source):
    return source if isinstance(source, Views) else Views(source)


# --- batches made here ----------------------------------------------------------------------


cdef struct Header:  # in front of a child's buffers, 64 bytes are kept for it
    const void* buffers[3]
    void* text


cdef void release_child(ArrowArray* child) noexcept nogil:
    free((<Header*>child.private_data).text)
    free(child.private_data)
    child.release = NULL


cdef void release_root(ArrowArray* root) noexcept nogil:
    cdef int64_t index
    cdef ArrowArray* child
    for index in range(root.n_children):
        child = root.children[index]
        if child.release != NULL:
            child.release(child)
    free(root.private_data)
    root.release = NULL


cdef int new_batch(ArrowArray* root, int64_t rows, int64_t columns) except -1 nogil:
    """Make ``root`` a struct array of ``columns`` children, yet without buffers.

    ``root.release`` frees it at any time, also half made.
    """
    cdef size_t heads = columns * sizeof(ArrowArray*)
    cdef char* block = <char*>calloc(1, heads + columns * sizeof(ArrowArray) + sizeof(void*))
    cdef int64_t index
    if block == NULL:
        with gil:
            raise MemoryError(f"no memory for a batch of {columns} columns")
    memset(root, 0, sizeof(ArrowArray))
    root.length, root.n_buffers, root.n_children = rows, 1, columns
    root.children = <ArrowArray**>block
    root.buffers = <const void**>(block + heads + columns * sizeof(ArrowArray))
    root.private_data = block
    root.release = release_root
    for index in range(columns):
        root.children[index] = <ArrowArray*>(block + heads) + index
    return 0


cdef int new_buffers(ArrowArray* child, int64_t rows, int buffers,
                     const int64_t* sizes) except -1 nogil:
    """Give ``child`` buffers of ``sizes`` bytes; a size of -1 is a buffer that is absent.

    Bytes beyond a size up to the next multiple of 64 are allocated and zero.
    """
    cdef int64_t total = 64, padded
    cdef int index
    cdef char* block
    for index in range(buffers):
        if sizes[index] >= 0:
            total += (sizes[index] + 63) // 64 * 64 + (64 if sizes[index] == 0 else 0)
    if posix_memalign(<void**>&block, 64, total):
        with gil:
            raise MemoryError(f"no memory for a column of {total} bytes")
    child.length, child.n_buffers, child.offset = rows, buffers, 0
    child.buffers = (<Header*>block).buffers
    child.private_data = block
    (<Header*>block).text = NULL
    child.release = release_child
    block += 64
    for index in range(buffers):
        if sizes[index] < 0:
            child.buffers[index] = NULL
            continue
        padded = (sizes[index] + 63) // 64 * 64
        if padded == 0:
            padded = 64
        memset(block + padded - 64, 0, 64)
        child.buffers[index] = block
        block += padded
    return 0


cdef int new_text(ArrowArray* child, int64_t size) except -1 nogil:
    """Give ``child``, which has its other buffers, a buffer 2 of ``size`` bytes and 64 to spare."""
    cdef Header* header = <Header*>child.private_data
    if posix_memalign(&header.text, 64, (size + 63) // 64 * 64 + 64):
        header.text = NULL
        with gil:
            raise MemoryError(f"no memory for {size} bytes of text")
    header.buffers[2] = header.text
    return 0
