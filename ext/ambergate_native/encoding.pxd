# The value of one row as bytes or as a number in whose order values are; see ``ordering``.
# Inline, so that loops over a column pay for no call.

from libc.stdint cimport (
    INT64_MAX, INT64_MIN, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
)
from libc.string cimport memchr, memcpy, memset

from ambergate_native.columns cimport Column, Kind

cdef extern from *:
    """
    #include <stdint.h>
    #define AMBERGATE_SIGN ((uint64_t)1 << 63)
    #define AMBERGATE_NAN_KEY ((uint64_t)0xFFF8 << 48)
    """
    const uint64_t SIGN "AMBERGATE_SIGN"
    const uint64_t NAN_KEY "AMBERGATE_NAN_KEY"
    uint64_t __builtin_bswap64(uint64_t) noexcept nogil

# How a value is laid out in a key.
cdef enum Form:
    UNFIT, NOTHING, BIT, WORD, WIDE, TEXT


cdef inline Form form_of(Kind kind):
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


cdef inline uint64_t float_key(double value) noexcept nogil:
    cdef uint64_t bits
    if value != value:
        return NAN_KEY
    if value == 0:
        return SIGN
    memcpy(&bits, &value, 8)
    return ~bits if bits & SIGN else bits | SIGN


cdef inline uint64_t word(Column column, int64_t row) noexcept nogil:
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


cdef inline int64_t escaped_size(const uint8_t* value, int64_t size) noexcept nogil:
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


cdef inline int64_t put_escaped(uint8_t* out, const uint8_t* value, int64_t size) noexcept nogil:
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


cdef inline uint64_t text_prefix(const uint8_t* value, int64_t size) noexcept nogil:
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


cdef inline uint64_t prefix_of(Column column, Form form, int64_t row) noexcept nogil:
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


cdef inline int64_t value_size(Column column, Form form, int64_t row) noexcept nogil:
    cdef int64_t size
    cdef const uint8_t* value
    if form == TEXT:
        value = text(column, row, &size)
        return escaped_size(value, size)
    return 8 if form == WORD else 16 if form == WIDE else 1 if form == BIT else 0


cdef inline int64_t put_value(uint8_t* out, Column column, Form form, bint descending,
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
