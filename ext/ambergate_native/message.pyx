# cython: language_level=3
"""Record batches as Arrow IPC messages, written straight to where they are to be read.

    +-----------+----------+------------------------------+---------------------------+
    | 0xFFFFFFFF| metadata | flatbuffer: Message, nodes,  | body: buffers, each at a  |
    | (4 bytes) | size (4) | buffers, padding to 64       | multiple of 64 bytes      |
    +-----------+----------+------------------------------+---------------------------+

pyarrow's own writer does the same by way of a second copy and aligns buffers to 8 bytes only, not
enough for 128-bit decimals. Its reader reads these messages in place.

The flatbuffer of a record batch has the same shape for all batches of a schema, so it is laid out
by hand with every field present. Sources:
https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc,
https://flatbuffers.dev/internals/.
"""

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

cimport cython

from ambergate_native.columns cimport ArrowArray

cdef extern from *:
    int __builtin_popcountll(uint64_t word) noexcept nogil
    struct ArrowSchema:
        const char* format
        const char* name
        int64_t n_children
        ArrowSchema** children
        ArrowSchema* dictionary

cdef enum Layout:
    NOTHING, FIXED, BITS, TEXT, SEQUENCE, RECORD, FIXED_SEQUENCE

cdef int[7] BUFFERS                        # of an array of each layout
BUFFERS[:] = [0, 2, 2, 3, 2, 1, 1]

cdef enum Copy:
    PLAIN, SHIFTED, REBASED_32, REBASED_64

# places in the flatbuffer
cdef enum:
    MESSAGE_VTABLE = 4
    BATCH_VTABLE = 16
    MESSAGE = 32
    BATCH = 56
    NODES = 84
    VERSION_5 = 4
    RECORD_BATCH = 3

cdef dict WIDTHS = {
    "c": 1, "C": 1, "s": 2, "S": 2, "e": 2, "i": 4, "I": 4, "f": 4, "l": 8, "L": 8, "g": 8,
    "tdD": 4, "tdm": 8, "tts": 4, "ttm": 4, "ttu": 8, "ttn": 8,
    "tDs": 8, "tDm": 8, "tDu": 8, "tDn": 8, "tiM": 4, "tiD": 8, "tin": 16,
}


cdef struct Node:
    # one field of the schema, in preorder
    Layout layout
    int64_t width                          # bytes of a value or an offset; items of a fixed list
    int64_t children


cdef struct Piece:
    # one buffer of the message
    const uint8_t* source
    Copy how
    int64_t shift                          # bits to drop, or the offset that becomes 0
    int64_t size
    int64_t place                          # in the body


cdef inline int64_t aligned(int64_t size) noexcept nogil:
    return (size + 63) & ~<int64_t>63


cdef int64_t count_bits(const uint8_t* bits, int64_t start, int64_t length) noexcept nogil:
    """Bits set among ``length`` bits from bit ``start`` on."""
    cdef int64_t bit = start, stop = start + length, count = 0
    cdef uint64_t word
    while bit < stop and bit & 7:
        count += (bits[bit >> 3] >> (bit & 7)) & 1
        bit += 1
    while bit + 64 <= stop:
        memcpy(&word, bits + (bit >> 3), 8)
        count += __builtin_popcountll(word)
        bit += 64
    while bit < stop:
        count += (bits[bit >> 3] >> (bit & 7)) & 1
        bit += 1
    return count


cdef void copy_bits(uint8_t* target, const uint8_t* source, int64_t shift,
                    int64_t size) noexcept nogil:
    """Write ``size`` bytes of the bits from bit ``shift`` (0 to 7) of the source on.

    The byte after the last is read too.
    """
    cdef int64_t at
    for at in range(size):
        target[at] = <uint8_t>((source[at] >> shift) | (source[at + 1] << (8 - shift)))


cdef void write_piece(uint8_t* target, Piece* piece) noexcept nogil:
    cdef int64_t at
    cdef const int32_t* narrow = <const int32_t*>piece.source
    cdef const int64_t* wide = <const int64_t*>piece.source
    if piece.size == 0:
        return
    if piece.source == NULL:
        memset(target, 0, piece.size)
    elif piece.how == Copy.PLAIN:
        memcpy(target, piece.source, piece.size)
    elif piece.how == Copy.REBASED_32:
        for at in range(piece.size // 4):
            (<int32_t*>target)[at] = narrow[at] - <int32_t>piece.shift
    elif piece.how == Copy.REBASED_64:
        for at in range(piece.size // 8):
            (<int64_t*>target)[at] = wide[at] - piece.shift
    else:
        # the last byte apart: what follows it in the source may be outside of the buffer
        copy_bits(target, piece.source, piece.shift & 7, piece.size - 1)
        at = piece.size - 1
        target[at] = piece.source[at] >> (piece.shift & 7)
        if piece.shift & 8:
            target[at] |= piece.source[at + 1] << (8 - (piece.shift & 7))


@cython.final
cdef class Encoder:
    """Writes batches of one schema as IPC messages with buffers aligned to 64 bytes.

    Parameters
    ----------
    schema : object with ``__arrow_c_schema__``
        A ``pyarrow.Schema``.

    Raises
    ------
    TypeError
        A column is dictionary-encoded, run-end encoded, a union or a view: such batches must be
        written by pyarrow.
    """

    cdef Node* nodes
    cdef Piece* pieces
    cdef int64_t* counts                   # length and nulls of each node
    cdef int64_t node_count, piece_count
    cdef int64_t rows, body, metadata
    cdef int64_t node, piece               # while planning: the next of each
    cdef bint fits                         # the batch has the nesting of the schema
    cdef object capsules

    def __cinit__(self, schema):
        cdef ArrowSchema* fields
        cdef list described = []
        capsule = schema.__arrow_c_schema__()
        fields = <ArrowSchema*>PyCapsule_GetPointer(capsule, "arrow_schema")
        for index in range(fields.n_children):
            describe(fields.children[index], described)
        self.node_count = len(described)
        self.nodes = <Node*>calloc(self.node_count + 1, sizeof(Node))
        self.pieces = <Piece*>calloc(3 * self.node_count + 1, sizeof(Piece))
        self.counts = <int64_t*>calloc(2 * self.node_count + 1, sizeof(int64_t))
        if self.nodes == NULL or self.pieces == NULL or self.counts == NULL:
            raise MemoryError("no memory for the layout of a schema")
        for index, (layout, width, children) in enumerate(described):
            self.nodes[index] = Node(layout, width, children)
            self.piece_count += BUFFERS[<int>layout]
        # behind prefix and fixed part: two vectors, each of 16-byte entries after its length
        self.metadata = aligned(8 + 96 + 16 * (self.node_count + self.piece_count)) - 8

    def __dealloc__(self):
        free(self.nodes)
        free(self.pieces)
        free(self.counts)

    def plan(self, batch):
        """Look at a batch, to be written next, and keep it alive until then.

        Returns
        -------
        int
            Bytes of its message.

        Raises
        ------
        ValueError
            Its columns are not nested as the schema says; their types are the caller's to check.
        """
        cdef ArrowArray* array
        cdef int64_t column, place = 0, index
        capsules = batch.__arrow_c_array__()
        array = <ArrowArray*>PyCapsule_GetPointer(capsules[1], "arrow_array")
        self.capsules = None
        self.fits = True
        self.node = self.piece = 0
        self.rows = array.length
        for column in range(array.n_children):
            self.plan_array(array.children[column], array.offset, array.length)
        if not self.fits or self.node != self.node_count:
            raise ValueError(f"a batch of {array.n_children} columns that are not the schema's")
        for index in range(self.piece_count):
            self.pieces[index].place = place
            place += aligned(self.pieces[index].size)
        self.body = place
        self.capsules = capsules
        return 8 + self.metadata + self.body

    cdef void add(self, const void* source, Copy how, int64_t shift, int64_t size) noexcept nogil:
        self.pieces[self.piece].source = <const uint8_t*>source
        self.pieces[self.piece].how = how
        self.pieces[self.piece].shift = shift
        self.pieces[self.piece].size = size
        self.piece += 1

    cdef void add_bits(self, const void* source, int64_t start, int64_t length) noexcept nogil:
        cdef int64_t size = (length + 7) // 8, shift = start & 7
        if source == NULL or shift == 0:
            self.add(source if source == NULL else <const uint8_t*>source + (start >> 3),
                     Copy.PLAIN, 0, size)
            return
        # 8: the last byte of the target has bits of a further byte of the source
        if (start + length + 7) // 8 - (start >> 3) > size:
            shift |= 8
        self.add(<const uint8_t*>source + (start >> 3), Copy.SHIFTED, shift, size)

    cdef int64_t add_offsets(self, const void* source, int64_t width, int64_t start,
                             int64_t length, int64_t* first) noexcept nogil:
        """Add rebased offsets; gives the first one, returns what they span."""
        cdef int64_t last
        if length == 0 or source == NULL:
            first[0] = 0
            self.add(NULL, Copy.PLAIN, 0, width)
            return 0
        if width == 4:
            first[0] = (<const int32_t*>source)[start]
            last = (<const int32_t*>source)[start + length]
        else:
            first[0] = (<const int64_t*>source)[start]
            last = (<const int64_t*>source)[start + length]
        self.add(<const uint8_t*>source + start * width,
                 Copy.PLAIN if first[0] == 0
                 else Copy.REBASED_32 if width == 4 else Copy.REBASED_64,
                 first[0], (length + 1) * width)
        return last - first[0]

    cdef void plan_array(self, ArrowArray* array, int64_t start, int64_t length) noexcept nogil:
        """Add ``length`` elements from element ``start`` of an array and of its children."""
        cdef Node* node = &self.nodes[self.node]
        cdef int64_t* counts = &self.counts[2 * self.node]
        cdef int64_t at = array.offset + start, nulls = array.null_count, first, span, child
        cdef const uint8_t* validity = NULL
        cdef const uint8_t* values
        if self.node == self.node_count or array.n_children != node.children or (
                array.n_buffers != BUFFERS[<int>node.layout]):
            self.fits = False
            return
        self.node += 1
        counts[0] = length
        if node.layout == Layout.NOTHING:
            counts[1] = length
            return
        if array.n_buffers > 0:
            validity = <const uint8_t*>array.buffers[0]
        if validity == NULL or length == 0:
            nulls = 0
        elif nulls < 0 or (nulls > 0 and length != array.length):
            nulls = length - count_bits(validity, at, length)
        counts[1] = nulls
        if nulls:
            self.add_bits(validity, at, length)
        else:
            self.add(NULL, Copy.PLAIN, 0, 0)
        if node.layout == Layout.FIXED:
            values = <const uint8_t*>array.buffers[1]
            self.add(values if values == NULL else values + at * node.width, Copy.PLAIN, 0,
                     length * node.width)
        elif node.layout == Layout.BITS:
            self.add_bits(array.buffers[1], at, length)
        elif node.layout == Layout.TEXT:
            span = self.add_offsets(array.buffers[1], node.width, at, length, &first)
            values = <const uint8_t*>array.buffers[2]
            self.add(values if values == NULL else values + first, Copy.PLAIN, 0, span)
        elif node.layout == Layout.SEQUENCE:
            span = self.add_offsets(array.buffers[1], node.width, at, length, &first)
            self.plan_array(array.children[0], first, span)
        elif node.layout == Layout.FIXED_SEQUENCE:
            self.plan_array(array.children[0], at * node.width, length * node.width)
        else:
            for child in range(node.children):
                self.plan_array(array.children[child], at, length)

    def write(self, target):
        """Write the message of the batch that was planned; ``target`` is a writable buffer.

        Raises
        ------
        ValueError
            No batch is planned, or the target is smaller than its message.
        """
        cdef Py_buffer view
        cdef uint8_t* start
        cdef int64_t index
        if self.capsules is None:
            raise ValueError("write without a plan")
        PyObject_GetBuffer(target, &view, PyBUF_WRITABLE)
        try:
            if view.len < 8 + self.metadata + self.body:
                raise ValueError(
                    f"a message of {8 + self.metadata + self.body} bytes, room for {view.len}"
                )
            # with the GIL: even a megabyte takes less than getting it back may
            start = <uint8_t*>view.buf
            self.write_metadata(start)
            start += 8 + self.metadata
            for index in range(self.piece_count):
                write_piece(start + self.pieces[index].place, &self.pieces[index])
        finally:
            PyBuffer_Release(&view)
        self.capsules = None

    cdef void write_metadata(self, uint8_t* start) noexcept nogil:
        cdef uint8_t* flat = start + 8
        cdef int64_t buffers = NODES + 4 + 16 * self.node_count + 4, index
        cdef int64_t* entry
        memset(start, 0, NODES + 8)
        (<uint32_t*>start)[0] = 0xFFFFFFFF
        (<int32_t*>start)[1] = <int32_t>self.metadata
        (<uint32_t*>flat)[0] = MESSAGE
        # vtables: own size, table size, then where each field is in the table
        put_vtable(flat + MESSAGE_VTABLE, 12, 24, 16, 18, 4, 8)
        put_vtable(flat + BATCH_VTABLE, 10, 20, 8, 4, 16, 0)
        # Message: vtable, header, body length, version, header type
        (<int32_t*>(flat + MESSAGE))[0] = MESSAGE - MESSAGE_VTABLE
        (<uint32_t*>(flat + MESSAGE + 4))[0] = BATCH - (MESSAGE + 4)
        (<int64_t*>(flat + MESSAGE + 8))[0] = self.body
        (<int16_t*>(flat + MESSAGE + 16))[0] = VERSION_5
        flat[MESSAGE + 18] = RECORD_BATCH
        # RecordBatch: vtable, nodes, length, buffers
        (<int32_t*>(flat + BATCH))[0] = BATCH - BATCH_VTABLE
        (<uint32_t*>(flat + BATCH + 4))[0] = NODES - (BATCH + 4)
        (<int64_t*>(flat + BATCH + 8))[0] = self.rows
        (<uint32_t*>(flat + BATCH + 16))[0] = <uint32_t>(buffers - (BATCH + 16))
        (<uint32_t*>(flat + NODES))[0] = <uint32_t>self.node_count
        memcpy(flat + NODES + 4, self.counts, 16 * self.node_count)
        (<uint32_t*>(flat + buffers - 4))[0] = 0
        (<uint32_t*>(flat + buffers))[0] = <uint32_t>self.piece_count
        entry = <int64_t*>(flat + buffers + 4)
        for index in range(self.piece_count):
            entry[2 * index] = self.pieces[index].place
            entry[2 * index + 1] = self.pieces[index].size


cdef void put_vtable(uint8_t* at, int size, int table, int a, int b, int c, int d) noexcept nogil:
    cdef uint16_t* words = <uint16_t*>at
    words[0], words[1] = <uint16_t>size, <uint16_t>table
    words[2], words[3], words[4] = <uint16_t>a, <uint16_t>b, <uint16_t>c
    if size > 10:
        words[5] = <uint16_t>d


cdef object describe(ArrowSchema* field, list described):
    """Append layout, width and children of a field, and of its children after it."""
    cdef str form = field.format.decode("ascii")
    if field.dictionary != NULL:
        raise TypeError(f"column {field.name.decode()!r} is dictionary-encoded")
    described.append((*layout_of(form, field.name.decode()), field.n_children))
    for index in range(field.n_children):
        describe(field.children[index], described)


cdef tuple layout_of(str form, str name):
    if form in WIDTHS:
        return Layout.FIXED, WIDTHS[form]
    if form.startswith("ts"):
        return Layout.FIXED, 8
    if form.startswith("d:"):
        parts = form[2:].split(",")
        return Layout.FIXED, int(parts[2]) // 8 if len(parts) > 2 else 16
    if form.startswith("w:"):
        return Layout.FIXED, int(form[2:])
    if form.startswith("+w:"):
        return Layout.FIXED_SEQUENCE, int(form[3:])
    found = {
        "n": (Layout.NOTHING, 0), "b": (Layout.BITS, 0), "u": (Layout.TEXT, 4),
        "z": (Layout.TEXT, 4), "U": (Layout.TEXT, 8), "Z": (Layout.TEXT, 8),
        "+l": (Layout.SEQUENCE, 4), "+m": (Layout.SEQUENCE, 4), "+L": (Layout.SEQUENCE, 8),
        "+s": (Layout.RECORD, 0),
    }.get(form)
    if found is None:
        raise TypeError(f"column {name!r} has a layout ({form}) that only pyarrow can write")
    return found
