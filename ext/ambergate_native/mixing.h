/* The mixing steps of the stable hash: constants fixed for ever, since snapshots depend on them.
 *
 * Whole words go through a multiply-xorshift finaliser (after Stafford's variant 13 of Murmur3's);
 * bytes are folded eight at a time by a 64x64 -> 128 bit product, as in wyhash.
 */
#ifndef AMBERGATE_MIXING_H
#define AMBERGATE_MIXING_H

#include <stdint.h>
#include <string.h>

#define AMBERGATE_SEED 0x9E3779B97F4A7C15ull
#define AMBERGATE_NULL 0xD6E8FEB86659FD93ull
#define AMBERGATE_FOLD 0xA0761D6478BD642Full

static inline uint64_t mix_word(uint64_t word) {
  word += AMBERGATE_SEED;
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ull;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBull;
  return word ^ (word >> 31);
}

/* The hash of several columns: order matters, so (a, b) and (b, a) differ. */
static inline uint64_t mix_join(uint64_t so_far, uint64_t next) {
  return mix_word(so_far * 31 + next);
}

static inline uint64_t fold(uint64_t one, uint64_t other) {
  unsigned __int128 product = (unsigned __int128)one * other;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t mix_bytes(const uint8_t *bytes, int64_t size) {
  uint64_t hash = AMBERGATE_SEED ^ (uint64_t)size, word;
  while (size >= 8) {
    memcpy(&word, bytes, 8);
    hash = fold(hash ^ word, AMBERGATE_FOLD);
    bytes += 8;
    size -= 8;
  }
  if (size) {
    word = 0;
    memcpy(&word, bytes, (size_t)size);
    hash = fold(hash ^ word, AMBERGATE_FOLD);
  }
  return mix_word(hash);
}

/* Equal doubles give equal words: one zero, one NaN. */
static inline uint64_t word_of_double(double value) {
  uint64_t word;
  if (value == 0.0) value = 0.0;
  if (value != value) return 0x7FF8000000000000ull;
  memcpy(&word, &value, 8);
  return word;
}

#endif
