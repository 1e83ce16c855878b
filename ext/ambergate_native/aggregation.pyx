# cython: language_level=3
"""Accumulators: one record for each group, updated by the rows of the groups' numbers.

A record begins as zeros. ``update`` takes rows that the grouping has let through already, so it
looks at no gate; ``step`` takes them one by one and writes the value after each. Whether a total
fits its type is told when it is read.
"""

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

cimport cython

from ambergate_native.columns cimport Column, Kind
from ambergate_native.keys cimport is_valid, view_of

cdef class Records:
    """A record for each group; see the classes below.

    Attributes
    ----------
    groups : int
        Groups there are records of.
    width : int
        Bytes of a result.
    """

    def __dealloc__(self):
        free(self.records)

    def reserve(self, int64_t groups):
        """Have a record for each of ``groups`` groups; new ones are empty."""
        cdef void* memory
        cdef int64_t room
        if groups <= self.groups:
            return
        if groups > self.room:
            room = max(groups, 2 * self.room)
            memory = realloc(self.records, room * self.record_bytes)
            if memory == NULL:
                raise MemoryError(f"no room for {groups} groups")
            self.records, self.room = <char*>memory, room
        memset(self.records + self.groups * self.record_bytes, 0,
               (groups - self.groups) * self.record_bytes)
        self.groups = groups

    def truncate(self, int64_t groups):
        """Forget the groups from ``groups`` on."""
        if not 0 <= groups <= self.groups:
            raise ValueError(f"{groups} groups are not 0 to {self.groups}")
        self.groups = groups

    def export(self):
        """All records, as bytes."""
        return PyBytes_FromStringAndSize(self.records, self.groups * self.record_bytes)

    def load(self, bytes records not None):
        """Take what ``export`` gave."""
        cdef int64_t groups = len(records) // self.record_bytes
        if groups * self.record_bytes != len(records):
            raise ValueError(f"{len(records)} bytes are no records of {self.record_bytes} bytes")
        self.truncate(0)
        self.reserve(groups)
        if groups:
            memcpy(self.records, PyBytes_AS_STRING(records), len(records))

    cdef int check_column(self, const View* view) except -1:
        return 0

    cdef View view_of_rows(self, array, const int64_t[::1] ids, int64_t start,
                           int64_t stop) except *:
        """The parts of a column, all arguments checked; ``array`` must stay alive."""
        cdef View view
        memset(&view, 0, sizeof(View))
        if array is not None:
            view = view_of(array)
            self.check_column(&view)
        if not 0 <= start <= stop or (array is not None and stop > view.length):
            raise ValueError(f"rows {start}:{stop} are outside 0:{view.length}")
        if ids is not None and ids.shape[0] < stop - start:
            raise ValueError(f"ids holds {ids.shape[0]} of {stop - start} rows")
        if ids is None and self.groups == 0:
            raise ValueError("there is no group yet")
        return view

    def update(self, const int64_t[::1] ids, array, int64_t start, int64_t stop):
        """Take rows ``start:stop``.

        Parameters
        ----------
        ids : int64, shape (>= stop - start,), or None
            The group of each row, from ``ids[0]`` on; all below ``groups``, which is not checked.
            None: all rows are of group 0.
        array : pyarrow.Array, or None
            The values; None where only rows are counted.

        Raises
        ------
        TypeError, ValueError
            The values are of another type, or the rows are outside; nothing was taken then.
        """
        cdef Column column = None if array is None else Column(array)
        cdef View view = self.view_of_rows(column, ids, start, stop)
        if start == stop:
            return
        cdef const int64_t* first = NULL if ids is None else &ids[0]
        with nogil:
            self.add(&view, first, start, stop)

    def undo(self, const int64_t[::1] ids, array, int64_t start, int64_t stop):
        """Take back rows ``start:stop``, which must have been taken before; for whole sums only."""
        cdef Column column = None if array is None else Column(array)
        cdef View view = self.view_of_rows(column, ids, start, stop)
        if start < stop:
            self.take_back(&view, NULL if ids is None else &ids[0], start, stop)

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
        cdef Column column = None if array is None else Column(array)
        cdef View view = self.view_of_rows(column, ids, start, stop)
        cdef Py_buffer buffer
        cdef int64_t row, nulls = 0, group = 0, at
        cdef Outcome outcome
        PyObject_GetBuffer(values, &buffer, PyBUF_WRITABLE)
        cdef char* out = <char*>buffer.buf
        cdef int64_t size = buffer.len
        PyBuffer_Release(&buffer)
        if size < (stop - start) * self.width or valid.shape[0] < stop - start:
            raise ValueError(f"values or valid are too short for {stop - start} rows")
        with nogil:
            row = start
            while row < stop:
                at = row - start
                if ids is not None:
                    group = ids[at]
                self.add(&view, &group, row, row + 1)
                outcome = self.result(group, out + at * self.width)
                if outcome == TOO_LARGE:
                    self.take_back(&view, &group, row, row + 1)
                    break
                valid[at] = outcome
                nulls += outcome == NO_VALUE
                row += 1
        return row, nulls

    def values(self, int64_t first, int64_t last):
        """The results of groups ``first:last``.

        Returns
        -------
        values, validity, too_large
            Bytes of width each, validity bits as bytes (None: all are valid), and the first group
            whose result does not fit its type, or -1; such a result is null here.
        """
        if not 0 <= first <= last <= self.groups:
            raise ValueError(f"groups {first}:{last} are outside 0:{self.groups}")
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

    cdef void add(self, const View* view, const int64_t* ids, int64_t start,
                  int64_t stop) noexcept nogil:
        pass

    cdef void take_back(self, const View* view, const int64_t* ids, int64_t start,
                        int64_t stop) noexcept nogil:
        pass

    cdef Outcome result(self, int64_t group, char* out) noexcept nogil:
        return NO_VALUE


@cython.final
cdef class Counts(Records):
    """How many rows, or values that are not null; int64."""

    def __cinit__(self):
        self.record_bytes = self.width = 8

    cdef void add(self, const View* view, const int64_t* ids, int64_t start,
                  int64_t stop) noexcept nogil:
        cdef int64_t* counts = <int64_t*>self.records
        cdef int64_t row, total = 0
        if view.kind == Kind.NULLS:
            return
        if ids == NULL:
            for row in range(start, stop):
                total += is_valid(view, row)
            counts[0] += total
        elif view.validity == NULL:
            for row in range(start, stop):
                counts[ids[row - start]] += 1
        else:
            for row in range(start, stop):
                counts[ids[row - start]] += is_valid(view, row)

    cdef Outcome result(self, int64_t group, char* out) noexcept nogil:
        (<int64_t*>out)[0] = (<int64_t*>self.records)[group]
        return VALUE

    def merge(self, const int64_t[::1] ids, counts, int64_t start, int64_t stop):
        """Add counts, an int64 array without nulls, instead of rows."""
        cdef Column column = Column(counts)
        cdef View view = self.view_of_rows(column, ids, start, stop)
        if view.kind != Kind.INT64:
            raise TypeError("counts are int64")
        cdef const int64_t* values = <const int64_t*>view.values + view.offset
        cdef int64_t row
        with nogil:
            for row in range(start, stop):
                (<int64_t*>self.records)[0 if ids is None else ids[row - start]] += values[row]


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
