# cython: language_level=3
"""Rows of the build side of a join, by the group of their key, and the pairs they make.

    group   first   last                row     next
      0       0       3      chain:       0       3
      1       1       1                   1      -1
      2       2       2                   2      -1
                                          3      -1

Rows are numbered as they come. The rows of a group are a chain in that order, which grows row by
row: there is nothing to be done when the build side ends. Where no key came twice, a row's number
is its group's, and no chain is read at all.

Places are those of ``gathering``, for rows kept in chunks of CHUNK_ROWS.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

cimport cython

from ambergate_native.gate cimport BLOCK_ROWS, Gate

from ambergate_native.gate import DONE, FULL, STOPPED

cdef enum:
    CHUNK_BITS = 16
    MOST_ROWS = 0x7FFFFFFF

CHUNK_ROWS = 1 << CHUNK_BITS


cdef inline int64_t place_of(int64_t row) noexcept nogil:
    return (row >> CHUNK_BITS) << 32 | (row & ((1 << CHUNK_BITS) - 1))


@cython.final
cdef class RowsByGroup:
    """The build rows of each group, in the order they came.

    Attributes
    ----------
    rows, groups : int
        Rows added, and groups they are of.
    unique : bool
        No group has two rows.
    """

    cdef int32_t* first
    cdef int32_t* last
    cdef uint8_t* matched
    cdef int32_t* next
    cdef int64_t group_room, row_room
    cdef readonly int64_t rows, groups

    def __dealloc__(self):
        free(self.first)
        free(self.last)
        free(self.matched)
        free(self.next)

    @property
    def unique(self):
        """Whether no group has two rows."""
        return self.rows == self.groups

    @property
    def nbytes(self):
        """Bytes of memory held."""
        return 9 * self.group_room + 4 * self.row_room

    cdef int reserve(self, int64_t rows, int64_t groups) except -1:
        cdef void* memory
        if rows > MOST_ROWS:
            raise OverflowError(f"the build side of one task has more than {MOST_ROWS} rows; "
                                "join with more tasks, or swap the sides")
        if rows > self.row_room:
            self.row_room = max(rows, 2 * self.row_room)
            memory = realloc(self.next, 4 * self.row_room)
            if memory == NULL:
                raise MemoryError(f"no room for {rows} rows of the build side")
            self.next = <int32_t*>memory
        if groups > self.group_room:
            groups = max(groups, 2 * self.group_room)
            memory = realloc(self.first, 4 * groups)
            if memory != NULL:
                self.first = <int32_t*>memory
                memory = realloc(self.last, 4 * groups)
            if memory != NULL:
                self.last = <int32_t*>memory
                memory = realloc(self.matched, groups)
            if memory == NULL:
                raise MemoryError(f"no room for {groups} keys of the build side")
            self.matched = <uint8_t*>memory
            self.group_room = groups
        return 0

    def add(self, const int64_t[::1] ids, int64_t start, int64_t stop):
        """Add the next rows of the build side, of the groups ``ids[start:stop]``.

        Parameters
        ----------
        ids : int64, shape (>= stop,)
            Dense group numbers: a new group has the number of groups before it.

        Raises
        ------
        ValueError
            The rows are outside ``ids``, or a group is skipped; nothing was added then.
        OverflowError
            More than 2**31 - 1 rows.
        """
        if not 0 <= start <= stop <= ids.shape[0]:
            raise ValueError(f"rows {start}:{stop} are outside 0:{ids.shape[0]}")
        cdef int64_t row, group, groups = self.groups
        for row in range(start, stop):
            if not 0 <= ids[row] <= groups:
                raise ValueError(f"group {ids[row]} of row {row} is not one of 0 to {groups}")
            groups += ids[row] == groups
        self.reserve(self.rows + stop - start, groups)
        with nogil:
            for row in range(start, stop):
                group = ids[row]
                if group == self.groups:
                    self.groups += 1
                    self.first[group] = <int32_t>self.rows
                    self.matched[group] = 0
                else:
                    self.next[self.last[group]] = <int32_t>self.rows
                self.last[group] = <int32_t>self.rows
                self.next[self.rows] = -1
                self.rows += 1

    def matches(self, int64_t group):
        """Rows of ``group``; 0 where it is negative."""
        cdef int64_t count = 0, row
        if not -1 <= group < self.groups:
            raise ValueError(f"group {group} is not one of 0 to {self.groups - 1}")
        row = self.first[group] if group >= 0 else -1
        while row >= 0:
            count += 1
            row = self.next[row]
        return count

    def probe(self, const int64_t[::1] ids, int64_t start, int64_t stop, Gate gate,
              int64_t[::1] left, int64_t[::1] right, int64_t filled, int64_t room,
              bint keep_left, bint mark, int64_t base=0):
        """Pair probe rows with the build rows of their groups.

        Parameters
        ----------
        ids : int64, shape (>= stop,)
            The group of each probe row; negative where its key is not in the build side.
        start, stop : int
            The probe rows.
        gate : Gate
            Looked at before each block, which it bounds.
        left, right : int64, shape (>= room,)
            Filled from ``filled`` on with pairs: probe row, place of the build row (-1: none).
        filled, room : int
            Pairs there already, and the most there may be.
        keep_left : bool
            A probe row without a match makes one pair with no build row.
        mark : bool
            Remember which groups had a match.
        base : int
            Number of the probe row whose group is ``ids[0]``.

        Returns
        -------
        status, cursor, filled, straight
            FULL: the pairs of row ``cursor`` did not fit, none of them is there. ``straight``:
            each row made exactly one pair.

        Raises
        ------
        ValueError
            The rows are outside ``ids``, or the buffers are shorter than ``room``.
        """
        if not 0 <= start <= stop <= ids.shape[0]:
            raise ValueError(f"rows {start}:{stop} are outside 0:{ids.shape[0]}")
        if not 0 <= filled <= room <= min(left.shape[0], right.shape[0]):
            raise ValueError(f"{filled} pairs of {room} in buffers of {left.shape[0]} and "
                             f"{right.shape[0]}")
        cdef int64_t row = start, end, group, before, build
        cdef bint full = False, straight = True, unique = self.rows == self.groups
        with nogil:
            while row < stop and not full:
                end = gate.bound(row, min(row + BLOCK_ROWS, stop))
                if end == row:
                    break
                while row < end:
                    group = ids[row]
                    if group < 0 or group >= self.groups:
                        if keep_left:
                            if filled == room:
                                full = True
                                break
                            left[filled] = base + row
                            right[filled] = -1
                            filled += 1
                        else:
                            straight = False
                        row += 1
                        continue
                    if unique:
                        if filled == room:
                            full = True
                            break
                        left[filled] = base + row
                        right[filled] = place_of(group)
                        filled += 1
                    else:
                        before = filled
                        build = self.first[group]
                        while build >= 0:
                            if filled == room:
                                full = True
                                break
                            left[filled] = base + row
                            right[filled] = place_of(build)
                            filled += 1
                            build = self.next[build]
                        if full:
                            filled = before
                            break
                        if filled != before + 1:
                            straight = False
                    if mark:
                        self.matched[group] = 1
                    row += 1
        return DONE if row == stop else FULL if full else STOPPED, row, filled, straight

    def unmatched(self, int64_t[::1] places, int64_t group, int64_t row):
        """Fill ``places`` with build rows of groups that had no match, group by group.

        Parameters
        ----------
        places : int64, shape (any,)
        group, row : int
            Where to go on: 0, -1 at first, then what the call before returned.

        Returns
        -------
        count, group, row
            Places written, and where to go on; all are given when ``group == groups``.
        """
        if group < 0 or (group < self.groups and not -1 <= row < self.rows):
            raise ValueError(f"there is no row {row} of group {group}")
        cdef int64_t count = 0, room = places.shape[0], groups = self.groups
        with nogil:
            while group < groups and count < room:
                if row < 0:
                    if self.matched[group]:
                        group += 1
                        continue
                    row = self.first[group]
                while row >= 0 and count < room:
                    places[count] = place_of(row)
                    count += 1
                    row = self.next[row]
                if row < 0:
                    group += 1
        return count, group, row

    def matched_groups(self):
        """A byte for each group: 1 where it had a match."""
        return (<char*>self.matched)[:self.groups] if self.groups else b""

    def mark_groups(self, bytes matched):
        """Take what ``matched_groups`` gave."""
        if len(matched) != self.groups:
            raise ValueError(f"marks of {len(matched)} groups for {self.groups}")
        if self.groups:
            memcpy(self.matched, <const char*>matched, self.groups)


def select_present(const int64_t[::1] ids, bint present, int64_t start, int64_t stop,
                   int64_t[::1] selected, int64_t base=0):
    """Write to ``selected`` the rows of ``start:stop`` whose group is (not) in the build side.

    Parameters
    ----------
    ids : int64, shape (>= stop,)
        Negative where the key is not in the build side.
    present : bool
        True: rows with a group (semi join); False: rows without (anti join).
    selected : int64, shape (>= stop - start,)
    base : int
        Number of the row whose group is ``ids[0]``.

    Returns
    -------
    count : int
    """
    if not 0 <= start <= stop <= ids.shape[0]:
        raise ValueError(f"rows {start}:{stop} are outside 0:{ids.shape[0]}")
    if selected.shape[0] < stop - start:
        raise ValueError(f"selected holds {selected.shape[0]} of {stop - start} rows")
    cdef int64_t row, count = 0
    with nogil:
        for row in range(start, stop):
            if (ids[row] >= 0) == present:
                selected[count] = base + row
                count += 1
    return count
