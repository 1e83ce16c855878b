# cython: language_level=3
"""The stable hash of typed rows, and the partition it gives.

    hash (64 bits) -> key group = top 7 bits -> task = key group * tasks // 128

Equal values hash equal in every process and for ever: integers of all widths as int64 (uint64 as
itself), floats as float64 with one zero and one NaN, texts of all layouts by their bytes. A null
has a hash of its own. The constants are part of the format of snapshots.
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

from ambergate_native.columns cimport Column, Kind

KEY_GROUPS = 128
cdef enum:
    GROUP_SHIFT = 57  # 64 - log2(KEY_GROUPS)

cdef extern from "mixing.h" nogil:
    uint64_t AMBERGATE_NULL
    uint64_t mix_word(uint64_t word) noexcept
    uint64_t mix_join(uint64_t so_far, uint64_t following) noexcept
    uint64_t mix_bytes(const uint8_t* bytes, int64_t size) noexcept
    uint64_t word_of_double(double value) noexcept

ctypedef fused whole:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused real:
    float
    double


cdef void hash_whole(const whole* values, uint64_t* hashes, int64_t rows) noexcept nogil:
    cdef int64_t row
    for row in range(rows):
        hashes[row] = mix_word(<uint64_t><int64_t>values[row])


cdef void hash_real(const real* values, uint64_t* hashes, int64_t rows) noexcept nogil:
    cdef int64_t row
    for row in range(rows):
        hashes[row] = mix_word(word_of_double(values[row]))


cdef void hash_text(Column column, uint64_t* hashes, int64_t start, int64_t rows) noexcept nogil:
    cdef int64_t row, size = 0
    cdef const uint8_t* first
    for row in range(rows):
        first = column.string(start + row, &size)
        hashes[row] = mix_bytes(first, size)


cdef void hash_fixed(
    const uint8_t* values, int64_t width, uint64_t* hashes, int64_t rows
) noexcept nogil:
    cdef int64_t row
    for row in range(rows):
        hashes[row] = mix_bytes(values + row * width, width)


cdef int hash_column(Column column, int64_t start, int64_t rows, uint64_t* hashes) except -1:
    """Hash ``rows`` rows of one column from ``start`` on."""
    cdef const uint8_t* first = <const uint8_t*>column.values
    cdef Kind kind = column.kind
    cdef int64_t row
    if kind == Kind.OTHER or kind == Kind.LIST or kind == Kind.LARGE_LIST:
        raise TypeError("rows cannot be hashed by a column of this type")
    if first != NULL:
        first += (column.offset + start) * column.width
    with nogil:
        if kind == Kind.NULLS:
            for row in range(rows):
                hashes[row] = AMBERGATE_NULL
        elif kind == Kind.BOOL:
            for row in range(rows):
                hashes[row] = mix_word(column.bit(start + row))
        elif kind == Kind.INT64:
            hash_whole(<const int64_t*>first, hashes, rows)
        elif kind == Kind.INT32:
            hash_whole(<const int32_t*>first, hashes, rows)
        elif kind == Kind.INT16:
            hash_whole(<const int16_t*>first, hashes, rows)
        elif kind == Kind.INT8:
            hash_whole(<const int8_t*>first, hashes, rows)
        elif kind == Kind.UINT64:
            hash_whole(<const uint64_t*>first, hashes, rows)
        elif kind == Kind.UINT32:
            hash_whole(<const uint32_t*>first, hashes, rows)
        elif kind == Kind.UINT16:
            hash_whole(<const uint16_t*>first, hashes, rows)
        elif kind == Kind.UINT8:
            hash_whole(<const uint8_t*>first, hashes, rows)
        elif kind == Kind.FLOAT64:
            hash_real(<const double*>first, hashes, rows)
        elif kind == Kind.FLOAT32:
            hash_real(<const float*>first, hashes, rows)
        elif kind == Kind.DECIMAL128 or kind == Kind.FIXED:
            hash_fixed(first, column.width, hashes, rows)
        else:
            hash_text(column, hashes, start, rows)
        if column.validity != NULL:
            for row in range(rows):
                if not column.is_valid(start + row):
                    hashes[row] = AMBERGATE_NULL
    return 0


def hash_rows(list columns, int64_t start, int64_t stop, uint64_t[::1] hashes):
    """Write the hash of rows ``start:stop`` over all ``columns`` to ``hashes``, from 0.

    Parameters
    ----------
    columns : list of arrow arrays of equal length, at least one
    hashes : uint64, shape (>= stop - start,)

    Raises
    ------
    ValueError
        The rows are outside a column, or ``hashes`` is too short.
    TypeError
        A column's type has no hash (lists, structs, dictionaries).
    """
    cdef int64_t rows = stop - start, row
    cdef list views = [Column(column) for column in columns]
    cdef uint64_t[::1] more
    if not views:
        raise ValueError("rows are hashed by at least one column")
    for view in views:
        if not 0 <= start <= stop <= view.length:
            raise ValueError(f"rows {start}:{stop} are outside 0:{view.length}")
    if hashes.shape[0] < rows:
        raise ValueError(f"hashes holds {hashes.shape[0]} of {rows} rows")
    if rows == 0:
        return
    hash_column(<Column>views[0], start, rows, &hashes[0])
    if len(views) == 1:
        return
    from array import array

    more = array("Q", bytes(8 * rows))
    for view in views[1:]:
        hash_column(<Column>view, start, rows, &more[0])
        with nogil:
            for row in range(rows):
                hashes[row] = mix_join(hashes[row], more[row])


def partition_rows(const uint64_t[::1] hashes, int64_t rows, int64_t tasks, int64_t[::1] places,
                   int64_t[::1] bounds):
    """Sort row numbers by the task their hash belongs to; the order within a task is kept.

    Parameters
    ----------
    hashes : uint64, shape (>= rows,)
    tasks : 1 to KEY_GROUPS
    places : int64, shape (>= rows,); row numbers, task by task
    bounds : int64, shape (>= tasks + 1,); the rows of task t are ``places[bounds[t]:bounds[t+1]]``

    Raises
    ------
    ValueError
        A buffer is too short, or there are more tasks than key groups.
    """
    cdef int64_t row, task, at
    cdef int64_t next_place[128]
    cdef uint8_t task_of[128]
    if not 1 <= tasks <= 128:
        raise ValueError(f"{tasks} tasks cannot share 128 key groups")
    if rows < 0 or hashes.shape[0] < rows or places.shape[0] < rows or bounds.shape[0] <= tasks:
        raise ValueError(f"a buffer is too short for {rows} rows and {tasks} tasks")
    with nogil:
        for at in range(128):
            task_of[at] = <uint8_t>(at * tasks // 128)
            next_place[at] = 0
        for row in range(rows):
            next_place[task_of[hashes[row] >> GROUP_SHIFT]] += 1
        at = 0
        for task in range(tasks):
            bounds[task] = at
            at += next_place[task]
            next_place[task] = bounds[task]
        bounds[tasks] = at
        for row in range(rows):
            task = task_of[hashes[row] >> GROUP_SHIFT]
            places[next_place[task]] = row
            next_place[task] += 1
