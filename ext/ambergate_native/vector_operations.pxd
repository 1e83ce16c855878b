from libc.stdint cimport int64_t, uint8_t

cdef extern from "vector_operations.h" nogil:
    ctypedef struct Register:
        void* values
        uint8_t* valid
        uint8_t* errors
        uint8_t* own_valid
        uint8_t* own_errors
        void* own_values
    ctypedef struct Operation:
        const char* name
        const char* classes
    const Operation* OPERATIONS
    const int OPERATION_COUNT
    uint8_t* ALL_VALID
    void run_operation(
        int, Register*, const Register*, const Register*, const Register*, int64_t, int
    ) noexcept

cdef extern from "vector_memory.h" nogil:
    ctypedef void (*Widen)(void*, const void*, int64_t, int64_t) noexcept nogil
    ctypedef void (*Narrow)(void*, int64_t, const void*, int64_t) noexcept nogil
    void prepare_tables() noexcept
    ctypedef struct Source:
        int place
        int column
        char of
        char format
        int64_t offset
        const void* values
        const uint8_t* validity
        Widen widen
    void load_rows(Register*, const Source*, int64_t, int64_t) noexcept
    void bytes_to_bits(uint8_t*, int64_t, const uint8_t*, int64_t) noexcept
    int64_t count_zeros(const uint8_t*, int64_t) noexcept
    int64_t append_rows(int64_t*, int64_t, const uint8_t*, const uint8_t*, int64_t) noexcept
    Widen widening(char) noexcept
    Narrow narrowing(char) noexcept
