/* One text cut at a separator, its parts appended to the bytes and offsets of a string column. */
#ifndef AMBERGATE_SPLITTING_H
#define AMBERGATE_SPLITTING_H

#include <stdint.h>
#include <string.h>

/* Bytes equal to `byte`, as the high bits of a word; exact in every byte. */
static inline uint64_t equal_bytes(uint64_t word, uint64_t byte) {
  const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
  uint64_t x = word ^ (byte * UINT64_C(0x0101010101010101));
  return ~(((x & low) + low) | x | low);
}

static int64_t count_byte(const uint8_t *bytes, int64_t size, uint8_t byte) {
  int64_t count = 0;
  for (int64_t at = 0; at < size;) {
    int64_t end = at + 4096 < size ? at + 4096 : size;
    uint16_t some = 0; /* narrow, so that the loop is of vectors */
    for (; at < end; at++) some = (uint16_t)(some + (bytes[at] == byte));
    count += some;
  }
  return count;
}

/* Where the text at `from` ends: the separator's begin, or `end`. */
static const uint8_t *find_separator(const uint8_t *from, const uint8_t *end,
                                     const uint8_t *separator, int64_t size) {
  while (end - from >= size) {
    from = (const uint8_t *)memchr(from, separator[0], (size_t)(end - from - size + 1));
    if (from == NULL) return end;
    if (memcmp(from, separator, (size_t)size) == 0) return from;
    from++;
  }
  return end;
}

/* Append the parts of from:end; `ends` gets the end of each in the bytes written so far, `*filled`.
 * `out` has room for 8 bytes more than the text has; `readable` is the end of what may be read.
 * Returns the number of parts. */
#define SPLIT(name, T)                                                       \
  static int64_t name(const uint8_t *from, const uint8_t *end, const uint8_t *readable, \
                      const uint8_t *separator, int64_t size, uint8_t *out, int64_t *filled, \
                      T *ends) {                                             \
    int64_t at = *filled, count = 0;                                         \
    if (LITTLE_ENDIAN_WORDS && size == 1) {                                  \
      while (from < end && readable - from >= 8) {                           \
        uint64_t word, found;                                                \
        int64_t part = 8;                                                    \
        memcpy(&word, from, 8);                                              \
        found = equal_bytes(word, separator[0]);                             \
        memcpy(out + at, &word, 8);                                          \
        if (found) part = __builtin_ctzll(found) >> 3;                       \
        if (part >= end - from) {                                            \
          at += end - from;                                                  \
          from = end;                                                        \
          break;                                                             \
        }                                                                    \
        at += part;                                                          \
        from += part;                                                        \
        if (found) { ends[count++] = (T)at; from++; }                        \
      }                                                                      \
    }                                                                        \
    for (;;) {                                                               \
      const uint8_t *to = find_separator(from, end, separator, size);        \
      memcpy(out + at, from, (size_t)(to - from));                           \
      at += to - from;                                                       \
      ends[count++] = (T)at;                                                 \
      if (to == end) break;                                                  \
      from = to + size;                                                      \
    }                                                                        \
    *filled = at;                                                            \
    return count;                                                            \
  }
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LITTLE_ENDIAN_WORDS 1
#else
#define LITTLE_ENDIAN_WORDS 0
#endif
SPLIT(split_text_32, int32_t)
SPLIT(split_text_64, int64_t)

#endif
