# cython: language_level=3
"""Rows to groups: dense numbers for keys, in the order in which keys first come.

    slots (a power of two)           groups
    +----------------+-------+       +----------------+--------+
    | word           | group |  -->  | word           | start  |  --> arena: bytes of texts and rows
    +----------------+-------+       +----------------+--------+

A key is a 64-bit word: the bits of a value of at most 8 bytes, or the bytes of a text of at most
7. A longer text, and a row of several values (which is encoded as one text), has a hash for its
word, and its bytes in the arena are compared. Open addressing, linear probing, at most 0.6 full.

Rows are taken in blocks: the words of a block are computed and their slots prefetched before the
first of them is looked for. There is room for a whole block before it begins, so that nothing can
fail between two rows. Groups are removed in the reverse order of their coming only, which leaves
no gap in a chain of slots.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from ambergate_native.gate cimport BLOCK_ROWS, Gate
from ambergate_native.keys cimport (
    encode_rows, fill_texts, fill_words, header_size, is_text, skip_value, view_of,
)

from ambergate_native.probing cimport probe

from ambergate_native.gate import DONE, STOPPED

cdef extern from *:
    void __builtin_prefetch(const void* memory) noexcept nogil

cdef enum:
    FEWEST_SLOTS = 1024
    PREFETCHED_SLOTS = 1 << 14           # a smaller table is in the cache anyway


cdef Form form_of(Column column) except *:
    if column.kind == Kind.NULLS:
        return NOTHING
    if column.kind in (Kind.STRING, Kind.LARGE_STRING, Kind.BINARY, Kind.LARGE_BINARY, Kind.FIXED,
                       Kind.DECIMAL128):
        return TEXT
    if column.kind in (Kind.OTHER, Kind.LIST, Kind.LARGE_LIST):
        raise TypeError("values of this type cannot be keys")
    return WORD


cdef class GroupTable:
    """Groups of rows with equal keys.

    Null is a key of its own, all NaNs are one key, and so are 0.0 and -0.0.

    Parameters
    ----------
    samples : list of objects with ``__arrow_c_array__``
        An array (empty will do) of the type of each key column.

    Attributes
    ----------
    count : int
        Groups, numbered from 0 in the order in which they came.

    Raises
    ------
    TypeError
        Values of a column's type cannot be keys.
    """

    def __cinit__(self, list samples):
        cdef Column column
        cdef int index
        if not samples:
            raise ValueError("a key needs at least one column")
        self.columns = len(samples)
        self.views = <View*>calloc(self.columns, sizeof(View))
        self.block = <Block*>malloc(sizeof(Block))
        if self.views == NULL or self.block == NULL:
            raise MemoryError()
        for index, sample in enumerate(samples):
            column = Column(sample)
            self.form = form_of(column)
            self.views[index] = view_of(column)
        if self.columns > 1:
            self.form = ROWS
        self.null_group = -1
        if not self.rehash(FEWEST_SLOTS) or not self.reserve(BLOCK_ROWS, 0):
            raise MemoryError()

    def __dealloc__(self):
        free(self.views)
        free(self.block)
        free(self.slots)
        free(self.words)
        free(self.starts)
        free(self.arena)
        free(self.rows)

    def assign(self, list columns not None, int64_t start, int64_t stop, Gate gate not None,
               int64_t[::1] ids not None):
        """Write the group of each row to ``ids``; a key not seen before makes a new group.

        Parameters
        ----------
        columns : list of pyarrow.Array
            The key columns, of the types the table was made for.
        start, stop : int
            The rows.
        gate : Gate
            Looked at before each row.
        ids : int64, shape (>= stop - start,)
            Filled from 0: ``ids[row - start]``.

        Returns
        -------
        status, cursor
            DONE, or STOPPED at the row that was not started.

        Raises
        ------
        TypeError, ValueError
            The columns are not those of the table, the rows are outside them, or ``ids`` is short.
        MemoryError
            The rows before the block at hand have their groups then.
        """
        return self.look(columns, start, stop, gate, ids, True, True)

    def find(self, list columns not None, int64_t start, int64_t stop, Gate gate not None,
             int64_t[::1] ids not None, bint nulls_match=False):
        """Write the group of each row to ``ids``, -1 where there is none; makes no group.

        As ``assign``. A row with a null in any key column finds nothing, unless ``nulls_match``.
        """
        return self.look(columns, start, stop, gate, ids, False, nulls_match)

    cdef list begin(self, list columns, int64_t start, int64_t stop):
        """Check the key columns, and look at them from now on; the result keeps them alive."""
        cdef list kept = []
        cdef Column column
        cdef int index
        if len(columns) != self.columns:
            raise ValueError(f"{len(columns)} key columns, expected {self.columns}")
        for index in range(self.columns):
            column = Column(columns[index])
            if column.kind != self.views[index].kind or column.width != self.views[index].width:
                raise TypeError(f"key column {index} is of type "
                                f"{getattr(columns[index], 'type', '?')}, which is not the table's")
            if not 0 <= start <= stop <= column.length:
                raise ValueError(f"rows {start}:{stop} are outside 0:{column.length}")
            kept.append(column)
        for index in range(self.columns):
            self.views[index] = view_of(kept[index])
        return kept

    cdef int64_t take(self, Gate gate, int64_t row, int64_t rows, int64_t* ids, bint insert,
                      bint nulls_match) noexcept nogil:
        """Groups of a block of rows: how many the gate let through, or -1 for want of memory."""
        cdef int64_t bytes = self.prepare(row, rows), at
        if bytes < 0 or (insert and not self.reserve(rows, bytes)):
            return -1
        if self.mask >= PREFETCHED_SLOTS:
            for at in range(rows):
                __builtin_prefetch(&self.slots[self.block.hashes[at] >> self.shift])
        if self.form == WORD:
            return probe(self, gate, row, rows, ids, insert, nulls_match, False)
        return probe(self, gate, row, rows, ids, insert, nulls_match, True)

    cdef tuple look(self, list columns, int64_t start, int64_t stop, Gate gate, int64_t[::1] ids,
                    bint insert, bint nulls_match):
        cdef list _kept = self.begin(columns, start, stop)
        if ids.shape[0] < stop - start:
            raise ValueError(f"ids holds {ids.shape[0]} of {stop - start} rows")
        cdef int64_t row = start, rows, done = 0
        cdef int64_t* out = &ids[0] if stop > start else NULL
        with nogil:
            while row < stop:
                rows = gate.bound(row, min(row + BLOCK_ROWS, stop)) - row
                done = self.take(gate, row, rows, out + (row - start), insert, nulls_match)
                if done > 0:
                    row += done
                if done < rows or rows == 0:
                    break
        if done < 0:
            raise MemoryError(f"no room for more than {self.count} groups")
        return (DONE if row == stop else STOPPED), row

    cdef int64_t prepare(self, int64_t start, int64_t rows) noexcept nogil:
        """Fill the block with the keys of some rows; returns the bytes of all, -1: no memory."""
        cdef Block* block = self.block
        cdef int64_t bytes = 0, row
        block.has_nulls = False
        if self.form == WORD:
            fill_words(&self.views[0], start, rows, block)
        elif self.form == TEXT:
            bytes = fill_texts(&self.views[0], start, rows, block)
        elif self.form == ROWS:
            bytes = encode_rows(self.views, self.columns, start, rows, block, &self.rows,
                                &self.rows_room)
        else:
            block.has_nulls = True
            memset(block.nulls, 1, rows)
            memset(block.words, 0, rows * sizeof(uint64_t))
        for row in range(rows):
            block.hashes[row] = word_hash(block.words[row])
        return bytes

    cdef bint reserve(self, int64_t groups, int64_t bytes) noexcept nogil:
        """Make room for more groups and for more bytes of them; False: there is no memory."""
        cdef int64_t slots = self.mask + 1, room
        cdef void* memory
        groups += self.count
        if groups > self.room:
            room = max(groups, 2 * self.room)
            memory = move_to_room(self.words, 8 * self.count, 8 * room)
            if memory == NULL:
                return False
            self.words = <uint64_t*>memory
            memory = realloc(self.starts, (room + 1) * sizeof(int64_t))
            if memory == NULL:
                return False
            self.starts = <int64_t*>memory
            if self.room == 0:
                self.starts[0] = 0
            self.room = room
        if bytes + self.starts[self.count] > self.arena_room:
            room = max(bytes + self.starts[self.count], 2 * self.arena_room)
            memory = realloc(self.arena, room)
            if memory == NULL:
                return False
            self.arena = <uint8_t*>memory
            self.arena_room = room
        while 5 * groups > 3 * slots:
            slots *= 2
        return slots == self.mask + 1 or self.rehash(slots)

    cdef bint rehash(self, int64_t slots) noexcept nogil:
        """Put all groups into a table of so many slots, in the order of their coming."""
        cdef Slot* made = <Slot*>move_to_room(NULL, 0, slots * sizeof(Slot))
        cdef int64_t group, at, mask = slots - 1
        cdef int shift = 64
        while slots > 1 << (64 - shift):
            shift -= 1
        if made == NULL:
            return False
        memset(made, 0xFF, slots * sizeof(Slot))
        for group in range(self.count):
            if group == self.null_group:
                continue
            at = word_hash(self.words[group]) >> shift
            while made[at].group >= 0:
                at = (at + 1) & mask
            made[at].word, made[at].group = self.words[group], group
        free(self.slots)
        self.slots, self.mask, self.shift = made, mask, shift
        return True

    def truncate(self, int64_t count):
        """Forget the groups from ``count`` on, as if they had not come."""
        cdef int64_t group, at
        if not 0 <= count <= self.count:
            raise ValueError(f"{count} groups are not 0 to {self.count}")
        if count == 0:
            self.clear()
            return
        for group in range(self.count - 1, count - 1, -1):
            if group == self.null_group:
                self.null_group = -1
                continue
            at = word_hash(self.words[group]) >> self.shift
            while self.slots[at].group != group:
                at = (at + 1) & self.mask
            self.slots[at].group = -1
        self.count = count

    def clear(self):
        """Forget all groups; memory is kept for others."""
        memset(self.slots, 0xFF, (self.mask + 1) * sizeof(Slot))
        self.count, self.null_group = 0, -1

    @property
    def nbytes(self):
        """Bytes of memory held."""
        return ((self.mask + 1) * sizeof(Slot) + self.room * 16 + self.arena_room + self.rows_room
                + sizeof(Block))

    # what the groups are

    cdef int check(self, int index, int64_t first, int64_t last) except -1:
        if not 0 <= index < self.columns:
            raise IndexError(f"key column {index} of {self.columns}")
        if not 0 <= first <= last <= self.count:
            raise ValueError(f"groups {first}:{last} are outside 0:{self.count}")
        return 0

    cdef inline bint is_null(self, int index, int64_t group) noexcept nogil:
        if self.form == ROWS:
            return (self.arena[self.starts[group] + (index >> 3)] >> (index & 7)) & 1
        return group == self.null_group

    cdef inline const uint8_t* value(self, int index, int64_t group, int64_t* size) noexcept nogil:
        """The bytes of a key's value; those of a null are zeros or none."""
        cdef const uint8_t* at
        cdef int column
        if self.form == WORD:
            size[0] = 8
            return <const uint8_t*>&self.words[group]
        at = self.arena + self.starts[group]
        if self.form == TEXT:
            size[0] = self.starts[group + 1] - self.starts[group]
            return at
        at += header_size(self.columns)
        for column in range(index):
            at += skip_value(&self.views[column], at)
        size[0] = skip_value(&self.views[index], at)
        if is_text(self.views[index].kind):
            size[0] -= 4
            at += 4
        return at

    def validity(self, int index, int64_t first, int64_t last):
        """Bits of ``first:last`` of a key column, as bytes: 0 where it is null; or None."""
        self.check(index, first, last)
        cdef int64_t group, nulls = 0
        cdef object made = PyBytes_FromStringAndSize(NULL, (last - first + 7) // 8)
        cdef uint8_t* bits = <uint8_t*>PyBytes_AS_STRING(made)
        memset(bits, 0, (last - first + 7) // 8)
        for group in range(first, last):
            if self.is_null(index, group):
                nulls += 1
            else:
                bits[(group - first) >> 3] |= 1 << ((group - first) & 7)
        return made if nulls else None

    def values(self, int index, int64_t first, int64_t last):
        """Values of ``first:last`` of a key column of fixed width as bytes; bits for booleans."""
        self.check(index, first, last)
        cdef int64_t group, width = self.views[index].width, size
        cdef bint bits = width == 0
        cdef object made = PyBytes_FromStringAndSize(
            NULL, (last - first + 7) // 8 if bits else (last - first) * width)
        cdef uint8_t* out = <uint8_t*>PyBytes_AS_STRING(made)
        cdef const uint8_t* value
        memset(out, 0, len(made))
        for group in range(first, last):
            if self.is_null(index, group):
                continue
            value = self.value(index, group, &size)
            if bits:
                out[(group - first) >> 3] |= (value[0] & 1) << ((group - first) & 7)
            else:
                memcpy(out + (group - first) * width, value, width)
        return made

    def texts(self, int index, int64_t first, int64_t last):
        """Offsets, 4 or 8 bytes each, and bytes of ``first:last`` of a key column of texts.

        Raises
        ------
        OverflowError
            The texts do not fit offsets of 4 bytes: ask for fewer groups.
        """
        self.check(index, first, last)
        cdef int64_t group, total = 0, size, at, width = self.views[index].width
        cdef object offsets = PyBytes_FromStringAndSize(NULL, (last - first + 1) * width)
        cdef uint8_t* out = <uint8_t*>PyBytes_AS_STRING(offsets)
        cdef const uint8_t* value
        for group in range(first, last + 1):
            if width == 4:
                (<int32_t*>out)[group - first] = <int32_t>total
            else:
                (<int64_t*>out)[group - first] = total
            if group < last:
                self.value(index, group, &size)
                total += size
        if width == 4 and total > 0x7FFFFFFF:
            raise OverflowError(f"{last - first} keys are longer than 2 GiB together")
        cdef object made = PyBytes_FromStringAndSize(NULL, total)
        out = <uint8_t*>PyBytes_AS_STRING(made)
        at = 0
        for group in range(first, last):
            value = self.value(index, group, &size)
            memcpy(out + at, value, size)
            at += size
        return offsets, made
