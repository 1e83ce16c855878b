# cython: language_level=3
"""Least, greatest, first and last texts of groups; see ``extremes``."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy

cimport cython

from ambergate_native.aggregation cimport Records
from ambergate_native.columns cimport Kind
from ambergate_native.extremes cimport (
    FIRST, HAS_NULL, HAS_VALUE, LEAST, NOTHING_YET, Choice, choice_of, wins,
)
from ambergate_native.grouping cimport View
from ambergate_native.keys cimport is_text, is_valid, text_at

import struct


cdef struct ChosenText:
    uint8_t* text                        # memory of its own
    int64_t size
    int64_t room
    int64_t state


@cython.final
cdef class Texts(Records):
    """Chosen strings or binaries, of fixed size too.

    Parameters
    ----------
    of : "min", "max", "first" or "last"
    """

    cdef Choice choice
    cdef bint failed

    def __cinit__(self, str of):
        self.choice = choice_of(of)
        self.record_bytes, self.width = sizeof(ChosenText), 0

    def __dealloc__(self):
        if self.store is not None:
            self.free_from(0)

    cdef void free_from(self, int64_t groups) noexcept nogil:
        cdef int64_t group
        for group in range(groups, self.store.groups):
            free((<ChosenText*>self.record(group)).text)

    def truncate(self, int64_t groups):
        """Forget the groups from ``groups`` on."""
        if 0 <= groups <= self.store.groups:
            self.free_from(groups)
        Records.truncate(self, groups)

    cdef int check_column(self) except -1:
        if not is_text(self.view.kind) and self.view.kind != Kind.FIXED:
            raise TypeError("values are neither strings nor binaries")
        return 0

    cdef inline void take(self, const View* view, int64_t row, int64_t group) noexcept nogil:
        cdef ChosenText* chosen = <ChosenText*>self.record(group)
        cdef bint valid = is_valid(view, row)
        cdef int64_t size = 0
        cdef int order
        cdef const uint8_t* text = NULL
        cdef void* memory
        if valid:
            text = text_at(view, row, &size)
        if not wins(self.choice, chosen.state, valid):
            if not valid or self.choice == FIRST:
                return
            order = memcmp(text, chosen.text, min(size, chosen.size)) if size and chosen.size else 0
            if order == 0:
                order = (size > chosen.size) - (size < chosen.size)
            if order >= 0 if self.choice == LEAST else order <= 0:
                return
        if size > chosen.room:
            memory = realloc(chosen.text, size)
            if memory == NULL:
                self.failed = True
                return
            chosen.text, chosen.room = <uint8_t*>memory, size
        if size:
            memcpy(chosen.text, text, size)
        chosen.size, chosen.state = size, HAS_VALUE if valid else HAS_NULL

    cdef void add(self, const int64_t* ids, int64_t start, int64_t stop) noexcept nogil:
        cdef int64_t row
        for row in range(start, stop):
            self.take(&self.view, row, ids[row - start] if ids != NULL else 0)

    cdef int check_memory(self) except -1:
        if self.failed:
            raise MemoryError("no room for the chosen texts")
        return 0

    def update(self, const int64_t[::1] ids, array, int64_t start, int64_t stop, counts=None):
        """Take rows ``start:stop``; see ``Records``."""
        Records.update(self, ids, array, start, stop)
        self.check_memory()

    def texts(self, int64_t first, int64_t last, int width):
        """The results of groups ``first:last``.

        Returns
        -------
        offsets, bytes, validity
            Offsets of ``width`` 4 or 8 bytes; validity bits as bytes, None where all are valid.

        Raises
        ------
        OverflowError
            The texts do not fit offsets of 4 bytes: ask for fewer groups.
        """
        if not 0 <= first <= last <= self.store.groups:
            raise ValueError(f"groups {first}:{last} are outside 0:{self.store.groups}")
        cdef Strings strings = Strings(last - first, width)
        cdef int64_t group
        for group in range(first, last):
            strings.append(<ChosenText*>self.record(group))
        return strings.finish()

    def step_texts(self, const int64_t[::1] ids, array, int64_t start, int64_t stop, int width):
        """Take rows ``start:stop`` one by one; the texts of each row's group after it.

        Returns what ``texts`` does, an entry for each row.
        """
        _kept = self.check_rows(array, None, ids, start, stop)
        cdef Strings strings = Strings(stop - start, width)
        cdef int64_t row, group = 0
        for row in range(start, stop):
            if ids is not None:
                group = ids[row - start]
            self.take(&self.view, row, group)
            strings.append(<ChosenText*>self.record(group))
        self.check_memory()
        return strings.finish()

    def export(self):
        """All results, as bytes: sizes (-1: null, -2: no row yet), then the texts."""
        cdef int64_t group
        cdef ChosenText* chosen
        sizes, texts = [], []
        for group in range(self.store.groups):
            chosen = <ChosenText*>self.record(group)
            if chosen.state == HAS_VALUE:
                sizes.append(chosen.size)
                texts.append(PyBytes_FromStringAndSize(<char*>chosen.text, chosen.size))
            else:
                sizes.append(-1 if chosen.state == HAS_NULL else -2)
        return struct.pack(f"={len(sizes) + 1}q", len(sizes), *sizes) + b"".join(texts)

    def load(self, bytes records not None):
        """Take what ``export`` gave."""
        cdef int64_t group, at
        cdef ChosenText* chosen
        groups, = struct.unpack_from("=q", records)
        sizes = struct.unpack_from(f"={groups}q", records, 8)
        self.truncate(0)
        self.reserve(groups)
        at = 8 * (groups + 1)
        for group in range(groups):
            chosen = <ChosenText*>self.record(group)
            if sizes[group] < 0:
                chosen.state = HAS_NULL if sizes[group] == -1 else NOTHING_YET
                continue
            chosen.size = chosen.room = sizes[group]
            chosen.text = <uint8_t*>malloc(max(chosen.size, 1))
            if chosen.text == NULL:
                chosen.size = chosen.room = 0
                raise MemoryError("no room for the chosen texts")
            text = records[at:at + chosen.size]
            memcpy(chosen.text, <const char*><bytes>text, chosen.size)
            chosen.state = HAS_VALUE
            at += chosen.size


@cython.final
cdef class Strings:
    """Texts one after the other, with their offsets and validity, as they grow."""

    cdef object offsets, bits
    cdef char* out
    cdef uint8_t* valid
    cdef uint8_t* bytes
    cdef int64_t count, nulls, size, room
    cdef int width

    def __cinit__(self, int64_t rows, int width):
        self.width = width
        self.offsets = bytearray((rows + 1) * width)
        self.bits = bytearray((rows + 7) // 8)
        self.out, self.valid = self.offsets, <uint8_t*><char*>self.bits

    def __dealloc__(self):
        free(self.bytes)

    cdef int append(self, const ChosenText* chosen) except -1:
        cdef void* memory
        cdef int64_t size = chosen.size if chosen.state == HAS_VALUE else 0
        if self.size + size > self.room:
            memory = realloc(self.bytes, 2 * (self.size + size))
            if memory == NULL:
                raise MemoryError(f"no room for {self.size + size} bytes of texts")
            self.bytes, self.room = <uint8_t*>memory, 2 * (self.size + size)
        if size:
            memcpy(self.bytes + self.size, chosen.text, size)
        self.size += size
        if chosen.state == HAS_VALUE:
            self.valid[self.count >> 3] |= 1 << (self.count & 7)
        else:
            self.nulls += 1
        self.count += 1
        if self.width == 8:
            (<int64_t*>self.out)[self.count] = self.size
        else:
            (<int32_t*>self.out)[self.count] = <int32_t>self.size
        return 0

    cdef tuple finish(self):
        if self.width == 4 and self.size > 0x7FFFFFFF:
            raise OverflowError(f"{self.count} texts are longer than 2 GiB together")
        made = PyBytes_FromStringAndSize(<char*>self.bytes, self.size)
        return bytes(self.offsets), made, bytes(self.bits) if self.nulls else None
