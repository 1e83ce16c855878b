# cython: language_level=3
"""Strings cut at a separator, into the buffers of a list of strings.

    text      a·bc·       list offsets   0     3
    bytes     a b c       child offsets  0  1  3  3

The bytes between separators are copied eight at a time, so buffers have eight bytes to spare.
"""

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t
from libc.string cimport memset

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer

from ambergate_native.columns cimport Column, Kind
from ambergate_native.gate cimport Gate

from ambergate_native.gate import DONE, STOPPED

cdef extern from "splitting.h" nogil:
    int64_t count_byte(const uint8_t*, int64_t, uint8_t) noexcept
    int64_t split_text_32(
        const uint8_t*, const uint8_t*, const uint8_t*, const uint8_t*, int64_t, uint8_t*, int64_t*,
        int32_t*
    ) noexcept
    int64_t split_text_64(
        const uint8_t*, const uint8_t*, const uint8_t*, const uint8_t*, int64_t, uint8_t*, int64_t*,
        int64_t*
    ) noexcept


cdef void* first_byte(buffer) except NULL:
    """Of a writable buffer that is not empty; the caller keeps it."""
    cdef Py_buffer view
    PyObject_GetBuffer(buffer, &view, PyBUF_WRITABLE)
    cdef void* first = view.buf
    PyBuffer_Release(&view)
    return first


def split(Column column not None, bytes separator not None, int64_t start, int64_t stop,
          Gate gate not None, allocate):
    """Cut rows ``start`` to the returned cursor of a string column at ``separator``.

    Parameters
    ----------
    column : Column of strings or large strings
    separator : bytes, one or more
    start, stop : the cursor of a stopped call, or 0; the row to stop before
    gate : looked at before each row
    allocate : function of a size in bytes; gives a new writable buffer

    Returns
    -------
    status, cursor, validity, nulls, offsets, child_offsets, child_bytes, parts
        Buffers of a list array of ``cursor - start`` rows (int32 offsets) and of its child of
        ``parts`` strings, whose offsets are as wide as the column's. Validity is None without
        nulls.

    Raises
    ------
    TypeError
        The column has no strings.
    ValueError
        The separator is empty, or the rows are outside the column.
    OverflowError
        There may be more than 2**31 parts: ask for fewer rows.
    """
    if column.kind != Kind.STRING and column.kind != Kind.LARGE_STRING:
        raise TypeError(f"a column of kind {column.kind} cannot be split")
    if not separator:
        raise ValueError("a separator has at least one byte")
    if not 0 <= start <= stop <= column.length:
        raise ValueError(f"rows {start}:{stop} are outside 0:{column.length}")

    cdef const uint8_t* cut = separator
    cdef int64_t cut_size = len(separator)
    cdef bint wide = column.width == 8
    cdef int64_t size = 0, row = start, at, parts = 0, filled = 0, nulls = 0, most
    cdef const uint8_t* first = column.string(start, &size) if stop > start else column.bytes
    cdef const uint8_t* last = first
    if stop > start:
        last = column.string(stop - 1, &size) + size
    most = count_byte(first, last - first, cut[0]) + stop - start
    if most > INT32_MAX:
        raise OverflowError(f"rows {start}:{stop} have {most} parts, more than a list column holds")

    offsets_buffer = allocate(4 * (stop - start + 1))
    child_offsets = allocate(column.width * (most + 1))
    child_bytes = allocate(last - first + 8)
    validity = None
    cdef int32_t* offsets = <int32_t*>first_byte(offsets_buffer)
    cdef int32_t* ends_32 = <int32_t*>first_byte(child_offsets)
    cdef int64_t* ends_64 = <int64_t*>ends_32
    cdef uint8_t* out = <uint8_t*>first_byte(child_bytes)
    cdef uint8_t* valid_bits = NULL
    if column.validity != NULL and stop > start:
        validity = allocate((stop - start + 7) // 8)
        valid_bits = <uint8_t*>first_byte(validity)
        memset(valid_bits, 0, (stop - start + 7) // 8)
    cdef int status = DONE, stopped = STOPPED
    cdef const uint8_t* text
    offsets[0] = 0
    if wide:
        ends_64[0] = 0
    else:
        ends_32[0] = 0
    with nogil:
        while row < stop:
            if gate.bound(row, row + 1) == row:
                status = stopped
                break
            at = row - start
            if column.is_valid(row):
                text = column.string(row, &size)
                if wide:
                    parts += split_text_64(
                        text, text + size, last, cut, cut_size, out, &filled, ends_64 + parts + 1
                    )
                else:
                    parts += split_text_32(
                        text, text + size, last, cut, cut_size, out, &filled, ends_32 + parts + 1
                    )
                if valid_bits != NULL:
                    valid_bits[at >> 3] |= <uint8_t>(1 << (at & 7))
            else:
                nulls += 1
            offsets[at + 1] = <int32_t>parts
            row += 1
    return (status, row, validity if nulls else None, nulls, offsets_buffer, child_offsets,
            child_bytes, parts)
