/* Keys as 64-bit words, and where a word goes in a table of groups.
 *
 * Hashes are private to the table and unlike the one rows are dealt to tasks by, so that the keys of
 * one task do not crowd together. Texts are mixed by 64 x 64 -> 128 bit products, as in wyhash
 * (public domain, https://github.com/wangyi-fudan/wyhash).
 */
#ifndef AMBERGATE_GROUPING_H
#define AMBERGATE_GROUPING_H

#include <stdint.h>
#include <string.h>

#define AMBERGATE_LONG_TEXT ((uint64_t)0xFF << 56)
#define AMBERGATE_NAN_BITS ((uint64_t)0x7FF8 << 48)
#define AMBERGATE_NAN_BITS_32 0x7FC00000u

static inline uint64_t mix_words(uint64_t one, uint64_t other) {
    unsigned __int128 product = (unsigned __int128)one * other;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The top bits of a product with the golden ratio: numbers that follow one another, the most
 * frequent keys of all, are spread evenly, hence hardly ever meet (Knuth 6.4, multiplicative).
 */
static inline uint64_t word_hash(uint64_t word) {
    return (word ^ word >> 32) * 0x9E3779B97F4A7C15u;
}

static inline uint64_t load_word(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    return word;
}

/* The hash of 8 bytes or more. */
static inline uint64_t long_text_hash(const uint8_t *text, int64_t size) {
    uint64_t hash = mix_words((uint64_t)size ^ 0xA0761D6478BD642Fu, 0xE7037ED1A0B428DBu);
    const uint8_t *last = text + size - 8;
    while (last - text >= 8) {
        hash = mix_words(load_word(text) ^ hash, load_word(text + 8) ^ 0x8EBC6AF09C88C6E3u);
        text += 16;
    }
    if (text < last + 8) {
        if (text < last) hash = mix_words(load_word(text) ^ hash, 0x589965CC75374CC3u);
        hash = mix_words(load_word(last) ^ hash, 0x1D8E4E27C47D124Fu);
    }
    return hash;
}

/* Whether two texts of one size, 8 bytes or more, are equal. */
static inline int same_long_text(const uint8_t *one, const uint8_t *other, int64_t size) {
    const uint8_t *last = one + size - 8;
    if (load_word(last) != load_word(other + size - 8)) return 0;
    while (one < last) {
        if (load_word(one) != load_word(other)) return 0;
        one += 8;
        other += 8;
    }
    return 1;
}

/* The word of a text: up to 7 bytes are told by it alone; a longer one has 0xFF on top and a hash
 * below, and needs its bytes compared. `end` is where the memory of the texts ends.
 */
static inline uint64_t text_word(const uint8_t *text, int64_t size, const uint8_t *end) {
    uint64_t word = 0;
    if (size >= 8) return AMBERGATE_LONG_TEXT | long_text_hash(text, size) >> 8;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (size == 0) return 0;
    if (end - text >= 8)
        word = load_word(text) & (~(uint64_t)0 >> (64 - 8 * size));
    else
        memcpy(&word, text, (size_t)size);
#else
    if (size > 0) memcpy(&word, text, (size_t)size);
    word >>= 8;
#endif
    return word | (uint64_t)size << 56;
}

/* Floats as words: one word for all NaNs, and one for both zeros. */
static inline uint64_t double_word(double value) {
    uint64_t word;
    if (value != value) return AMBERGATE_NAN_BITS;
    value += 0.0;
    memcpy(&word, &value, 8);
    return word;
}

static inline uint32_t float_word(float value) {
    uint32_t word;
    if (value != value) return AMBERGATE_NAN_BITS_32;
    value += 0.0f;
    memcpy(&word, &value, 4);
    return word;
}

#endif
