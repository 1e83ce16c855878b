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

from libc.stdint cimport (
    INT64_MAX,
    INT64_MIN,
    int8_t,
    int16_t,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcpy, memset

cimport cython

from ambergate_native.columns cimport Column, Kind

cdef uint64_t SIGN = <uint64_t>1 << 63
cdef uint64_t NAN_KEY = <uint64_t>0xFFF8 << 48

# How a value is laid out in a key.
cdef enum Form:
    UNFIT, NOTHING, BIT, WORD, WIDE, TEXT


cdef Form form_of(Kind kind):
    if kind == Kind.NULLS:
        return NOTHING
    if kind == Kind.BOOL:
        return BIT
    if kind in (Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64, Kind.UINT8, Kind.UINT16,
                Kind.UINT32, Kind.UINT64, Kind.FLOAT32, Kind.FLOAT64):
        return WORD
    if kind == Kind.DECIMAL128:
        return WIDE
    if kind in (Kind.STRING, Kind.LARGE_STRING, Kind.BINARY, Kind.LARGE_BINARY, Kind.FIXED):
        return TEXT
    return UNFIT


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
        """Memory for ``length`` keys; ``tail_bytes`` of tails or none if < 0, ``even``: a stride."""
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


cdef inline uint64_t float_key(double value) noexcept nogil:
    cdef uint64_t bits
    if value != value:
        return NAN_KEY
    if value == 0:
        return SIGN
    memcpy(&bits, &value, 8)
    return ~bits if bits & SIGN else bits | SIGN


cdef uint64_t word(Column column, int64_t row) noexcept nogil:
    """The 8-byte key of a row of a WORD or BIT column."""
    cdef const void* values = column.values
    cdef int64_t at = column.offset + row
    cdef Kind kind = column.kind
    if kind == Kind.INT64:
        return <uint64_t>(<const int64_t*>values)[at] ^ SIGN
    if kind == Kind.FLOAT64:
        return float_key((<const double*>values)[at])
    if kind == Kind.INT32:
        return <uint64_t><int64_t>(<const int32_t*>values)[at] ^ SIGN
    if kind == Kind.FLOAT32:
        return float_key((<const float*>values)[at])
    if kind == Kind.UINT64:
        return (<const uint64_t*>values)[at]
    if kind == Kind.UINT32:
        return (<const uint32_t*>values)[at]
    if kind == Kind.INT16:
        return <uint64_t><int64_t>(<const int16_t*>values)[at] ^ SIGN
    if kind == Kind.UINT16:
        return (<const uint16_t*>values)[at]
    if kind == Kind.INT8:
        return <uint64_t><int64_t>(<const int8_t*>values)[at] ^ SIGN
    if kind == Kind.UINT8:
        return (<const uint8_t*>values)[at]
    return column.bit(row)


cdef inline const uint8_t* text(Column column, int64_t row, int64_t* size) noexcept nogil:
    if column.kind == Kind.FIXED:
        size[0] = column.width
        return <const uint8_t*>column.values + (column.offset + row) * column.width
    return column.string(row, size)


cdef inline void put_word(uint8_t* out, uint64_t value) noexcept nogil:
    cdef int byte
    for byte in range(8):
        out[byte] = <uint8_t>(value >> (56 - 8 * byte))


cdef int64_t escaped_size(const uint8_t* value, int64_t size) noexcept nogil:
    cdef int64_t total = size + 2
    cdef const uint8_t* at = value
    cdef const uint8_t* end = value + size
    while at < end:
        at = <const uint8_t*>memchr(at, 0, end - at)
        if at == NULL:
            break
        total += 1
        at += 1
    return total


cdef int64_t put_escaped(uint8_t* out, const uint8_t* value, int64_t size) noexcept nogil:
    cdef int64_t row, at = 0
    for row in range(size):
        out[at] = value[row]
        at += 1
        if value[row] == 0:
            out[at] = 0xFF
            at += 1
    out[at] = 0
    out[at + 1] = 1
    return at + 2


cdef uint64_t text_prefix(const uint8_t* value, int64_t size) noexcept nogil:
    """The first 8 bytes of the escaped value, as a big-endian number."""
    cdef uint8_t buffer[20]
    cdef uint64_t prefix = 0
    cdef int byte
    if size >= 8 and memchr(value, 0, 8) == NULL:
        memcpy(&prefix, value, 8)
        return __builtin_bswap64(prefix)
    memset(buffer, 0, 8)
    put_escaped(buffer, value, size if size < 8 else 8)
    for byte in range(8):
        prefix = prefix << 8 | buffer[byte]
    return prefix


cdef extern from *:
    uint64_t __builtin_bswap64(uint64_t) noexcept nogil


cdef uint64_t prefix_of(Column column, Form form, int64_t row) noexcept nogil:
    cdef int64_t size, high
    cdef const uint8_t* value
    cdef const uint64_t* words
    if form == WORD or form == BIT:
        return word(column, row)
    if form == WIDE:
        words = <const uint64_t*>column.values + 2 * (column.offset + row)
        high = <int64_t>words[1]
        if high != (<int64_t>words[0] >> 63):  # beyond int64: saturated, the tail tells the rest
            return (<uint64_t>INT64_MIN if high < 0 else <uint64_t>INT64_MAX) ^ SIGN
        return words[0] ^ SIGN
    if form == TEXT:
        value = text(column, row, &size)
        return text_prefix(value, size)
    return 0


cdef inline void invert(uint8_t* out, int64_t size) noexcept nogil:
    cdef int64_t byte
    for byte in range(size):
        out[byte] = ~out[byte]


cdef int64_t value_size(Column column, Form form, int64_t row) noexcept nogil:
    cdef int64_t size
    cdef const uint8_t* value
    if form == TEXT:
        value = text(column, row, &size)
        return escaped_size(value, size)
    return 8 if form == WORD else 16 if form == WIDE else 1 if form == BIT else 0


cdef int64_t put_value(uint8_t* out, Column column, Form form, bint descending,
                       int64_t row) noexcept nogil:
    """Write the value of a row that is not null; returns its bytes."""
    cdef int64_t size
    cdef const uint8_t* value
    cdef const uint64_t* words
    if form == WORD:
        put_word(out, word(column, row))
        size = 8
    elif form == BIT:
        out[0] = column.bit(row)
        size = 1
    elif form == WIDE:
        words = <const uint64_t*>column.values + 2 * (column.offset + row)
        put_word(out, words[1] ^ SIGN)
        put_word(out + 8, words[0])
        size = 16
    elif form == TEXT:
        value = text(column, row, &size)
        size = put_escaped(out, value, size)
    else:
        return 0
    if descending:
        invert(out, size)
    return size


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
                            "sort by numbers, booleans, strings, binaries, dates, times or decimals")
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
                for column, form, down, last, marked in parts:
                    stride += marked + value_size(column, form, 0)
                for row in range(rows):
                    places[row] = row * stride
                total = rows * stride
            else:
                memset(places, 0, 8 * rows)
                for column, form, down, last, marked in parts:
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
