# cython: language_level=3
"""Accumulators: one record for each group, updated by the rows of the groups' numbers.

A record begins as zeros. ``update`` takes rows that the grouping has let through already, so it
looks at no gate; ``step`` takes them one by one and writes the value after each. Whether a total
fits its type is told when it is read.

A row may stand for several that were aggregated before: it comes with the count of its values.
"""

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

cimport cython

from ambergate_native.columns cimport Column, Kind
from ambergate_native.grouping cimport move_to_room
from ambergate_native.keys cimport is_valid, view_of

cdef extern from *:
    void __builtin_prefetch(const void* memory) noexcept nogil

cdef enum:
    AHEAD = 16                           # rows whose records are fetched before they are needed


@cython.final
cdef class Store:
    def __dealloc__(self):
        free(self.memory)

    cdef bint grow(self, int64_t groups) noexcept nogil:
        """Have records for so many groups at least; new ones are empty. False: no memory."""
        cdef void* memory
        cdef int64_t room
        if groups <= self.groups:
            return True
        if groups > self.room:
            room = max(groups, 2 * self.room)
            memory = move_to_room(self.memory, self.groups * self.stride, room * self.stride)
            if memory == NULL:
                return False
            self.memory, self.room = <char*>memory, room
        memset(self.memory + self.groups * self.stride, 0, (groups - self.groups) * self.stride)
        self.groups = groups
        return True


cdef class Records:
    """A record for each group; see the classes below.

    Attributes
    ----------
    groups : int
        Groups there are records of.
    width : int
        Bytes of a result.
    """

    def __init__(self, *arguments):
        self.store = Store()
        self.store.stride = self.record_bytes

    @property
    def groups(self):
        """Groups there are records of."""
        return self.store.groups

    def reserve(self, int64_t groups):
        """Have a record for each of ``groups`` groups; new ones are empty."""
        if not self.store.grow(groups):
            raise MemoryError(f"no room for {groups} groups")

    def truncate(self, int64_t groups):
        """Forget the groups from ``groups`` on."""
        if groups < 0:
            raise ValueError(f"{groups} groups")
        self.store.groups = min(groups, self.store.groups)

    def export(self):
        """All records, as bytes."""
        cdef int64_t group, size = self.record_bytes
        made = PyBytes_FromStringAndSize(NULL, self.store.groups * size)
        cdef char* out = PyBytes_AS_STRING(made)
        for group in range(self.store.groups):
            memcpy(out + group * size, self.record(group), size)
        return made

    def load(self, bytes records not None):
        """Take what ``export`` gave; all groups there are get these records, or empty ones."""
        cdef int64_t group, size = self.record_bytes, groups = len(records) // size
        cdef const char* bytes = PyBytes_AS_STRING(records)
        if groups * size != len(records):
            raise ValueError(f"{len(records)} bytes are no records of {size} bytes")
        self.reserve(groups)
        for group in range(groups):
            memcpy(self.record(group), bytes + group * size, size)
        for group in range(groups, self.store.groups):
            memset(self.record(group), 0, size)

    cdef int check_column(self) except -1:
        return 0

    cdef list begin(self, array, counts, int64_t start, int64_t stop):
        """Check rows, and look at them from now on; the result keeps them alive."""
        cdef Column column = None if array is None else Column(array)
        cdef Column others = None if counts is None else Column(counts)
        if not 0 <= start <= stop:
            raise ValueError(f"rows {start}:{stop}")
        for each in (column, others):
            if each is not None and stop > len(each):
                raise ValueError(f"rows {start}:{stop} are outside 0:{len(each)}")
        if others is not None and others.kind != Kind.INT64 and others.kind != Kind.INT16:
            raise TypeError("counts must be int64 or int16")
        memset(&self.view, 0, sizeof(View))
        if column is not None:
            self.view = view_of(column)
            self.check_column()
        self.weighted = others is not None
        if others is not None:
            self.counts = view_of(others)
        return [column, others]

    cdef list check_rows(self, array, counts, const int64_t[::1] ids, int64_t start, int64_t stop):
        if ids is not None and ids.shape[0] < stop - start:
            raise ValueError(f"ids holds {ids.shape[0]} of {stop - start} rows")
        if ids is None and self.store.groups == 0:
            raise ValueError("there is no group yet")
        return self.begin(array, counts, start, stop)

    def update(self, const int64_t[::1] ids, array, int64_t start, int64_t stop, counts=None):
        """Take rows ``start:stop``.

        Parameters
        ----------
        ids : int64, shape (>= stop - start,), or None
            The group of each row, from ``ids[0]`` on; all below ``groups``, which is not checked.
            None: all rows are of group 0.
        array : pyarrow.Array, or None
            The values; None where only rows are counted.
        counts : pyarrow.Array of int64 or int16 without nulls, or None
            Of how many values each row is the sum; null sums are passed over. For counts, sums
            and means.

        Raises
        ------
        TypeError, ValueError
            The values are of another type, or the rows are outside; nothing was taken then.
        """
        _kept = self.check_rows(array, counts, ids, start, stop)
        if start == stop:
            return
        cdef const int64_t* first = NULL if ids is None else &ids[0]
        with nogil:
            self.add(first, start, stop)

    def undo(self, const int64_t[::1] ids, array, int64_t start, int64_t stop):
        """Take back rows ``start:stop``, which must have been taken before; for whole sums only."""
        _kept = self.check_rows(array, None, ids, start, stop)
        if start < stop:
            self.take_back(NULL if ids is None else &ids[0], start, stop)

    def step(self, const int64_t[::1] ids, array, int64_t start, int64_t stop, values,
             uint8_t[::1] valid not None):
        """Take rows ``start:stop`` one by one, writing the value of the row's group after each.

        Parameters
        ----------
        ids, array
            As for ``update``.
        values : writable buffer of (stop - start) * width bytes or more
            Results, from the first byte on.
        valid : uint8, shape (>= stop - start,)
            1 where there is a result, 0 where it is null.

        Returns
        -------
        cursor, nulls
            ``stop``, or the first row after which the result does not fit its type; that row
            is not taken. Nulls counts the results that are null.
        """
        _kept = self.check_rows(array, None, ids, start, stop)
        cdef Py_buffer buffer
        cdef int64_t row = start, at, nulls = 0
        PyObject_GetBuffer(values, &buffer, PyBUF_WRITABLE)
        cdef char* out = <char*>buffer.buf
        cdef int64_t size = buffer.len
        PyBuffer_Release(&buffer)  # the caller keeps it for as long as the call lasts
        if size < (stop - start) * self.width or valid.shape[0] < stop - start:
            raise ValueError(f"values or valid are too short for {stop - start} rows")
        if start < stop:
            with nogil:
                row = self.run(NULL if ids is None else &ids[0], start, stop, out, &valid[0])
                for at in range(row - start):
                    nulls += valid[at] == NO_VALUE
        return row, nulls

    cdef int64_t run(self, const int64_t* ids, int64_t start, int64_t stop, char* out,
                     uint8_t* valid) noexcept nogil:
        """Take rows one by one and write the value after each; returns the first not taken."""
        cdef int64_t row, group = 0
        cdef Outcome outcome
        for row in range(start, stop):
            if ids != NULL:
                group = ids[row - start]
                if row + AHEAD < stop:
                    __builtin_prefetch(self.record(ids[row - start + AHEAD]))
            self.add(&group, row, row + 1)
            outcome = self.result(group, out)
            if outcome == TOO_LARGE:
                self.take_back(&group, row, row + 1)
                return row
            valid[row - start] = outcome
            out += self.width
        return stop

    def values(self, int64_t first, int64_t last):
        """The results of groups ``first:last``.

        Returns
        -------
        values, validity, too_large
            Bytes of width each, validity bits as bytes (None: all are valid), and the first group
            whose result does not fit its type, or -1; such a result is null here.
        """
        if not 0 <= first <= last <= self.store.groups:
            raise ValueError(f"groups {first}:{last} are outside 0:{self.store.groups}")
        cdef int64_t group, nulls = 0, too_large = -1
        cdef object made = PyBytes_FromStringAndSize(NULL, (last - first) * self.width)
        cdef object validity = PyBytes_FromStringAndSize(NULL, (last - first + 7) // 8)
        cdef char* out = PyBytes_AS_STRING(made)
        cdef uint8_t* bits = <uint8_t*>PyBytes_AS_STRING(validity)
        cdef Outcome outcome
        memset(bits, 0, (last - first + 7) // 8)
        with nogil:
            for group in range(first, last):
                outcome = self.result(group, out)
                if outcome == VALUE:
                    bits[(group - first) >> 3] |= 1 << ((group - first) & 7)
                else:
                    memset(out, 0, self.width)
                    nulls += 1
                    if outcome == TOO_LARGE and too_large < 0:
                        too_large = group
                out += self.width
        return made, validity if nulls else None, too_large

    cdef void add(self, const int64_t* ids, int64_t start, int64_t stop) noexcept nogil:
        pass

    cdef void take_back(self, const int64_t* ids, int64_t start, int64_t stop) noexcept nogil:
        pass

    cdef Outcome result(self, int64_t group, char* out) noexcept nogil:
        return NO_VALUE


@cython.final
cdef class Counts(Records):
    """How many rows, or values that are not null.

    Parameters
    ----------
    width : int
        Bytes of a result: 8 for int64, 2 for int16.
    """

    def __cinit__(self, int width=8):
        if width != 8 and width != 2:
            raise ValueError(f"counts have 8 or 2 bytes, not {width}")
        self.record_bytes, self.width = 8, width

    cdef void add(self, const int64_t* ids, int64_t start, int64_t stop) noexcept nogil:
        cdef char* records = self.store.memory + self.offset
        cdef int64_t row, total = 0, stride = self.store.stride
        cdef const View* view = &self.view
        if self.weighted:
            for row in range(start, stop):
                (<int64_t*>(records + (ids[row - start] * stride if ids != NULL else 0)))[0] += (
                    count_at(&self.counts, row))
        elif view.kind == Kind.NULLS:
            return
        elif ids == NULL:
            if view.validity == NULL:
                total = stop - start
            else:
                for row in range(start, stop):
                    total += is_valid(view, row)
            (<int64_t*>records)[0] += total
        elif view.validity == NULL:
            for row in range(start, stop):
                (<int64_t*>(records + ids[row - start] * stride))[0] += 1
        else:
            for row in range(start, stop):
                (<int64_t*>(records + ids[row - start] * stride))[0] += is_valid(view, row)

    cdef Outcome result(self, int64_t group, char* out) noexcept nogil:
        cdef int64_t count = (<int64_t*>self.record(group))[0]
        if self.width == 2:
            (<int16_t*>out)[0] = <int16_t>count
            return VALUE if count <= 0x7FFF else TOO_LARGE
        (<int64_t*>out)[0] = count
        return VALUE

    cdef int64_t run(self, const int64_t* ids, int64_t start, int64_t stop, char* out,
                     uint8_t* valid) noexcept nogil:
        cdef int64_t row
        cdef int64_t* record = <int64_t*>self.record(0)
        if self.weighted or self.view.kind == Kind.NULLS or self.width != 8:
            return Records.run(self, ids, start, stop, out, valid)
        memset(valid, VALUE, stop - start)
        for row in range(start, stop):
            if ids != NULL:
                record = <int64_t*>self.record(ids[row - start])
                if row + AHEAD < stop:
                    __builtin_prefetch(self.record(ids[row - start + AHEAD]))
            record[0] += is_valid(&self.view, row)
            (<int64_t*>out)[row - start] = record[0]
        return stop


def newcomers(const int64_t[::1] ids not None, int64_t start, int64_t stop, int64_t known):
    """The rows of ``ids[start:stop]`` that are the first of their group.

    Parameters
    ----------
    ids : int64
        Dense group numbers: a new group has the number of groups before it.
    known : int
        Groups there were before row ``start``.

    Returns
    -------
    rows : bytearray
        int64 indices into ``ids``.
    """
    if not 0 <= start <= stop <= ids.shape[0]:
        raise ValueError(f"rows {start}:{stop} are outside 0:{ids.shape[0]}")
    cdef int64_t row, first = known
    for row in range(start, stop):
        if ids[row] >= known:
            known = ids[row] + 1
    made = bytearray(8 * (known - first))
    cdef char* bytes = made
    cdef int64_t* rows = <int64_t*>bytes
    known = first
    for row in range(start, stop):
        if ids[row] >= known:
            rows[known - first] = row
            known = ids[row] + 1
    return made
