"""The stable 64-bit hash of typed values, for other kernels to inline."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from ambergate_native.views cimport View, Views

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #define AMBERGATE_KEY_GROUPS 128
    #define AMBERGATE_NULL_HASH 0x9ae16a3b2f90404fULL

    /* Murmur3's finalizer with Stafford's constants (variant 13): a bijection, and a loop of it
     * has no dependence between rows. */
    static inline uint64_t ambergate_mix(uint64_t word) {
        word += 0x9e3779b97f4a7c15ULL;
        word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
        word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
        return word ^ (word >> 31);
    }
    static inline uint64_t ambergate_join(uint64_t left, uint64_t right) {
        uint64_t word = (((left << 31) | (left >> 33)) ^ right) * 0xd6e8feb86659fd93ULL;
        return word ^ (word >> 32);
    }
    static inline uint64_t ambergate_float_word(double value) {
        uint64_t word;
        if (value != value) return 0x7ff8000000000000ULL;  /* one NaN */
        value += 0.0;                                      /* -0.0 is 0.0 */
        memcpy(&word, &value, 8);
        return word;
    }
    static inline uint64_t ambergate_load(const uint8_t *from, int size) {
        uint64_t word = 0;
        memcpy(&word, from, size);
        return word;
    }
    static inline uint64_t ambergate_fold(uint64_t left, uint64_t right) {
        unsigned __int128 product = (unsigned __int128)left * right;
        return (uint64_t)product ^ (uint64_t)(product >> 64);
    }
    /* 16 bytes a turn, folded by one wide multiplication; the length is part of the seed. */
    static inline uint64_t ambergate_bytes(const uint8_t *from, int64_t size) {
        uint64_t state = 0xa0761d6478bd642fULL ^ ((uint64_t)size * 0xe7037ed1a0b428dbULL);
        uint64_t first, second;
        while (size > 16) {
            state = ambergate_fold(ambergate_load(from, 8) ^ 0x8ebc6af09c88c6e3ULL,
                                   ambergate_load(from + 8, 8) ^ state);
            from += 16;
            size -= 16;
        }
        if (size >= 8) {
            first = ambergate_load(from, 8);
            second = ambergate_load(from + size - 8, 8);
        } else if (size >= 4) {
            first = ambergate_load(from, 4);
            second = ambergate_load(from + size - 4, 4);
        } else if (size > 0) {
            first = ((uint64_t)from[0] << 16) | ((uint64_t)from[size >> 1] << 8) | from[size - 1];
            second = 0;
        } else {
            first = second = 0;
        }
        return ambergate_mix(ambergate_fold(first ^ 0x589965cc75374cc3ULL, second ^ state));
    }
    """
    const int64_t KEY_GROUPS "AMBERGATE_KEY_GROUPS"
    const uint64_t NULL_HASH "AMBERGATE_NULL_HASH"
    uint64_t mix "ambergate_mix"(uint64_t word) noexcept nogil
    uint64_t join "ambergate_join"(uint64_t left, uint64_t right) noexcept nogil
    uint64_t float_word "ambergate_float_word"(double value) noexcept nogil
    uint64_t hash_bytes "ambergate_bytes"(const uint8_t* start, int64_t size) noexcept nogil


cdef void hash_views(const View* views, const int64_t* keys, int64_t count, int64_t start,
                     int64_t stop, uint64_t* out, uint64_t* scratch) noexcept nogil
