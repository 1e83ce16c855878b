# Blocks of keys for ``grouping``: values, texts, or whole rows. Inline, as loops over them are hot.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy, memset

from ambergate_native.columns cimport Column, Kind
from ambergate_native.grouping cimport Block, View, double_word, float_word, text_word


cdef inline View view_of(Column column):
    cdef View view
    view.kind, view.width = column.kind, column.width
    view.offset, view.length, view.validity = column.offset, column.length, column.validity
    view.values, view.bytes = <const uint8_t*>column.values, column.bytes
    return view


cdef inline bint is_text(Kind kind) noexcept nogil:
    return (kind == Kind.STRING or kind == Kind.LARGE_STRING or kind == Kind.BINARY
            or kind == Kind.LARGE_BINARY)


cdef inline bint is_valid(const View* view, int64_t row) noexcept nogil:
    return view.validity == NULL or (view.validity[(view.offset + row) >> 3]
                                     >> ((view.offset + row) & 7)) & 1


cdef inline const uint8_t* text_at(const View* view, int64_t row, int64_t* size) noexcept nogil:
    """The bytes of a row: of its text, or of its value of fixed width."""
    cdef int64_t at = view.offset + row, first
    if not is_text(view.kind):
        size[0] = view.width
        return view.values + at * view.width
    if view.width == 4:
        first = (<const int32_t*>view.values)[at]
        size[0] = (<const int32_t*>view.values)[at + 1] - first
    else:
        first = (<const int64_t*>view.values)[at]
        size[0] = (<const int64_t*>view.values)[at + 1] - first
    return view.bytes + first


cdef inline const uint8_t* texts_end(const View* view) noexcept nogil:
    """Where the memory of the texts of a column ends, as far as the column tells."""
    cdef int64_t size
    if view.length == 0:
        return view.bytes
    return text_at(view, view.length - 1, &size) + size


cdef inline void fill_nulls(const View* view, int64_t start, int64_t rows,
                            Block* block) noexcept nogil:
    cdef int64_t row
    cdef uint8_t any = 0
    if view.validity == NULL:
        return
    for row in range(rows):
        block.nulls[row] = not is_valid(view, start + row)
        any |= block.nulls[row]
    block.has_nulls = any


cdef inline uint64_t value_word(const View* view, int64_t row) noexcept nogil:
    """The word of a value of at most 8 bytes."""
    cdef int64_t at = view.offset + row
    if view.kind == Kind.FLOAT64:
        return double_word((<const double*>view.values)[at])
    if view.kind == Kind.FLOAT32:
        return float_word((<const float*>view.values)[at])
    if view.width == 8:
        return (<const uint64_t*>view.values)[at]
    if view.width == 4:
        return (<const uint32_t*>view.values)[at]
    if view.width == 2:
        return (<const uint16_t*>view.values)[at]
    if view.width == 1:
        return view.values[at]
    return (view.values[at >> 3] >> (at & 7)) & 1


cdef inline void fill_words(const View* view, int64_t start, int64_t rows,
                            Block* block) noexcept nogil:
    """The words of a column of values of at most 8 bytes."""
    cdef int64_t row
    cdef const void* values = view.values + (view.offset + start) * view.width
    fill_nulls(view, start, rows, block)
    # a loop for each kind that is common, so that it has no branch
    if view.kind == Kind.FLOAT64:
        for row in range(rows):
            block.words[row] = double_word((<const double*>values)[row])
    elif view.width == 8:
        memcpy(block.words, values, rows * 8)
    elif view.width == 4 and view.kind != Kind.FLOAT32:
        for row in range(rows):
            block.words[row] = (<const uint32_t*>values)[row]
    else:
        for row in range(rows):
            block.words[row] = value_word(view, start + row)


cdef inline int64_t fill_texts(const View* view, int64_t start, int64_t rows,
                               Block* block) noexcept nogil:
    """The words, places and sizes of a column of texts; returns the bytes of all."""
    cdef int64_t row, size = 0, total = 0
    cdef const uint8_t* end
    cdef const uint8_t* text
    fill_nulls(view, start, rows, block)
    end = texts_end(view) if is_text(view.kind) else NULL
    for row in range(rows):
        text = text_at(view, start + row, &size)
        block.texts[row], block.sizes[row] = text, size
        if block.has_nulls and block.nulls[row]:
            # what lies under a null is anything, and no key
            block.sizes[row], block.words[row] = 0, 0
            continue
        # without the end, a size below 8 is read byte by byte
        block.words[row] = text_word(text, size, end if end != NULL else text)
        total += size
    return total


cdef inline int header_size(int columns) noexcept nogil:
    """Bytes before the values of an encoded row: a bit for each column, set where it is null."""
    return (columns + 7) >> 3


cdef inline int64_t fixed_size(const View* view) noexcept nogil:
    """Bytes of a value in an encoded row; of a text, those of its size."""
    if is_text(view.kind):
        return 4
    return 1 if view.kind == Kind.BOOL else view.width


cdef inline int64_t skip_value(const View* view, const uint8_t* at) noexcept nogil:
    """Bytes that a column's value takes in an encoded row."""
    cdef uint32_t size
    if not is_text(view.kind):
        return fixed_size(view)
    memcpy(&size, at, 4)
    return 4 + <int64_t>size


cdef inline void encode_nulls(const View* view, int index, int64_t start, int64_t rows,
                              uint8_t* out, Block* block, const int64_t* firsts) noexcept nogil:
    cdef int64_t row
    if view.kind != Kind.NULLS and view.validity == NULL:
        return
    for row in range(rows):
        if view.kind == Kind.NULLS or not is_valid(view, start + row):
            out[firsts[row] + (index >> 3)] |= 1 << (index & 7)
            block.nulls[row] = 1
            block.has_nulls = True


cdef inline void encode_column(const View* view, int64_t start, int64_t rows, uint8_t* out,
                               Block* block) noexcept nogil:
    """Write a value of each row at the row's cursor; zeros, or a text of no size, for null."""
    cdef int64_t row, size, width = fixed_size(view), at = view.offset + start
    cdef int64_t* cursors = block.cursors
    cdef uint64_t word
    cdef uint32_t told
    cdef const uint8_t* text
    if view.kind == Kind.NULLS:
        return
    if is_text(view.kind):
        for row in range(rows):
            size = 0
            if is_valid(view, start + row):
                text = text_at(view, start + row, &size)
                memcpy(out + cursors[row] + 4, text, size)
            told = <uint32_t>size
            memcpy(out + cursors[row], &told, 4)
            cursors[row] += 4 + size
        return
    # a loop for each width that is common, so that it copies by plain stores
    if view.kind == Kind.FLOAT32 or view.kind == Kind.FLOAT64 or view.kind == Kind.BOOL:
        for row in range(rows):
            word = value_word(view, start + row)
            memcpy(out + cursors[row], &word, width)
    elif width == 8:
        for row in range(rows):
            memcpy(out + cursors[row], view.values + 8 * (at + row), 8)
    elif width == 4:
        for row in range(rows):
            memcpy(out + cursors[row], view.values + 4 * (at + row), 4)
    else:
        for row in range(rows):
            memcpy(out + cursors[row], view.values + width * (at + row), width)
    if view.validity != NULL:
        for row in range(rows):
            if not is_valid(view, start + row):
                memset(out + cursors[row], 0, width)
    for row in range(rows):
        cursors[row] += width


cdef inline int64_t encode_rows(const View* views, int columns, int64_t start, int64_t rows,
                                Block* block, uint8_t** memory, int64_t* room) noexcept nogil:
    """Encode rows as texts, and fill the block with those; returns their bytes, -1: no memory."""
    cdef int64_t row, size, total, fixed = header_size(columns)
    cdef int64_t firsts[257]
    cdef int column
    cdef void* made
    for column in range(columns):
        fixed += fixed_size(&views[column])
    for row in range(rows):
        block.sizes[row] = fixed
    for column in range(columns):
        if is_text(views[column].kind):
            for row in range(rows):
                if is_valid(&views[column], start + row):
                    text_at(&views[column], start + row, &size)
                    block.sizes[row] += size
    total = 0
    for row in range(rows):
        firsts[row] = total
        block.cursors[row] = total + header_size(columns)
        total += block.sizes[row]
    if total + 8 > room[0]:
        made = realloc(memory[0], 2 * (total + 8))
        if made == NULL:
            return -1
        memory[0], room[0] = <uint8_t*>made, 2 * (total + 8)
    memset(block.nulls, 0, rows)
    for row in range(rows):
        memset(memory[0] + firsts[row], 0, header_size(columns))
    for column in range(columns):
        encode_nulls(&views[column], column, start, rows, memory[0], block, firsts)
        encode_column(&views[column], start, rows, memory[0], block)
    for row in range(rows):
        block.texts[row] = memory[0] + firsts[row]
        block.words[row] = text_word(block.texts[row], block.sizes[row], memory[0] + room[0])
    return total
