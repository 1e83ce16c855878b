# cython: language_level=3
"""One stable 64-bit hash over typed rows: what an exchange deals by, and key groups are cut by.

Equal values hash equal whatever the width of their type: integers, booleans, dates and times as
int64 (uint64 beyond it as itself), floats as float64 with one zero and one NaN, text and binaries
by their bytes, decimals by their 128 bits, null by a constant. It is the same on every machine and
in every version that can read the other's snapshots; ``tests/native/test_hashing.py`` pins values.

The bytes of text are taken 16 at a time, as in wyhash (https://github.com/wangyi-fudan/wyhash).
"""

from libc.stdint cimport (
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

from ambergate_native.columns cimport Kind
from ambergate_native.views cimport View, Views, bit_of, is_text, is_valid, string_of, views_of

KEY_GROUPS_COUNT = KEY_GROUPS
NULL_ROW_HASH = NULL_HASH

ctypedef fused integer:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused floating:
    float
    double


cdef void hash_integers(const integer* values, int64_t rows, uint64_t* out) noexcept nogil:
    cdef int64_t row
    for row in range(rows):
        out[row] = mix(<uint64_t><int64_t>values[row])


cdef void hash_floats(const floating* values, int64_t rows, uint64_t* out) noexcept nogil:
    cdef int64_t row
    for row in range(rows):
        out[row] = mix(float_word(values[row]))


cdef void hash_column(const View* view, int64_t start, int64_t stop, uint64_t* out) noexcept nogil:
    """Write the hashes of rows ``start`` to ``stop`` to ``out``, from 0; of a known kind."""
    cdef int64_t row, size, rows = stop - start, first = view.offset + start
    cdef const uint64_t* words
    cdef const uint8_t* bytes
    cdef Kind kind = view.kind
    if kind == Kind.INT64:
        hash_integers[int64_t](<const int64_t*>view.values + first, rows, out)
    elif kind == Kind.INT32:
        hash_integers[int32_t](<const int32_t*>view.values + first, rows, out)
    elif kind == Kind.INT16:
        hash_integers[int16_t](<const int16_t*>view.values + first, rows, out)
    elif kind == Kind.INT8:
        hash_integers[int8_t](<const int8_t*>view.values + first, rows, out)
    elif kind == Kind.UINT64:
        hash_integers[uint64_t](<const uint64_t*>view.values + first, rows, out)
    elif kind == Kind.UINT32:
        hash_integers[uint32_t](<const uint32_t*>view.values + first, rows, out)
    elif kind == Kind.UINT16:
        hash_integers[uint16_t](<const uint16_t*>view.values + first, rows, out)
    elif kind == Kind.UINT8:
        hash_integers[uint8_t](<const uint8_t*>view.values + first, rows, out)
    elif kind == Kind.FLOAT64:
        hash_floats[double](<const double*>view.values + first, rows, out)
    elif kind == Kind.FLOAT32:
        hash_floats[float](<const float*>view.values + first, rows, out)
    elif kind == Kind.BOOL:
        for row in range(rows):
            out[row] = mix(bit_of(view, start + row))
    elif kind == Kind.DECIMAL128:
        words = <const uint64_t*>view.values + 2 * first
        for row in range(rows):
            out[row] = join(mix(words[2 * row]), words[2 * row + 1])
    elif is_text(kind):
        for row in range(rows):
            if is_valid(view, start + row):
                bytes = string_of(view, start + row, &size)
                out[row] = hash_bytes(bytes, size)
    elif kind == Kind.FIXED:
        for row in range(rows):
            out[row] = hash_bytes(
                <const uint8_t*>view.values + (first + row) * view.width, view.width
            )
    else:
        for row in range(rows):
            out[row] = NULL_HASH
    if view.validity != NULL:
        for row in range(rows):
            if not is_valid(view, start + row):
                out[row] = NULL_HASH


cdef void hash_views(const View* views, const int64_t* keys, int64_t count, int64_t start,
                     int64_t stop, uint64_t* out, uint64_t* scratch) noexcept nogil:
    """Hash rows ``start`` to ``stop`` of the columns ``keys`` of ``views`` to ``out``, from 0.

    ``scratch`` holds as many words as ``out``; it is not touched for one column.
    """
    cdef int64_t key, row
    hash_column(&views[keys[0]], start, stop, out)
    for key in range(1, count):
        hash_column(&views[keys[key]], start, stop, scratch)
        for row in range(stop - start):
            out[row] = join(out[row], scratch[row])


def hash_rows(columns, int64_t start, int64_t stop, uint64_t[::1] out):
    """Write to ``out`` the hash of each row ``start:stop`` over all ``columns``.

    Parameters
    ----------
    columns : list of pa.Array of one length, or pa.RecordBatch
        Integers, floats, bool, text, binary, dates and times, decimal128, null.
    start, stop : rows to hash
    out : uint64, shape (>= stop - start,), filled from 0

    Raises
    ------
    ValueError
        No columns, rows outside them, or ``out`` too short.
    TypeError
        A column is of a type that has no hash.
    """
    cdef Views views = views_of(columns)
    cdef int64_t key
    cdef int64_t* keys
    cdef uint64_t* scratch
    if views.count == 0:
        raise ValueError("a hash needs one column at least")
    if not 0 <= start <= stop <= views.rows:
        raise ValueError(f"rows {start}:{stop} are outside 0:{views.rows}")
    if out.shape[0] < stop - start:
        raise ValueError(f"out holds {out.shape[0]} of {stop - start} rows")
    for key in range(views.count):
        if views.views[key].kind == Kind.OTHER:
            raise TypeError(f"column {key} is of a type that has no hash")
    if start == stop:
        return
    keys = <int64_t*>malloc(views.count * sizeof(int64_t))
    scratch = <uint64_t*>malloc((stop - start) * sizeof(uint64_t))
    try:
        if keys == NULL or scratch == NULL:
            raise MemoryError(f"no memory to hash {stop - start} rows")
        for key in range(views.count):
            keys[key] = key
        with nogil:
            hash_views(views.views, keys, views.count, start, stop, &out[0], scratch)
    finally:
        free(keys)
        free(scratch)
