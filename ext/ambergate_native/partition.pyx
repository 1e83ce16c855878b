# cython: language_level=3
"""Dealing the rows of a batch to tasks by the stable hash of their key columns.

    hash -> key group = top 7 bits -> task = group * tasks // 128

One pass hashes blocks of rows and notes each row's task, a second lists the row numbers task by
task in their order (counting sort), then each column is gathered once for each task.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc

from ambergate_native.columns cimport ArrowArray, Kind
from ambergate_native.gate cimport BLOCK_ROWS
from ambergate_native.hashing cimport KEY_GROUPS, hash_views
from ambergate_native.selection cimport gather_view, imported
from ambergate_native.views cimport View, Views, new_batch, views_of


cdef void deal_rows(const View* views, const int64_t* keys, int64_t key_count, int64_t start,
                    int64_t stop, int64_t tasks, uint8_t* dealt) noexcept nogil:
    """Write to ``dealt`` the task of each row, or its key group where tasks outnumber groups."""
    cdef uint64_t[256] hashes
    cdef uint64_t[256] scratch
    cdef int64_t row = start, end, at
    cdef uint8_t* out
    tasks = min(tasks, KEY_GROUPS)
    while row < stop:
        end = min(row + BLOCK_ROWS, stop)
        hash_views(views, keys, key_count, row, end, hashes, scratch)
        out = dealt + (row - start)
        for at in range(end - row):
            out[at] = <uint8_t>(((hashes[at] >> 57) * <uint64_t>tasks) >> 7)
        row = end


cdef void list_rows(const uint8_t* dealt, int64_t start, int64_t rows, int64_t tasks,
                    int64_t* indices, int64_t* offsets) noexcept nogil:
    """List the row numbers from ``start`` on, task by task; ``offsets`` has tasks + 1 entries."""
    cdef int64_t[256] counts
    cdef int64_t[256] others
    cdef int64_t row, task, at, group
    for task in range(256):
        counts[task] = others[task] = 0
    # two tables, so that a run of one task does not wait for its own counter
    for row in range(0, rows - 1, 2):
        counts[dealt[row]] += 1
        others[dealt[row + 1]] += 1
    if rows & 1:
        counts[dealt[rows - 1]] += 1
    at = 0
    for task in range(min(tasks, KEY_GROUPS)):
        counts[task] += others[task]
        others[task] = at
        at += counts[task]
    for row in range(rows):
        task = dealt[row]
        indices[others[task]] = start + row
        others[task] += 1
    at = 0
    for task in range(tasks):
        offsets[task] = at
        if tasks <= KEY_GROUPS:
            at += counts[task]
        else:  # most tasks have no group
            group = (task * KEY_GROUPS + tasks - 1) // tasks
            if group < KEY_GROUPS and group * tasks // KEY_GROUPS == task:
                at += counts[group]
    offsets[tasks] = at


cdef int64_t* checked_keys(Views views, keys) except NULL:
    cdef int64_t* chosen
    cdef int64_t at
    if len(keys) == 0:
        raise ValueError("dealing by a hash needs one key column at least")
    for key in keys:
        if not 0 <= key < views.count:
            raise IndexError(f"key column {key} of {views.count} columns")
        if views.views[<int64_t>key].kind == Kind.OTHER:
            raise TypeError(f"key column {key} is of a type that has no hash")
    chosen = <int64_t*>malloc(len(keys) * sizeof(int64_t))
    if chosen == NULL:
        raise MemoryError()
    for at in range(len(keys)):
        chosen[at] = keys[at]
    return chosen


def partition(source, keys, int64_t start, int64_t stop, int64_t tasks, int64_t[::1] indices,
              int64_t[::1] offsets):
    """List the rows ``start:stop`` by the task they are dealt to, each task's in their order.

    Task ``t`` gets the rows ``indices[offsets[t]:offsets[t + 1]]``.

    Parameters
    ----------
    source : list of pa.Array of one length, or pa.RecordBatch
    keys : sequence of int
        Positions of the key columns.
    start, stop : rows to deal
    tasks : how many tasks there are; beyond 128 some get nothing
    indices : int64, shape (>= stop - start,), filled from 0
    offsets : int64, shape (>= tasks + 1,)

    Raises
    ------
    ValueError, IndexError, TypeError
        Rows outside the source, a buffer too short, no such key, a key that has no hash.
    """
    cdef Views views = views_of(source)
    cdef int64_t* chosen
    cdef uint8_t* dealt
    cdef int64_t rows = stop - start, count = len(keys)
    if not 0 <= start <= stop <= views.rows:
        raise ValueError(f"rows {start}:{stop} are outside 0:{views.rows}")
    if tasks < 1:
        raise ValueError(f"rows are dealt to one task at least, got {tasks}")
    if indices.shape[0] < rows or offsets.shape[0] < tasks + 1:
        raise ValueError(f"indices and offsets hold {indices.shape[0]} and {offsets.shape[0]} of "
                         f"{rows} and {tasks + 1}")
    chosen = checked_keys(views, keys)
    dealt = <uint8_t*>malloc(rows + 1)
    try:
        if dealt == NULL:
            raise MemoryError(f"no memory to deal {rows} rows")
        with nogil:
            deal_rows(views.views, chosen, count, start, stop, tasks, dealt)
            list_rows(dealt, start, rows, tasks, &indices[0] if rows else NULL, &offsets[0])
    finally:
        free(dealt)
        free(chosen)


def split(source, keys, int64_t tasks, importer, schema):
    """Each task's rows of a batch, as a batch of its own; None for a task without rows.

    Parameters
    ----------
    source : Views, or pa.RecordBatch; of kinds that kernels know (``views.native``)
    keys : sequence of int
        Positions of the key columns.
    tasks : how many tasks there are
    importer : callable(address, schema)
        ``pa.RecordBatch._import_from_c``
    schema : pa.Schema of the source

    Returns
    -------
    list of pa.RecordBatch or None, one entry a task
    """
    cdef Views views = views_of(source)
    cdef int64_t rows = views.rows, count = len(keys), task, index, first, size
    cdef int64_t* chosen
    cdef int64_t* indices = NULL
    cdef int64_t* offsets
    cdef uint8_t* dealt
    cdef ArrowArray root
    if tasks < 1:
        raise ValueError(f"rows are dealt to one task at least, got {tasks}")
    if not views.native:
        raise TypeError(f"a column of {schema} is of a type that gather does not know")
    chosen = checked_keys(views, keys)
    batches = [None] * tasks
    try:
        indices = <int64_t*>malloc((rows + tasks + 1) * sizeof(int64_t) + rows)
        if indices == NULL:
            raise MemoryError(f"no memory to deal {rows} rows")
        offsets = indices + rows
        dealt = <uint8_t*>(offsets + tasks + 1)
        with nogil:
            deal_rows(views.views, chosen, count, 0, rows, tasks, dealt)
            list_rows(dealt, 0, rows, tasks, indices, offsets)
        for task in range(tasks):
            first, size = offsets[task], offsets[task + 1] - offsets[task]
            if size == 0:
                continue
            new_batch(&root, size, views.count)
            try:
                with nogil:
                    for index in range(views.count):
                        gather_view(&views.views[index], indices + first, size, False,
                                    root.children[index])
            except BaseException:
                root.release(&root)
                raise
            batches[task] = imported(&root, importer, schema)
    finally:
        free(indices)
        free(chosen)
    return batches
