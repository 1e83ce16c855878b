# cython: language_level=3
"""Sorted runs.

A run is at most a few thousand rows: their keys (see ``ordering``) are put in order by a radix sort
of the prefixes, then groups of equal prefixes by their tails. Both steps are stable. Many runs
become one by a merge (see ``merging``).
"""

from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from ambergate_native.ordering cimport Keys, compare_ties, encode


cdef struct Entry:
    uint64_t prefix
    uint32_t row


cdef void radix_sort(Entry* entries, Entry* spare, int64_t rows) noexcept nogil:
    """Sort by prefix, stably, least byte first; bytes that are all alike are skipped."""
    cdef uint32_t counts[8][256]
    cdef Entry* source = entries
    cdef Entry* target = spare
    cdef Entry* other
    cdef int64_t row
    cdef int byte, value
    cdef uint32_t place, count
    cdef uint64_t prefix
    for row in range(1, rows):
        if entries[row].prefix < entries[row - 1].prefix:
            break
    else:
        return
    memset(counts, 0, sizeof(counts))
    for row in range(rows):
        prefix = entries[row].prefix
        for byte in range(8):
            counts[byte][(prefix >> (8 * byte)) & 255] += 1
    for byte in range(8):
        if counts[byte][(entries[0].prefix >> (8 * byte)) & 255] == <uint32_t>rows:
            continue
        place = 0
        for value in range(256):
            count = counts[byte][value]
            counts[byte][value] = place
            place += count
        for row in range(rows):
            value = (source[row].prefix >> (8 * byte)) & 255
            target[counts[byte][value]] = source[row]
            counts[byte][value] += 1
        other = source
        source = target
        target = other
    if source != entries:
        memcpy(entries, source, rows * sizeof(Entry))


cdef bint ordered(Keys keys, const Entry* entries, int64_t rows) noexcept nogil:
    cdef int64_t row
    for row in range(1, rows):
        if compare_ties(keys, entries[row - 1].row, keys, entries[row].row) > 0:
            return False
    return True


cdef void merge_sort_ties(Keys keys, Entry* entries, Entry* spare, int64_t rows) noexcept nogil:
    """Sort entries of equal prefix by mark and tail, stably."""
    cdef int64_t half = rows // 2, left = 0, right = half, row
    if rows < 2 or ordered(keys, entries, rows):
        return
    merge_sort_ties(keys, entries, spare, half)
    merge_sort_ties(keys, entries + half, spare, rows - half)
    for row in range(rows):
        if left < half and (right == rows or compare_ties(
                keys, entries[left].row, keys, entries[right].row) <= 0):
            spare[row] = entries[left]
            left += 1
        else:
            spare[row] = entries[right]
            right += 1
    memcpy(entries, spare, rows * sizeof(Entry))


cdef void sort_entries(Keys keys, Entry* entries, Entry* spare) noexcept nogil:
    cdef int64_t rows = keys.length, row, first = 0
    for row in range(rows):
        entries[row].prefix = keys.prefixes[row]
        entries[row].row = <uint32_t>row
    radix_sort(entries, spare, rows)
    if keys.marks == NULL and keys.tails == NULL:
        return
    for row in range(1, rows + 1):
        if row == rows or entries[row].prefix != entries[first].prefix:
            if row - first > 1:
                merge_sort_ties(keys, entries + first, spare, row - first)
            first = row


cdef Keys take_keys(Keys keys, const Entry* entries, int64_t rows):
    """The keys of the first ``rows`` entries, in their order."""
    cdef Keys taken = Keys()
    cdef int64_t row, size, total = -1
    cdef const uint8_t* tail
    if keys.tails != NULL:
        total = 0
        for row in range(rows):
            keys.tail(entries[row].row, &size)
            total += size
    taken.blank(rows, keys.marks != NULL, total, keys.ends == NULL)
    taken.stride = keys.stride
    with nogil:
        total = 0
        for row in range(rows):
            taken.prefixes[row] = entries[row].prefix
        if keys.marks != NULL:
            for row in range(rows):
                taken.marks[row] = keys.marks[entries[row].row]
        if keys.tails != NULL:
            for row in range(rows):
                tail = keys.tail(entries[row].row, &size)
                memcpy(taken.tails + total, tail, size)
                total += size
                if keys.ends != NULL:
                    taken.ends[row] = total
    return taken


def sort_run(list columns, list descending, list nulls_last, int64_t start, int64_t stop,
             int64_t most=INT64_MAX):
    """Put rows ``start:stop`` in order: one short call, not to be stopped inside.

    Parameters
    ----------
    columns : list of pyarrow.Array
        The key columns, the most significant first.
    descending, nulls_last : list of bool
        One for each column. NaN is the greatest number; -0.0 equals 0.0.
    start, stop : int
        The rows, less than 2**31 of them.
    most : int
        Keep only so many of the first rows of the order.

    Returns
    -------
    keys, indices : Keys, bytearray of int64
        The sorted keys, and the row of ``columns`` of each; equal rows in the order they come.

    Raises
    ------
    ValueError
        The rows are outside a column, or the lists differ in length.
    TypeError
        A column's type has no order.
    """
    cdef Keys keys
    cdef int64_t rows = stop - start, kept, row
    cdef Entry* entries
    if rows >= 1 << 31:
        raise ValueError(f"a run of {rows} rows is longer than 2**31 - 1")
    keys = encode(columns, descending, nulls_last, start, stop)
    kept = max(min(rows, most), 0)
    indices = bytearray(8 * kept)
    entries = <Entry*>malloc(max(2 * rows, 1) * sizeof(Entry))
    if entries == NULL:
        raise MemoryError(f"no room to sort {rows} rows")
    cdef unsigned char[::1] view
    cdef int64_t* out
    try:
        with nogil:
            sort_entries(keys, entries, entries + rows)
        if kept:
            view = indices
            out = <int64_t*>&view[0]
            for row in range(kept):
                out[row] = start + entries[row].row
        return take_keys(keys, entries, kept), indices
    finally:
        free(entries)


def rows_before(list columns, list descending, list nulls_last, Keys keys, int64_t worst,
                int64_t start, int64_t stop):
    """The rows of ``start:stop`` that sort before row ``worst`` of ``keys``.

    A row equal to it is left out: it came later.

    Returns
    -------
    indices : bytearray of int64, shape (rows found,)
    """
    if not 0 <= worst < keys.length:
        raise ValueError(f"row {worst} is outside 0:{keys.length}")
    cdef Keys found = encode(columns, descending, nulls_last, start, stop)
    cdef int64_t row, count = 0
    cdef uint64_t limit = keys.prefixes[worst], prefix
    cdef int64_t* out = <int64_t*>malloc(8 * max(found.length, 1))
    if out == NULL:
        raise MemoryError(f"no room for {found.length} rows")
    try:
        with nogil:
            for row in range(found.length):
                prefix = found.prefixes[row]
                if prefix < limit or (prefix == limit
                                      and compare_ties(found, row, keys, worst) < 0):
                    out[count] = start + row
                    count += 1
        return bytearray((<char*>out)[:8 * count])
    finally:
        free(out)
