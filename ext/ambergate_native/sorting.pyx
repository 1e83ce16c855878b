# cython: language_level=3
"""Sorted runs, and the merge of many of them.

A run is at most a few thousand rows: their keys (see ``ordering``) are put in order by a radix sort
of the prefixes, then groups of equal prefixes by their tails. Both steps are stable.

Runs are merged by a tree of losers:

                      winner
                        |
                     loser 1                 inner nodes hold the loser of the match played
                   /         \\               there; the leaf of run r hangs at (runs + r) / 2
             loser 2          loser 3
            /       \\        /       \\
          run 0   run 1    run 2   run 3

A contender is one 128-bit number, (prefix, mark, run), so that a match without tails is a
subtraction and two conditional moves; the run's number makes the merge stable. An exhausted run
has the greatest prefix and a mark above all others. The state between two rows is the tree and one
cursor a run, so the merge can be left and taken up anywhere.

Source: Knuth, The Art of Computer Programming 3, 5.4.1.
"""

from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

cimport cython

from ambergate_native.gate cimport BLOCK_ROWS, Gate
from ambergate_native.ordering cimport EXHAUSTED, VALUE, Keys, compare_bytes, compare_ties, encode

from ambergate_native.gate import DONE, STOPPED

cdef extern from *:
    void __builtin_prefetch(const void*) noexcept nogil

cdef extern from *:
    """
    typedef unsigned __int128 ambergate_contender;

    static inline void ambergate_match(ambergate_contender *winner, ambergate_contender *node)
    {
        ambergate_contender a = *winner, b = *node;
        int lost = b < a;  /* no branch on the data */
        *winner = lost ? b : a;
        *node = lost ? a : b;
    }
    """
    ctypedef unsigned long long contender "ambergate_contender"
    void match "ambergate_match"(contender* winner, contender* node) noexcept nogil


cdef struct Entry:
    uint64_t prefix
    uint32_t row


cdef struct Head:
    # the row at hand of one run
    const uint64_t* prefixes
    const uint8_t* marks
    const uint8_t* tails
    const int64_t* ends
    int64_t stride
    int64_t length
    int64_t cursor


cdef inline const uint8_t* tail_of(const Head* head, int64_t* size) noexcept nogil:
    cdef int64_t first
    if head.ends == NULL:
        size[0] = head.stride
        return head.tails + head.cursor * head.stride
    first = head.ends[head.cursor - 1] if head.cursor else 0
    size[0] = head.ends[head.cursor] - first
    return head.tails + first


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


@cython.final
cdef class Merge:
    """Sorted runs becoming one, row by row.

    Parameters
    ----------
    runs : list of Keys
        The keys of each run, sorted; made with the same columns, directions and places of nulls.

    Attributes
    ----------
    rows : int
        Rows not yet pulled.
    """

    cdef list runs
    cdef Head* heads
    cdef contender* nodes      # nodes[0] is the winner
    cdef uint32_t count
    cdef bint tailed
    cdef readonly int64_t rows

    def __cinit__(self, list runs):
        cdef Keys keys
        cdef uint32_t run = 0
        self.runs = list(runs)
        self.count = <uint32_t>len(self.runs)
        self.heads = <Head*>calloc(max(self.count, 1), sizeof(Head))
        self.nodes = <contender*>calloc(max(self.count, 1), sizeof(contender))
        if self.heads == NULL or self.nodes == NULL:
            raise MemoryError(f"no room to merge {self.count} runs")
        for keys in self.runs:
            self.heads[run].prefixes = keys.prefixes
            self.heads[run].marks = keys.marks
            self.heads[run].tails = keys.tails
            self.heads[run].ends = keys.ends
            self.heads[run].stride = keys.stride
            self.heads[run].length = keys.length
            self.tailed = self.tailed or keys.tails != NULL
            self.rows += keys.length
            run += 1
        self.play_all()

    def __dealloc__(self):
        free(self.heads)
        free(self.nodes)

    cdef inline contender enter(self, uint32_t run) noexcept nogil:
        """What the run sends into the tree."""
        cdef Head* head = &self.heads[run]
        cdef uint64_t prefix = ~<uint64_t>0
        cdef uint64_t mark = EXHAUSTED
        if head.cursor < head.length:
            prefix = head.prefixes[head.cursor]
            mark = VALUE if head.marks == NULL else head.marks[head.cursor]
        return <contender>prefix << 64 | <contender>(mark << 32 | run)

    cdef void match_tails(self, contender* winner, contender* node) noexcept nogil:
        cdef contender a = winner[0], b = node[0]
        cdef uint32_t first = <uint32_t>a, second = <uint32_t>b
        cdef int64_t a_size, b_size
        cdef const uint8_t* a_tail
        cdef const uint8_t* b_tail
        cdef int order
        if a >> 32 != b >> 32 or <uint32_t>(a >> 32) == EXHAUSTED:
            match(winner, node)
            return
        a_tail = tail_of(&self.heads[first], &a_size)
        b_tail = tail_of(&self.heads[second], &b_size)
        order = compare_bytes(a_tail, a_size, b_tail, b_size)
        if order > 0 or (order == 0 and second < first):
            winner[0], node[0] = b, a

    cdef void climb(self, uint32_t run) noexcept nogil:
        """Send the run's row at hand up the tree."""
        cdef contender winner = self.enter(run)
        cdef uint32_t node = (self.count + run) >> 1
        if self.tailed:
            while node:
                self.match_tails(&winner, &self.nodes[node])
                node >>= 1
        else:
            while node:
                match(&winner, &self.nodes[node])
                node >>= 1
        self.nodes[0] = winner

    cdef int play_all(self) except -1:
        """Play the first tournament."""
        cdef uint32_t node
        cdef contender* winners = <contender*>malloc(2 * max(self.count, 1) * sizeof(contender))
        if winners == NULL:
            raise MemoryError(f"no room to merge {self.count} runs")
        for node in range(self.count):
            winners[self.count + node] = self.enter(node)
        node = self.count - 1 if self.count else 0
        while node:
            winners[node], self.nodes[node] = winners[2 * node], winners[2 * node + 1]
            self.match_tails(&winners[node], &self.nodes[node])
            node -= 1
        if self.count:
            self.nodes[0] = winners[1]
        free(winners)
        return 0

    def pull(self, int64_t[::1] places, int64_t start, int64_t stop, Gate gate=None):
        """Write the next rows of the order to ``places[start:stop]``.

        Parameters
        ----------
        places : int64, shape (>= stop,)
            Filled with ``run << 32 | row of the run``.
        start, stop : int
            Where in ``places``; at most ``rows`` of them.
        gate : Gate or None
            Bounds the blocks; None where no gate holds, after the end of the input.

        Returns
        -------
        status, cursor
            DONE with ``cursor == stop``, or STOPPED. The next call goes on after the last row.

        Raises
        ------
        ValueError
            ``places`` is too short, or fewer rows are left.
        """
        if not 0 <= start <= stop <= places.shape[0]:
            raise ValueError(f"places {start}:{stop} are outside 0:{places.shape[0]}")
        if stop - start > self.rows:
            raise ValueError(f"{stop - start} rows asked for, {self.rows} are left to merge")
        cdef int64_t place = start, end
        cdef uint32_t run
        cdef Head* head
        with nogil:
            while place < stop:
                end = min(place + BLOCK_ROWS, stop)
                if gate is not None:
                    end = gate.bound(place, end)
                    if end == place:
                        break
                while place < end:
                    run = <uint32_t>self.nodes[0]
                    head = &self.heads[run]
                    places[place] = <int64_t>run << 32 | head.cursor
                    head.cursor += 1
                    __builtin_prefetch(head.prefixes + head.cursor + 4)
                    self.climb(run)
                    place += 1
            self.rows -= place - start
        return (DONE if place == stop else STOPPED), place
