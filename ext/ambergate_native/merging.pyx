# cython: language_level=3
"""The merge of many sorted runs.

Runs play in a tree of losers:

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

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

cimport cython

from ambergate_native.gate cimport BLOCK_ROWS, Gate
from ambergate_native.ordering cimport EXHAUSTED, VALUE, Keys, compare_bytes

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
