# cython: language_level=3
"""A register machine over blocks of rows: the arithmetic of expressions.

    columns ----load---->  +-----------+  <---- constants, filled once
                           | registers |
    output  <---store----  +-----------+  <---> operations of vector_loops.h

A register holds BLOCK_ROWS values of one class (bool, int64, uint64, double), and where some are
null a byte a row that says which are not. A program is a list of operations, each from registers to
another one; it runs once a block, and a block is bounded by the gate before it runs. Columns of 8
byte values are read in place, and the last operation writes into the output itself.

A value that does not fit is not raised where it is made but marked in its row, as null is: a row
fails only if the mark reaches the result, so a branch that is not taken cannot fail it.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

cimport cython
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer

from ambergate_native.columns cimport Kind
from ambergate_native.gate cimport BLOCK_ROWS, Gate
from ambergate_native.vector_operations cimport (
    ALL_VALID,
    OPERATION_COUNT,
    OPERATIONS,
    Narrow,
    Register,
    Source,
    append_rows,
    bytes_to_bits,
    count_zeros,
    narrowing,
    prepare_tables,
    run_operation,
    load_rows,
    widening,
)
from ambergate_native.views cimport View, Views

from ambergate_native.gate import DONE, RAISED, STOPPED

prepare_tables()

# name -> (number, classes of the result and the operands)
OPERATION_CLASSES = {
    OPERATIONS[index].name.decode(): OPERATIONS[index].classes.decode()
    for index in range(OPERATION_COUNT)
}
cdef dict NUMBERS = {name: number for number, name in enumerate(OPERATION_CLASSES)}
cdef dict CLASSES = {
    Kind.BOOL: "b", Kind.INT8: "i", Kind.INT16: "i", Kind.INT32: "i", Kind.INT64: "i",
    Kind.UINT8: "i", Kind.UINT16: "i", Kind.UINT32: "i", Kind.UINT64: "u",
    Kind.FLOAT32: "f", Kind.FLOAT64: "f",
}
# of each kind: bytes of a stored value (0: bits) and the letter of its format, as of Arrow's
cdef int64_t[Kind.FLOAT64 + 1] WIDTHS
cdef char[Kind.FLOAT64 + 1] LETTERS
cdef char[Kind.FLOAT64 + 1] CLASS_LETTERS
cdef int KINDS = Kind.FLOAT64 + 1
for _kind, _width, _letter in [
    (Kind.BOOL, 0, "b"), (Kind.INT8, 1, "c"), (Kind.INT16, 2, "s"), (Kind.INT32, 4, "i"),
    (Kind.INT64, 8, "l"), (Kind.UINT8, 1, "C"), (Kind.UINT16, 2, "S"), (Kind.UINT32, 4, "I"),
    (Kind.UINT64, 8, "L"), (Kind.FLOAT32, 4, "f"), (Kind.FLOAT64, 8, "g"),
]:
    WIDTHS[_kind], LETTERS[_kind] = _width, ord(_letter)
    CLASS_LETTERS[_kind] = ord(CLASSES[_kind])
MAX_INSTRUCTIONS = 250  # the number of a failed one is kept in a byte

cdef struct Instruction:
    int operation
    int out
    int a
    int b
    int c


@cython.final
cdef class Program:
    """A compiled expression.

    Parameters
    ----------
    classes : str
        The class of each register: b, i, u or f.
    constants : list of (register, value)
        A value of the register's class; None is null.
    inputs : list of register
        Which register column ``k`` of a run is loaded into.
    instructions : list of (operation, out, a, b, c)
        Names of ``OPERATION_CLASSES`` and registers; unused operands are -1. An instruction's
        result is none of its operands.
    result : int
        The register that is stored.
    kind : Kind
        The kind of the stored values.

    Raises
    ------
    ValueError
        A register is missing or of another class than an operation takes.
    """

    cdef Register* registers
    cdef Instruction* steps
    cdef Source* sources
    cdef int register_count, step_count, source_count, result
    cdef Kind kind
    cdef str classes
    cdef bint direct  # the last operation may write into the output

    def __cinit__(self, str classes, list constants, list inputs, list instructions, int result,
                  Kind kind):
        self.register_count, self.step_count = len(classes), len(instructions)
        self.source_count, self.result, self.kind, self.classes = len(inputs), result, kind, classes
        if self.step_count > MAX_INSTRUCTIONS:
            raise ValueError(f"a program has at most {MAX_INSTRUCTIONS} instructions")
        if not 0 <= result < self.register_count or CLASSES.get(kind) != classes[result]:
            raise ValueError(f"the result, register {result} of {classes!r}, is not of kind {kind}")
        self.registers = <Register*>calloc(self.register_count, sizeof(Register))
        self.steps = <Instruction*>calloc(self.step_count + 1, sizeof(Instruction))
        self.sources = <Source*>calloc(self.source_count + 1, sizeof(Source))
        if self.registers == NULL or self.steps == NULL or self.sources == NULL:
            raise MemoryError()
        cdef Register* register
        for index in range(self.register_count):
            register = &self.registers[index]
            # values, valid and errors of a block, in one piece
            register.own_values = calloc(BLOCK_ROWS, 10)
            if register.own_values == NULL:
                raise MemoryError()
            register.own_valid = <uint8_t*>register.own_values + 8 * BLOCK_ROWS
            register.own_errors = register.own_valid + BLOCK_ROWS
            register.values = register.own_values
        for place, register_number in enumerate(inputs):
            self._class_of(register_number)
            self.sources[place].place, self.sources[place].column = register_number, place
            self.sources[place].of = ord(classes[register_number])
        for register_number, value in constants:
            self._fill(register_number, value)
        for index, (name, out, a, b, c) in enumerate(instructions):
            self._step(index, name, (out, a, b, c))
        self.direct = (
            self.step_count > 0
            and self.steps[self.step_count - 1].out == result
            and kind in (Kind.INT64, Kind.UINT64, Kind.FLOAT64)
        )

    def __dealloc__(self):
        if self.registers != NULL:
            for index in range(self.register_count):
                free(self.registers[index].own_values)
        free(self.registers)
        free(self.steps)
        free(self.sources)

    cdef str _class_of(self, int register):
        if not 0 <= register < self.register_count:
            raise ValueError(f"register {register} is not one of {self.register_count}")
        return self.classes[register]

    cdef _fill(self, int number, value):
        cdef str of = self._class_of(number)
        cdef Register* register = &self.registers[number]
        cdef int64_t row
        if value is None:
            register.valid = register.own_valid  # all 0
            return
        for row in range(BLOCK_ROWS):
            if of == "b":
                (<uint8_t*>register.values)[row] = bool(value)
            elif of == "i":
                (<int64_t*>register.values)[row] = value
            elif of == "u":
                (<uint64_t*>register.values)[row] = value
            else:
                (<double*>register.values)[row] = value

    cdef _step(self, int index, str name, tuple registers):
        if name not in NUMBERS:
            raise ValueError(f"there is no operation {name!r}")
        wanted = OPERATION_CLASSES[name]
        wide = ""
        for place, register in enumerate(registers):
            if place >= len(wanted):
                continue
            of = self._class_of(register)
            if wanted[place] == "w":
                if of == "b" or (wide and of != wide and wanted[0] == "w"):
                    raise ValueError(f"{name} {registers} does not fit registers {self.classes}")
                wide = of
            elif wanted[place] != of:
                raise ValueError(f"{name} {registers} does not fit registers {self.classes}")
            if place and register == registers[0]:
                raise ValueError(f"{name} {registers} writes to an operand")
        cdef int out = registers[0]
        for place in range(self.source_count):
            if self.sources[place].place == out:
                raise ValueError(f"{name} writes to the register of column {place}")
        cdef Instruction* step = &self.steps[index]
        step.operation, step.out = NUMBERS[name], out
        # an unused operand reads some register and ignores it
        step.a = registers[1] if len(wanted) > 1 else out
        step.b = registers[2] if len(wanted) > 2 else step.a
        step.c = registers[3] if len(wanted) > 3 else step.a

    def read_from(self, list places):
        """Say which column of a batch each input is; without it input ``k`` is column ``k``."""
        if len(places) != self.source_count or min(places, default=0) < 0:
            raise ValueError(f"the program reads {self.source_count} columns, got {places}")
        for index, place in enumerate(places):
            self.sources[index].column = place

    cdef int _bind(self, Views views, int64_t start, int64_t stop) except -1:
        """Take the columns of a run."""
        cdef Source* source
        cdef View* view
        cdef int index
        cdef char of
        if not 0 <= start <= stop:
            raise ValueError(f"rows {start}:{stop} are no rows")
        for index in range(self.source_count):
            source = &self.sources[index]
            if source.column >= views.count:
                raise ValueError(f"there is no column {source.column} of {views.count}")
            view = &views.views[source.column]
            if stop > view.length:
                raise ValueError(f"rows {start}:{stop} are outside 0:{view.length}")
            of = CLASS_LETTERS[<int>view.kind] if <int>view.kind < KINDS else 0
            if of != source.of:
                raise TypeError(f"column {source.column} is of kind {view.kind}, not as compiled")
            source.format = LETTERS[<int>view.kind]
            source.offset, source.values, source.validity = view.offset, view.values, view.validity
            source.widen = widening(source.format)
        return 0

    cdef void _compute(self, int64_t row, int64_t rows) noexcept nogil:
        cdef Instruction* step
        cdef Register* registers = self.registers
        cdef int index
        for index in range(self.source_count):
            load_rows(&registers[self.sources[index].place], &self.sources[index], row, rows)
        for index in range(self.step_count):
            step = &self.steps[index]
            run_operation(step.operation, &registers[step.out], &registers[step.a],
                          &registers[step.b], &registers[step.c], rows, index + 1)

    cdef int64_t _failed(self, int64_t rows, int* step) noexcept nogil:
        """The first row of the block whose result failed, or ``rows``."""
        cdef Register* result = &self.registers[self.result]
        cdef int64_t row
        if result.errors == NULL:
            return rows
        for row in range(rows):
            if result.errors[row]:
                step[0] = result.errors[row] - 1
                return row
        return rows

    def run(self, Views views not None, int64_t start, int64_t stop, Gate gate not None, allocate):
        """Compute rows ``start`` to the returned cursor.

        Parameters
        ----------
        views : Views
            The batch, or one array per input; of the classes compiled for.
        start, stop : int
            The cursor of a stopped call, or 0; the row to stop before.
        gate : Gate
            Bounds each block before it runs.
        allocate : function of a size in bytes
            Gives a new writable buffer.

        Returns
        -------
        status, cursor, values, validity, nulls, failed
            Buffers of ``cursor - start`` rows as Arrow has them; validity is None where ``nulls``
            is 0. ``failed`` is the instruction that failed at row ``cursor``, or -1.
        """
        self._bind(views, start, stop)
        cdef int64_t rows = stop - start, row = start, end, count, nulls = 0, failed_at
        cdef int64_t size = WIDTHS[<int>self.kind]
        cdef int64_t bitmap = (rows + 7) // 8
        cdef Register* result = &self.registers[self.result]
        cdef int status = DONE, stopped = STOPPED, raised = RAISED, failed = -1
        cdef Py_buffer view
        cdef char* out
        cdef uint8_t* valid_bits = NULL
        cdef Narrow narrow = narrowing(LETTERS[<int>self.kind])
        values = allocate(bitmap if self.kind == Kind.BOOL else rows * size)
        validity = None
        PyObject_GetBuffer(values, &view, PyBUF_WRITABLE)
        out = <char*>view.buf
        PyBuffer_Release(&view)
        if self.kind == Kind.BOOL:
            memset(out, 0, bitmap)
        with nogil:
            while row < stop:
                end = gate.bound(row, min(row + BLOCK_ROWS, stop))
                if end == row:
                    status = stopped
                    break
                count = end - row
                if self.direct:
                    result.values = out + (row - start) * 8
                self._compute(row, count)
                failed_at = self._failed(count, &failed)
                if not self.direct:
                    if narrow != NULL:
                        narrow(out, row - start, result.values, failed_at)
                    elif size:
                        memcpy(out + (row - start) * size, result.values, failed_at * size)
                    else:
                        bytes_to_bits(
                            <uint8_t*>out, row - start, <uint8_t*>result.values, failed_at
                        )
                if result.valid != NULL and valid_bits == NULL:
                    with gil:
                        validity = allocate(bitmap)
                        PyObject_GetBuffer(validity, &view, PyBUF_WRITABLE)
                        valid_bits = <uint8_t*>view.buf
                        PyBuffer_Release(&view)
                    memset(valid_bits, 0, bitmap)
                    set_bits(valid_bits, row - start)
                if valid_bits != NULL:
                    if result.valid != NULL:
                        bytes_to_bits(valid_bits, row - start, result.valid, failed_at)
                        nulls += count_zeros(result.valid, failed_at)
                    else:
                        bytes_to_bits(valid_bits, row - start, ALL_VALID, failed_at)
                row += failed_at
                if failed_at < count:
                    status = raised
                    break
        result.values = result.own_values
        return status, row, values, validity if nulls else None, nulls, failed

    def select(self, Views views not None, int64_t start, int64_t stop, Gate gate not None,
               int64_t[::1] indices):
        """Write to ``indices`` the rows of ``start`` to the cursor whose result is true.

        Parameters
        ----------
        views, start, stop, gate : as of ``run``
        indices : int64, shape (>= stop - start,), filled from 0

        Returns
        -------
        status, cursor, count, failed
            Count is the number of entries written; false and null are not.
        """
        if self.kind != Kind.BOOL:
            raise TypeError("only a condition selects")
        self._bind(views, start, stop)
        if indices.shape[0] < stop - start:
            raise ValueError(f"indices hold {indices.shape[0]} of {stop - start} rows")
        cdef int64_t row = start, end, count = 0, rows, failed_at, found
        cdef int64_t room = indices.shape[0]
        cdef int64_t block[256 + 8]
        cdef Register* result = &self.registers[self.result]
        cdef int status = DONE, stopped = STOPPED, raised = RAISED, failed = -1
        cdef int64_t* out = &indices[0] if room else NULL
        with nogil:
            while row < stop:
                end = gate.bound(row, min(row + BLOCK_ROWS, stop))
                if end == row:
                    status = stopped
                    break
                rows = end - row
                self._compute(row, rows)
                failed_at = self._failed(rows, &failed)
                if count + rows + 8 <= room:
                    count += append_rows(
                        out + count, row, <uint8_t*>result.values, result.valid, failed_at
                    )
                else:
                    # eight entries are written at a time: the last must not leave the array
                    found = append_rows(
                        block, row, <uint8_t*>result.values, result.valid, failed_at
                    )
                    memcpy(out + count, block, found * sizeof(int64_t))
                    count += found
                row += failed_at
                if failed_at < rows:
                    status = raised
                    break
        return status, row, count, failed


memset(ALL_VALID, 1, BLOCK_ROWS)


cdef void set_bits(uint8_t* bits, int64_t count) noexcept nogil:
    cdef int64_t bit
    memset(bits, 255, count >> 3)
    for bit in range(count & ~7, count):
        bits[bit >> 3] |= <uint8_t>(1 << (bit & 7))
