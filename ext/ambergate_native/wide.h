/* Sums of 128-bit integers in 192 bits, and order-preserving words.
 *
 * No sum of fewer than 2^63 values overflows, so whether a total fits its type does not depend on
 * the order of its rows.
 */
#ifndef AMBERGATE_WIDE_H
#define AMBERGATE_WIDE_H

#include <stdint.h>
#include <string.h>

typedef __int128 ambergate_int128;

typedef struct {
    uint64_t low, middle;
    int64_t high;
    int64_t count; /* values added */
} WideSum;

static inline unsigned __int128 wide_part(const WideSum *sum) {
    return (unsigned __int128)sum->middle << 64 | sum->low;
}

static inline void wide_add(WideSum *sum, __int128 value) {
    unsigned __int128 before = wide_part(sum), after = before + (unsigned __int128)value;
    sum->low = (uint64_t)after;
    sum->middle = (uint64_t)(after >> 64);
    sum->high += (after < before) - (value < 0);
}

static inline void wide_subtract(WideSum *sum, __int128 value) {
    unsigned __int128 before = wide_part(sum), after = before - (unsigned __int128)value;
    sum->low = (uint64_t)after;
    sum->middle = (uint64_t)(after >> 64);
    sum->high += (value < 0) - (after > before);
}

static inline int wide_fits_128(const WideSum *sum) {
    return sum->high == (int64_t)sum->middle >> 63;
}

static inline int wide_fits_int64(const WideSum *sum) {
    return wide_fits_128(sum) && (int64_t)sum->middle == (int64_t)sum->low >> 63;
}

static inline int wide_fits_uint64(const WideSum *sum) {
    return sum->high == 0 && sum->middle == 0;
}

static inline int wide_fits_decimal(const WideSum *sum) {
    const __int128 ten_19 = 10000000000000000000u, most = ten_19 * ten_19 - 1; /* 38 digits */
    __int128 value = (__int128)wide_part(sum);
    return wide_fits_128(sum) && value <= most && value >= -most;
}

static inline double wide_double(const WideSum *sum) {
    if (wide_fits_128(sum)) return (double)(__int128)wide_part(sum);
    return (double)sum->high * 0x1p128 + (double)wide_part(sum);
}

static inline __int128 load_int128(const uint8_t *bytes) {
    __int128 value;
    memcpy(&value, bytes, 16);
    return value;
}

/* Words in whose unsigned order the doubles are, and back; not for NaN. */
static inline uint64_t ordered_double(double value) {
    uint64_t word;
    memcpy(&word, &value, 8);
    return word >> 63 ? ~word : word | (uint64_t)1 << 63;
}

static inline double double_of_ordered(uint64_t word) {
    double value;
    word = word >> 63 ? word ^ (uint64_t)1 << 63 : ~word;
    memcpy(&value, &word, 8);
    return value;
}

#endif
