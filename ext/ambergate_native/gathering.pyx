# cython: language_level=3
"""Rows picked from many chunks of one column into one array.

A *place* names a row as ``chunk << 32 | row of the chunk``; a negative place is no row and gives a
null. Loops have no branch on the data but that one, so the processor overlaps the cache misses.
"""

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

cimport cython

from ambergate_native.columns cimport Column, Kind

cdef struct Word16:
    uint64_t low
    uint64_t high


cdef struct Piece:
    # one chunk; values begin at its first row where rows have whole bytes
    const char* values
    const uint8_t* validity
    const uint8_t* bytes
    int64_t offset


@cython.final
cdef class Chunks:
    """The arrays of one column, one a chunk, kept alive.

    Attributes
    ----------
    width : int
        Bytes of a value; 0 for booleans; bytes of an offset for strings and binaries.
    has_text : bool
        Strings or binaries: values are offsets.
    has_nulls : bool
        Whether any chunk has a null.
    """

    cdef list columns
    cdef Piece* pieces
    cdef int64_t count, room
    cdef Kind kind
    cdef readonly int width
    cdef readonly bint has_text
    cdef readonly bint has_nulls

    def __cinit__(self):
        self.columns = []

    def __dealloc__(self):
        free(self.pieces)

    def __len__(self):
        return self.count

    def append(self, array):
        """Add a chunk; all chunks have one type.

        Raises
        ------
        TypeError
            Values of this type cannot be gathered here, or the type is not that of the others.
        """
        cdef Column column = Column(array)
        cdef Piece* pieces
        cdef Piece piece
        if column.kind in (Kind.OTHER, Kind.NULLS, Kind.LIST, Kind.LARGE_LIST):
            raise TypeError(f"values of type {getattr(array, 'type', array)} cannot be gathered")
        if self.count and (column.kind != self.kind or column.width != self.width):
            raise TypeError(f"a chunk of type {getattr(array, 'type', array)} among others")
        if self.count == self.room:
            self.room = max(2 * self.room, 16)
            pieces = <Piece*>realloc(self.pieces, self.room * sizeof(Piece))
            if pieces == NULL:
                raise MemoryError(f"no room for {self.room} chunks")
            self.pieces = pieces
        self.kind, self.width = column.kind, column.width
        self.has_text = column.kind in (Kind.STRING, Kind.LARGE_STRING, Kind.BINARY,
                                        Kind.LARGE_BINARY)
        self.has_nulls = self.has_nulls or column.validity != NULL
        piece.values = <const char*>column.values
        if piece.values != NULL:
            piece.values += column.offset * column.width
        piece.validity, piece.bytes, piece.offset = column.validity, column.bytes, column.offset
        self.pieces[self.count] = piece
        self.count += 1
        self.columns.append(column)

    cdef inline bint is_valid(self, int64_t place) noexcept nogil:
        cdef Piece* piece
        cdef int64_t bit
        if place < 0:
            return False
        piece = &self.pieces[place >> 32]
        bit = piece.offset + <uint32_t>place
        return piece.validity == NULL or (piece.validity[bit >> 3] >> (bit & 7)) & 1


cdef int check(Chunks chunks, const int64_t[::1] places, int64_t start, int64_t stop) except -1:
    if not 0 <= start <= stop <= places.shape[0]:
        raise ValueError(f"places {start}:{stop} are outside 0:{places.shape[0]}")
    return 0


cdef unsigned char* room_of(buffer, int64_t least, str name) except? NULL:
    """The first byte of a writable buffer of at least ``least`` bytes, whatever its items are."""
    cdef Py_buffer view
    PyObject_GetBuffer(buffer, &view, PyBUF_WRITABLE)
    cdef unsigned char* first = <unsigned char*>view.buf
    cdef int64_t size = view.len
    PyBuffer_Release(&view)  # the caller keeps the buffer for as long as the call lasts
    if size < least:
        raise ValueError(f"{name} of {size} bytes is too short, {least} are needed")
    return first


def gather_validity(Chunks chunks, const int64_t[::1] places, int64_t start, int64_t stop,
                    validity):
    """Write the validity bits of ``places[start:stop]``; returns the number of nulls.

    Parameters
    ----------
    places : int64, shape (>= stop,)
        They must be places of ``chunks``, or negative; this is not checked.
    validity : writable buffer of (stop - start + 7) // 8 bytes or more
        Written in whole bytes, from bit 0.
    """
    cdef int64_t rows = stop - start, row, nulls = 0
    cdef bint valid
    cdef unsigned char bits = 0
    check(chunks, places, start, stop)
    cdef unsigned char* out = room_of(validity, (rows + 7) // 8, "validity")
    with nogil:
        for row in range(rows):
            valid = chunks.is_valid(places[start + row])
            nulls += not valid
            bits |= valid << (row & 7)
            if row & 7 == 7:
                out[row >> 3] = bits
                bits = 0
        if rows & 7:
            out[rows >> 3] = bits
    return nulls


ctypedef fused Value:
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    Word16


cdef void gather_width(Piece* pieces, const int64_t* places, int64_t rows,
                       Value* out) noexcept nogil:
    cdef int64_t row, place
    for row in range(rows):
        place = places[row]
        if place >= 0:
            out[row] = (<const Value*>pieces[place >> 32].values)[<uint32_t>place]
        else:
            memset(&out[row], 0, sizeof(Value))


cdef void gather_bits(Piece* pieces, const int64_t* places, int64_t rows,
                      unsigned char* out) noexcept nogil:
    cdef int64_t row, place, bit
    memset(out, 0, (rows + 7) // 8)
    for row in range(rows):
        place = places[row]
        if place >= 0:
            bit = pieces[place >> 32].offset + <uint32_t>place
            out[row >> 3] |= ((pieces[place >> 32].values[bit >> 3] >> (bit & 7)) & 1) << (row & 7)


cdef void gather_any(Piece* pieces, const int64_t* places, int64_t rows, int64_t width,
                     unsigned char* out) noexcept nogil:
    cdef int64_t row, place
    for row in range(rows):
        place = places[row]
        if place >= 0:
            memcpy(out + row * width, pieces[place >> 32].values + <uint32_t>place * width, width)
        else:
            memset(out + row * width, 0, width)


def gather_values(Chunks chunks, const int64_t[::1] places, int64_t start, int64_t stop,
                  values):
    """Write the values of ``places[start:stop]`` of a column of fixed width.

    Parameters
    ----------
    places : int64, shape (>= stop,)
        They must be places of ``chunks``, or negative; this is not checked.
    values : writable buffer of rows * width bytes or more; bits for booleans
        Zero where the place is negative, anything where the value is null.

    Raises
    ------
    ValueError
        The places are outside, or ``values`` is too short.
    TypeError
        The column has text.
    """
    cdef int64_t rows = stop - start
    cdef int width = chunks.width
    check(chunks, places, start, stop)
    if chunks.has_text:
        raise TypeError("text is gathered by gather_offsets and gather_bytes")
    cdef unsigned char* out = room_of(values, rows * width if width else (rows + 7) // 8, "values")
    if rows == 0 or (width == 0 and chunks.kind != Kind.BOOL):
        return
    cdef const int64_t* first = &places[start]
    with nogil:
        if width == 8:
            gather_width(chunks.pieces, first, rows, <uint64_t*>out)
        elif width == 4:
            gather_width(chunks.pieces, first, rows, <uint32_t*>out)
        elif width == 16:
            gather_width(chunks.pieces, first, rows, <Word16*>out)
        elif width == 2:
            gather_width(chunks.pieces, first, rows, <uint16_t*>out)
        elif width == 1:
            gather_width(chunks.pieces, first, rows, <uint8_t*>out)
        elif width == 0:
            gather_bits(chunks.pieces, first, rows, out)
        else:
            gather_any(chunks.pieces, first, rows, width, out)


cdef inline int64_t text_at(Chunks chunks, int64_t place, const uint8_t** text) noexcept nogil:
    """Size of the text at a place that is not negative."""
    cdef Piece* piece = &chunks.pieces[place >> 32]
    cdef int64_t row = <uint32_t>place, first, end
    if chunks.width == 4:
        first, end = (<const int32_t*>piece.values)[row], (<const int32_t*>piece.values)[row + 1]
    else:
        first, end = (<const int64_t*>piece.values)[row], (<const int64_t*>piece.values)[row + 1]
    text[0] = piece.bytes + first
    return end - first


def gather_offsets(Chunks chunks, const int64_t[::1] places, int64_t start, int64_t stop,
                   offsets):
    """Write the offsets of the texts at ``places[start:stop]``.

    Parameters
    ----------
    places : int64, shape (>= stop,)
        They must be places of ``chunks``, or negative; this is not checked.
    offsets : writable buffer of (stop - start + 1) * width bytes or more

    Returns
    -------
    size : int
        Bytes of all texts; -1 where offsets of 4 bytes cannot say it.
    """
    cdef int64_t rows = stop - start, row, total = 0
    cdef const uint8_t* text
    check(chunks, places, start, stop)
    if not chunks.has_text:
        raise TypeError("values of fixed width are gathered by gather_values")
    cdef unsigned char* out = room_of(offsets, (rows + 1) * chunks.width, "offsets")
    cdef int32_t* narrow = <int32_t*>out
    cdef int64_t* wide = <int64_t*>out
    with nogil:
        for row in range(rows + 1):
            if chunks.width == 4:
                if total > 0x7FFFFFFF:
                    break
                narrow[row] = <int32_t>total
            else:
                wide[row] = total
            if row < rows and places[start + row] >= 0:
                total += text_at(chunks, places[start + row], &text)
    return total if chunks.width == 8 or total <= 0x7FFFFFFF else -1


def gather_bytes(Chunks chunks, const int64_t[::1] places, int64_t start, int64_t stop,
                 texts):
    """Write the texts at ``places[start:stop]`` one after the other.

    ``texts`` is a writable buffer of the size that ``gather_offsets`` told.
    """
    cdef int64_t row, size, at = 0, room = len(texts)
    cdef const uint8_t* text
    check(chunks, places, start, stop)
    if not chunks.has_text:
        raise TypeError("values of fixed width are gathered by gather_values")
    cdef unsigned char* out = room_of(texts, 0, "texts")
    with nogil:
        for row in range(start, stop):
            if places[row] < 0:
                continue
            size = text_at(chunks, places[row], &text)
            if at + size > room:
                break
            memcpy(out + at, text, size)
            at += size
