# The loop of ``grouping``. Inline, so that each kind of key has a loop of its own.

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from ambergate_native.gate cimport Gate
from ambergate_native.grouping cimport LONG_TEXT, ROWS, Block, GroupTable, Slot, same_long_text


cdef inline int64_t probe(GroupTable table, Gate gate, int64_t row, int64_t rows, int64_t* ids,
                          bint insert, bint nulls_match, bint has_texts) noexcept nogil:
    """Look up, or insert, the keys of the block; returns how many rows the gate let through."""
    cdef Block* block = table.block
    cdef Slot* slots = table.slots
    cdef int64_t mask = table.mask, count = table.count, index, at, group, size, first
    cdef uint64_t word
    cdef bint has_nulls = block.has_nulls
    for index in range(rows):
        if gate.bound(row + index, row + index + 1) == row + index:
            rows = index
            break
        if has_nulls and block.nulls[index] and (table.form != ROWS or not nulls_match):
            if insert and table.null_group < 0:
                table.null_group = count
                table.words[count] = 0
                table.starts[count + 1] = table.starts[count]
                count += 1
            ids[index] = table.null_group if nulls_match else -1
            continue
        word = block.words[index]
        at = block.hashes[index] >> table.shift
        while True:
            group = slots[at].group
            if group < 0:
                if insert:
                    group = count
                    slots[at].word, slots[at].group = word, group
                    table.words[group] = word
                    size = block.sizes[index] if has_texts else 0
                    table.starts[group + 1] = table.starts[group] + size
                    if size:
                        memcpy(table.arena + table.starts[group], block.texts[index], size)
                    count += 1
                break
            if slots[at].word == word:
                if not has_texts or word < LONG_TEXT:
                    break
                first, size = table.starts[group], block.sizes[index]
                if (table.starts[group + 1] - first == size
                        and same_long_text(table.arena + first, block.texts[index], size)):
                    break
            at = (at + 1) & mask
        ids[index] = group
    table.count = count
    return rows
