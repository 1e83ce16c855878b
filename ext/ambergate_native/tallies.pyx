# cython: language_level=3
"""Rows grouped and aggregated in one pass.

A block of rows finds its groups; then each accumulator takes the block, while its group numbers
are at hand. Records of one group lie side by side, and those of a block are prefetched, so that a
row costs two cache misses: one for its key, one for its records.
"""

from libc.stdint cimport int64_t

cimport cython

from ambergate_native.aggregation cimport Records, Store
from ambergate_native.gate cimport BLOCK_ROWS, Gate
from ambergate_native.grouping cimport GroupTable

from ambergate_native.gate import DONE, STOPPED

cdef extern from *:
    void __builtin_prefetch(const void* memory) noexcept nogil

cdef enum:
    LINE_BYTES = 64
    PREFETCHED_BYTES = 1 << 15           # fewer bytes are in the cache anyway
    UNGROUPED_ROWS = 4096                # looked at between two looks at the gate


@cython.final
cdef class Tally:
    """Accumulators over the groups of one table.

    Parameters
    ----------
    table : GroupTable, or None
        None: all rows are of group 0, which is there from the begin.
    records : list of Records
        Without any group yet; from now on their records share memory.
    """

    cdef GroupTable table
    cdef Records first
    cdef Store store
    cdef list records

    def __cinit__(self, GroupTable table, list records not None):
        cdef Records each, before = None
        self.table, self.records, self.store = table, records, Store()
        for each in records:
            if each.store.groups:
                raise ValueError("the records are in use already")
            each.store, each.offset = self.store, self.store.stride
            self.store.stride += each.record_bytes
            if before is None:
                self.first = each
            else:
                before.next = each
            before = each
        if table is None and not self.store.grow(1):
            raise MemoryError()

    def update(self, list keys not None, list values not None, int64_t start, int64_t stop,
               Gate gate not None, int64_t[::1] ids not None):
        """Take rows ``start:stop`` into their groups.

        Parameters
        ----------
        keys : list of pyarrow.Array
            The key columns; not looked at without a table.
        values : list of (pyarrow.Array or None, pyarrow.Array or None)
            For each of the records, values and counts as ``Records.update`` takes them.
        start, stop : int
            The rows.
        gate : Gate
            Looked at before each row; without a table, before each block.
        ids : int64, shape (>= stop - start,)
            Filled from 0 with the group of each row; left as it is without a table.

        Returns
        -------
        status, cursor
            DONE, or STOPPED at the row that was not started.

        Raises
        ------
        TypeError, ValueError
            Columns do not fit, or the rows are outside; no row was taken then.
        MemoryError
            There is no room for more groups; the state is that of an earlier row.
        """
        cdef list kept = []
        cdef Records each
        if len(values) != len(self.records):
            raise ValueError(f"{len(values)} columns of values for {len(self.records)} records")
        if self.table is not None:
            kept.append(self.table.begin(keys, start, stop))
            if ids.shape[0] < stop - start:
                raise ValueError(f"ids holds {ids.shape[0]} of {stop - start} rows")
        for each, (array, counts) in zip(self.records, values):
            kept.append(each.begin(array, counts, start, stop))
        cdef int64_t row = start, rows, done = 0
        cdef int64_t* out = &ids[0] if ids.shape[0] else NULL
        with nogil:
            while row < stop:
                if self.table is None:
                    done = rows = gate.bound(row, min(row + UNGROUPED_ROWS, stop)) - row
                    if rows and self.first is not None:
                        self.first.add_all(NULL, row, row + rows)
                else:
                    rows = gate.bound(row, min(row + BLOCK_ROWS, stop)) - row
                    done = self.block(gate, row, rows, out + (row - start))
                if done > 0:
                    row += done
                if done < rows or rows == 0:
                    break
        if done < 0:
            raise MemoryError(f"no room for more than {self.table.count} groups")
        return (DONE if row == stop else STOPPED), row

    cdef int64_t block(self, Gate gate, int64_t row, int64_t rows, int64_t* ids) noexcept nogil:
        """Take a block; how many rows the gate let through, or -1 for want of memory."""
        cdef int64_t at, line, stride = self.store.stride
        cdef char* memory
        cdef int64_t done = self.table.take(gate, row, rows, ids, True, True)
        if done <= 0 or self.first is None:
            return done
        if not self.store.grow(self.table.count):
            return -1
        if self.store.groups * stride > PREFETCHED_BYTES:
            memory = self.store.memory
            for at in range(done):
                line = 0
                while line < stride:
                    __builtin_prefetch(memory + ids[at] * stride + line)
                    line += LINE_BYTES
        self.first.add_all(ids, row, row + done)
        return done
