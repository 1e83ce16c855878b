# cython: language_level=3
"""Rows by number: from a mask to row numbers, and from row numbers to a batch.

Row numbers are int64 everywhere. ``gather`` makes the whole batch in one go: one export, one
allocation a column, one import, about 2 us for two columns whatever the rows.
"""

from libc.stdint cimport (
    INT32_MAX,
    INT64_MAX,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
    uintptr_t,
)
from libc.string cimport memcpy, memset

from ambergate_native.columns cimport ArrowArray, Kind
from ambergate_native.gate cimport BLOCK_ROWS, Gate
from ambergate_native.views cimport (
    View,
    Views,
    is_text,
    is_valid,
    new_batch,
    new_buffers,
    new_text,
    views_of,
)

from ambergate_native.gate import DONE, STOPPED

cdef extern from *:
    """
    #include <stdint.h>
    typedef struct { uint64_t low, high; } ambergate_pair;
    /* Bits at..at+count of a bitmap, count <= 56; reads no byte beyond the last of them. */
    static inline uint64_t ambergate_bits(const uint8_t *bits, int64_t at, int count) {
        int shift = (int)(at & 7);
        uint64_t word = 0;
        const uint8_t *from = bits + (at >> 3);
        int size = (shift + count + 7) >> 3;
        for (int byte = 0; byte < size; byte++) word |= (uint64_t)from[byte] << (8 * byte);
        return (word >> shift) & (((uint64_t)1 << count) - 1);
    }
    static inline int ambergate_lowest(uint64_t word) { return __builtin_ctzll(word); }
    """
    ctypedef struct pair "ambergate_pair":
        uint64_t low
        uint64_t high
    uint64_t bits_at "ambergate_bits"(const uint8_t* bits, int64_t at, int count) noexcept nogil
    int lowest "ambergate_lowest"(uint64_t word) noexcept nogil

ctypedef fused word:
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    pair

ctypedef fused offset_type:
    int32_t
    int64_t


# --- from a mask to row numbers -------------------------------------------------------------


cdef int64_t compact_block(const View* mask, int64_t start, int64_t stop,
                           int64_t* indices) noexcept nogil:
    """Append to ``indices`` the rows ``start:stop`` where ``mask`` is true; returns how many."""
    cdef int64_t row = start, count = 0
    cdef int rows
    cdef uint64_t word
    while row < stop:
        rows = <int>min(56, stop - row)
        word = bits_at(<const uint8_t*>mask.values, mask.offset + row, rows)
        if mask.validity != NULL:
            word &= bits_at(mask.validity, mask.offset + row, rows)
        while word:
            indices[count] = row + lowest(word)
            count += 1
            word &= word - 1
        row += rows
    return count


def compact(mask, int64_t start, int64_t stop, Gate gate, int64_t[::1] indices):
    """Write to ``indices`` the rows ``start:stop`` of which ``mask`` is true; null is not true.

    Parameters
    ----------
    mask : boolean pa.Array
    start, stop : rows to look at
    gate : the task's gate, or None
    indices : int64, shape (>= stop - start,), filled from 0

    Returns
    -------
    status, cursor, count

    Raises
    ------
    TypeError
        The mask is not boolean.
    ValueError
        Rows outside the mask, or ``indices`` too short.
    """
    cdef Views views = Views([mask])
    cdef int64_t row = start, count = 0, end
    if views.views[0].kind != Kind.BOOL:
        raise TypeError(f"a mask must be a boolean array, got {mask.type}")
    if not 0 <= start <= stop <= views.rows:
        raise ValueError(f"rows {start}:{stop} are outside 0:{views.rows}")
    if indices.shape[0] < stop - start:
        raise ValueError(f"indices holds {indices.shape[0]} of {stop - start} rows")
    with nogil:
        while row < stop:
            end = min(row + BLOCK_ROWS, stop)
            if gate is not None:
                end = gate.bound(row, end)
                if end == row:
                    break
            count += compact_block(&views.views[0], row, end, &indices[count])
            row = end
    return (DONE if row == stop else STOPPED), row, count


# --- from row numbers to a batch ------------------------------------------------------------


cdef void gather_words(const word* values, const int64_t* indices, int64_t count,
                       word* out) noexcept nogil:
    cdef int64_t at
    for at in range(count):
        out[at] = values[indices[at]]


cdef void gather_words_or_zero(const word* values, const int64_t* indices, int64_t count,
                               word* out) noexcept nogil:
    """As ``gather_words``; a negative row number leaves zero."""
    cdef int64_t at
    memset(out, 0, count * sizeof(word))
    for at in range(count):
        if indices[at] >= 0:
            out[at] = values[indices[at]]


cdef void gather_fixed(const View* view, const int64_t* indices, int64_t count, bint missing,
                       char* out) noexcept nogil:
    cdef const char* values = <const char*>view.values + view.offset * view.width
    cdef int64_t at, width = view.width
    if width == 8 and not missing:
        gather_words[uint64_t](<const uint64_t*>values, indices, count, <uint64_t*>out)
    elif width == 4 and not missing:
        gather_words[uint32_t](<const uint32_t*>values, indices, count, <uint32_t*>out)
    elif width == 2 and not missing:
        gather_words[uint16_t](<const uint16_t*>values, indices, count, <uint16_t*>out)
    elif width == 1 and not missing:
        gather_words[uint8_t](<const uint8_t*>values, indices, count, <uint8_t*>out)
    elif width == 16 and not missing:
        gather_words[pair](<const pair*>values, indices, count, <pair*>out)
    elif width == 8:
        gather_words_or_zero[uint64_t](<const uint64_t*>values, indices, count, <uint64_t*>out)
    else:
        memset(out, 0, count * width)
        for at in range(count):
            if indices[at] >= 0:
                memcpy(out + at * width, values + indices[at] * width, width)


cdef void gather_bits(const uint8_t* bits, int64_t offset, const int64_t* indices, int64_t count,
                      uint8_t* out) noexcept nogil:
    """A bit for each row number; negative ones leave 0, and so does the rest of the last byte."""
    cdef int64_t at, source, byte, last
    cdef uint8_t gathered
    for byte in range((count + 7) >> 3):
        gathered = 0
        last = min(8, count - 8 * byte)
        for at in range(last):
            source = indices[8 * byte + at]
            if source >= 0:
                source += offset
                gathered |= ((bits[source >> 3] >> (source & 7)) & 1) << at
        out[byte] = gathered


cdef int64_t gather_validity(const View* view, const int64_t* indices, int64_t count,
                             uint8_t* out) noexcept nogil:
    """Write the validity bits; returns how many rows are null."""
    cdef int64_t at, byte, valid = 0
    if view.validity != NULL:
        gather_bits(view.validity, view.offset, indices, count, out)
    else:
        memset(out, 0, (count + 7) >> 3)
        for at in range(count):
            out[at >> 3] |= (indices[at] >= 0) << (at & 7)
    for byte in range((count + 7) >> 3):
        at = out[byte]
        while at:
            valid += 1
            at &= at - 1
    return count - valid


cdef int64_t text_offsets(const View* view, const offset_type* source, const int64_t* indices,
                          int64_t count, offset_type* offsets) noexcept nogil:
    """Write the offsets of the gathered text and return its bytes; they may have overflowed.

    ``source``: the view's offsets from its row 0 on.
    """
    cdef int64_t at, row, total = 0
    if view.validity == NULL:
        for at in range(count):
            offsets[at] = <offset_type>total
            row = indices[at]
            if row >= 0:
                total += source[row + 1] - source[row]
    else:
        for at in range(count):
            offsets[at] = <offset_type>total
            row = indices[at]
            if row >= 0 and is_valid(view, row):
                total += source[row + 1] - source[row]
    offsets[count] = <offset_type>total
    return total


cdef void gather_text(const View* view, const offset_type* source, const int64_t* indices,
                      int64_t count, const offset_type* offsets, uint8_t* out) noexcept nogil:
    """Copy the text; ``out`` has 16 bytes to spare."""
    cdef int64_t at, size
    cdef const uint8_t* start
    cdef const uint8_t* safe = view.bytes + source[view.length] - 16
    for at in range(count):
        size = offsets[at + 1] - offsets[at]
        if size:
            start = view.bytes + source[indices[at]]
            if size <= 16 and start <= safe:  # a copy of known size needs no call
                memcpy(out + offsets[at], start, 16)
            else:
                memcpy(out + offsets[at], start, size)


cdef int gather_texts(const View* view, const offset_type* source, const int64_t* indices,
                      int64_t count, ArrowArray* child) except -1 nogil:
    cdef offset_type* offsets = <offset_type*>child.buffers[1]
    cdef int64_t size = text_offsets(view, source, indices, count, offsets)
    if size > (INT32_MAX if sizeof(offset_type) == 4 else INT64_MAX):
        with gil:
            raise OverflowError(
                f"{size} bytes of text in one batch are more than its type holds; "
                "cast the column to large_string or large_binary"
            )
    new_text(child, size)
    if size:
        gather_text(view, source, indices, count, offsets, <uint8_t*>child.buffers[2])
    return 0


cdef int gather_view(const View* view, const int64_t* indices, int64_t count, bint missing,
                     ArrowArray* child) except -1 nogil:
    """Make ``child`` the rows ``indices`` of ``view``, which is of a known kind.

    ``missing``: some row numbers are negative and give null. Nothing else is checked.
    """
    cdef bint nullable = view.validity != NULL or missing
    cdef int64_t[3] sizes
    sizes[0] = sizes[1] = sizes[2] = -1
    if view.kind == Kind.NULLS:
        new_buffers(child, count, 0, sizes)
        child.null_count = count
        return 0
    if nullable:
        sizes[0] = (count + 7) >> 3
    if is_text(view.kind):
        sizes[1] = (count + 1) * view.width
        new_buffers(child, count, 3, sizes)
        if view.width == 4:
            gather_texts(view, <const int32_t*>view.values + view.offset, indices, count, child)
        else:
            gather_texts(view, <const int64_t*>view.values + view.offset, indices, count, child)
    elif view.kind == Kind.BOOL:
        sizes[1] = (count + 7) >> 3
        new_buffers(child, count, 2, sizes)
        gather_bits(<const uint8_t*>view.values, view.offset, indices, count,
                    <uint8_t*>child.buffers[1])
    else:
        sizes[1] = count * view.width
        new_buffers(child, count, 2, sizes)
        gather_fixed(view, indices, count, missing, <char*>child.buffers[1])
    if nullable:
        child.null_count = gather_validity(view, indices, count, <uint8_t*>child.buffers[0])
    return 0


cdef object imported(ArrowArray* root, object importer, object schema):
    """Hand ``root`` over to ``importer(address, schema)``; it is released when that fails."""
    try:
        return importer(<uintptr_t>root, schema)
    except BaseException:
        if root.release != NULL:
            root.release(root)
        raise


cdef (int64_t, int64_t) extremes(const int64_t* indices, int64_t count) noexcept nogil:
    cdef int64_t at, least = 0, greatest = -1
    if count:
        least = greatest = indices[0]
    for at in range(count):
        least = indices[at] if indices[at] < least else least
        greatest = indices[at] if indices[at] > greatest else greatest
    return least, greatest


def gather(source, const int64_t[::1] indices, bint missing, importer, schema):
    """The rows ``indices`` of a batch, in that order.

    Parameters
    ----------
    source : Views, or pa.RecordBatch; of kinds that kernels know (``views.native``)
    indices : int64, shape (count,); a row may come several times
    missing : bool
        Negative row numbers give a row of nulls; without it they are an error.
    importer : callable(address, schema)
        ``pa.RecordBatch._import_from_c``
    schema : pa.Schema of the source

    Raises
    ------
    IndexError
        A row number outside the batch.
    TypeError
        A column of a kind that kernels do not know.
    OverflowError
        The text of one column is too long for its type.
    """
    cdef Views views = views_of(source)
    cdef int64_t index, least, greatest, count = indices.shape[0]
    cdef const int64_t* rows = &indices[0] if count else NULL
    cdef ArrowArray root
    if not views.native:
        raise TypeError(f"a column of {schema} is of a type that gather does not know")
    least, greatest = extremes(rows, count)
    if greatest >= views.rows or (least < 0 and not missing):
        raise IndexError(f"row {greatest if greatest >= views.rows else least} of a batch of "
                         f"{views.rows} rows")
    missing = least < 0
    new_batch(&root, count, views.count)
    try:
        with nogil:
            for index in range(views.count):
                gather_view(&views.views[index], rows, count, missing, root.children[index])
    except BaseException:
        root.release(&root)
        raise
    return imported(&root, importer, schema)
