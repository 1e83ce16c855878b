# cython: language_level=3
"""Order-preserving keys: rows compare as bytes do.

A whole key is, for each key column in turn, a mark and the value:

    mark        1 null that sorts first, 2 value, 3 null that sorts last
    integers    8 bytes, big-endian, sign bit flipped (dates, times, timestamps, durations too)
    floats      8 bytes, as float64: all bits flipped if negative, else the sign bit;
                -0.0 as 0.0, every NaN as one value above infinity
    bool        1 byte
    decimals    16 bytes, big-endian, sign bit flipped
    strings     their bytes, each 00 as 00 FF, closed by 00 01: no key is the beginning of another

Descending columns have the bytes of the value inverted, never the mark: where nulls go does not
depend on the direction.

Sorting rarely needs whole keys. ``Keys`` holds the first 8 bytes of the first column's value as a
number (the *prefix*, compared without a branch), its mark, and a *tail* with what the two do not
tell: nothing for a single column of at most 8 bytes.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cimport cython

from ambergate_native.columns cimport Column, Kind
from ambergate_native.encoding cimport (
    BIT, NOTHING, SIGN, TEXT, UNFIT, WORD, Form, form_of, prefix_of, put_value, value_size,
)


@cython.final
cdef class Keys:
    """Order-preserving keys of ``length`` rows; made by ``sort_run``, owned memory."""

    def __dealloc__(self):
        free(self.prefixes)
        free(self.marks)
        free(self.tails)
        free(self.ends)

    def __len__(self):
        return self.length

    @property
    def nbytes(self):
        """Bytes of memory held."""
        cdef int64_t size = 8 * self.length
        if self.marks != NULL:
            size += self.length
        if self.tails != NULL:
            if self.ends == NULL:
                size += self.length * self.stride
            elif self.length:
                size += 8 * self.length + self.ends[self.length - 1]
        return size

    cdef Keys blank(self, int64_t length, bint marked, int64_t tail_bytes, bint even):
        """Memory for ``length`` keys and ``tail_bytes`` of tails (none if < 0)."""
        self.length = length
        self.prefixes = <uint64_t*>malloc(8 * max(length, 1))
        if marked:
            self.marks = <uint8_t*>malloc(max(length, 1))
        if tail_bytes >= 0:
            self.tails = <uint8_t*>malloc(max(tail_bytes, 1))
            if not even:
                self.ends = <int64_t*>malloc(8 * max(length, 1))
        if (self.prefixes == NULL or (marked and self.marks == NULL)
                or (tail_bytes >= 0 and self.tails == NULL)
                or (tail_bytes >= 0 and not even and self.ends == NULL)):
            raise MemoryError(f"no room for the keys of {length} rows")
        return self


cdef list forms_of(list columns, list descending, list nulls_last, int64_t start, int64_t stop):
    """The Column and Form of each key column; every argument is checked here."""
    cdef Column column
    if not columns or not len(columns) == len(descending) == len(nulls_last):
        raise ValueError(f"{len(columns)} key columns, {len(descending)} directions and "
                         f"{len(nulls_last)} places of nulls; each key column needs one of each")
    forms = []
    for array in columns:
        column = array if isinstance(array, Column) else Column(array)
        if not 0 <= start <= stop <= column.length:
            raise ValueError(f"rows {start}:{stop} are outside 0:{column.length}")
        form = form_of(column.kind)
        if form == UNFIT:
            raise TypeError(f"values of type {getattr(array, 'type', array)} have no order here; "
                            "sort by numbers, booleans, texts, binaries, dates, times or decimals")
        forms.append((column, form))
    return forms


cdef bint is_null(Column column, Form form, int64_t row) noexcept nogil:
    return form == NOTHING or not column.is_valid(row)


cdef void encode_prefixes(Keys keys, Column column, Form form, bint descending, bint nulls_last,
                          int64_t start, int64_t stop) noexcept nogil:
    cdef int64_t row
    cdef uint64_t flip = ~<uint64_t>0 if descending else 0
    cdef uint64_t of_null = ~<uint64_t>0 if nulls_last else 0
    cdef uint8_t null_mark = NULL_LAST if nulls_last else NULL_FIRST
    cdef const int64_t* values
    if column.kind == Kind.INT64:
        values = <const int64_t*>column.values + column.offset
        for row in range(start, stop):
            keys.prefixes[row - start] = (<uint64_t>values[row] ^ SIGN) ^ flip
    else:
        for row in range(start, stop):
            if form == TEXT and not column.is_valid(row):
                continue
            keys.prefixes[row - start] = prefix_of(column, form, row) ^ flip
    if keys.marks != NULL:
        for row in range(start, stop):
            if is_null(column, form, row):
                keys.prefixes[row - start] = of_null
                keys.marks[row - start] = null_mark
            else:
                keys.marks[row - start] = VALUE


cdef int64_t tail_sizes(int64_t* sizes, Column column, Form form, bint marked, int64_t start,
                        int64_t stop) noexcept nogil:
    """Add the bytes of one column to ``sizes``; ``marked``: with its mark."""
    cdef int64_t row
    for row in range(start, stop):
        sizes[row - start] += marked
        if not is_null(column, form, row):
            sizes[row - start] += value_size(column, form, row)
    return 0


cdef void put_column(uint8_t* out, int64_t* places, Column column, Form form, bint descending,
                     bint nulls_last, bint marked, int64_t padded, int64_t start,
                     int64_t stop) noexcept nogil:
    """Write one column at ``places``, moving them on; a null takes ``padded`` zero bytes."""
    cdef int64_t row, at
    cdef bint null
    for row in range(start, stop):
        at = places[row - start]
        null = is_null(column, form, row)
        if marked:
            out[at] = VALUE if not null else NULL_LAST if nulls_last else NULL_FIRST
            at += 1
        if null:
            memset(out + at, 0, padded)
            at += padded
        else:
            at += put_value(out + at, column, form, descending, row)
        places[row - start] = at


cdef Keys encode(list columns, list descending, list nulls_last, int64_t start, int64_t stop):
    """The keys of rows ``start:stop``, in the order of the rows."""
    cdef list forms = forms_of(columns, descending, nulls_last, start, stop)
    cdef Column column, lead
    cdef Form form, lead_form
    cdef int64_t rows = stop - start, total = -1, row, size, stride = 0
    cdef int64_t* places = NULL
    cdef bint even = True, down, last, lead_down, marked
    cdef Keys keys = Keys()
    lead, lead_form = forms[0]
    lead_down, last = descending[0], nulls_last[0]
    # what the prefix of the first column leaves open, then the other columns
    parts = [] if lead_form in (NOTHING, BIT, WORD) else [(lead, lead_form, lead_down, last, 0)]
    for (column, form), down, last in zip(forms[1:], descending[1:], nulls_last[1:]):
        parts.append((column, form, down, last, 1))
    try:
        if parts:
            even = all(part[1] != TEXT for part in parts)
            places = <int64_t*>malloc(8 * max(rows, 1))
            if places == NULL:
                raise MemoryError(f"no room for the keys of {rows} rows")
            if even:
                for column, form, _, _, marked in parts:
                    stride += marked + value_size(column, form, 0)
                for row in range(rows):
                    places[row] = row * stride
                total = rows * stride
            else:
                memset(places, 0, 8 * rows)
                for column, form, _, _, marked in parts:
                    tail_sizes(places, column, form, marked, start, stop)
                total = 0
                for row in range(rows):
                    size = places[row]
                    places[row] = total
                    total += size
        keys.blank(rows, lead.validity != NULL or lead_form == NOTHING, total, even)
        keys.stride = stride
        last = nulls_last[0]
        with nogil:
            encode_prefixes(keys, lead, lead_form, lead_down, last, start, stop)
        for column, form, down, last, marked in parts:
            size = value_size(column, form, 0) if even else 0
            with nogil:
                put_column(keys.tails, places, column, form, down, last, marked, size, start, stop)
        if not even:
            memcpy(keys.ends, places, 8 * rows)
    finally:
        free(places)
    return keys


def encode_keys(list columns, list descending, list nulls_last, int64_t start, int64_t stop):
    """Encode rows ``start:stop`` into whole keys whose byte order is the order of the rows.

    Parameters
    ----------
    columns : list of pyarrow.Array
        The key columns, the most significant first.
    descending, nulls_last : list of bool
        One for each column.
    start, stop : int
        The rows.

    Returns
    -------
    keys, offsets : bytearray, and bytearray of int64, shape (stop - start + 1,)
        Key ``i`` is ``keys[offsets[i]:offsets[i + 1]]``.

    Raises
    ------
    ValueError
        The rows are outside a column, or the lists differ in length.
    TypeError
        A column's type has no order.
    """
    cdef list forms = forms_of(columns, descending, nulls_last, start, stop)
    cdef int64_t rows = stop - start, row, total = 0, size
    cdef Column column
    cdef Form form
    cdef bint down, last
    offsets = bytearray(8 * (rows + 1))
    cdef unsigned char[::1] view = offsets
    cdef int64_t* places = <int64_t*>&view[0]
    for column, form in forms:
        tail_sizes(places + 1, column, form, True, start, stop)
    for row in range(rows):  # places[i + 1] becomes where key i begins, then where it ends
        size = places[row + 1]
        places[row + 1] = total
        total += size
    keys = bytearray(total)
    cdef unsigned char[::1] out = keys
    if total:
        for (column, form), down, last in zip(forms, descending, nulls_last):
            put_column(&out[0], places + 1, column, form, down, last, True, 0, start, stop)
    return keys, offsets
