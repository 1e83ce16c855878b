/* Between Arrow's buffers and the registers of the vector machine: bits to bytes and back, narrow
 * values to wide and back, and true rows to row numbers.
 */
#ifndef AMBERGATE_VECTOR_MEMORY_H
#define AMBERGATE_VECTOR_MEMORY_H

#include <stdint.h>
#include <string.h>

#include "vector_choices.h"

typedef void (*Widen)(void *out, const void *from, int64_t first, int64_t rows);
typedef void (*Narrow)(void *out, int64_t first, const void *from, int64_t rows);

static uint64_t BYTES_OF_BITS[256];  /* bit k of the index as byte k */
static uint8_t ROWS_OF_BITS[256][8]; /* the places of its set bits, lowest first */

static void prepare_tables(void) {
  for (int bits = 0; bits < 256; bits++) {
    uint8_t bytes[8];
    int count = 0;
    for (int k = 0; k < 8; k++) {
      bytes[k] = (bits >> k) & 1;
      if (bytes[k]) ROWS_OF_BITS[bits][count++] = (uint8_t)k;
    }
    memcpy(&BYTES_OF_BITS[bits], bytes, 8);
  }
}

/* Bits first to first + rows as bytes of 0 or 1; returns whether all are 1. `out` has room for
 * rows rounded up to 8. */
static int bits_to_bytes(uint8_t *out, const uint8_t *bits, int64_t first, int64_t rows) {
  int shift = (int)(first & 7);
  const uint8_t *at = bits + (first >> 3);
  int64_t row = 0;
  int all = 1;
  for (; row + 8 <= rows; row += 8, at++) {
    unsigned eight = at[0];
    if (shift) eight = (eight >> shift) | ((unsigned)at[1] << (8 - shift));
    eight &= 255;
    all &= eight == 255;
    memcpy(out + row, &BYTES_OF_BITS[eight], 8);
  }
  for (first += row; row < rows; row++, first++) {
    out[row] = (bits[first >> 3] >> (first & 7)) & 1;
    all &= out[row];
  }
  return all;
}

/* Bytes of 0 or 1 into bits first to first + rows; bits from `first` on must be 0 before. */
static void bytes_to_bits(uint8_t *bits, int64_t first, const uint8_t *bytes, int64_t rows) {
  int64_t row = 0;
  for (; row < rows && ((first + row) & 7); row++)
    bits[(first + row) >> 3] |= (uint8_t)(bytes[row] << ((first + row) & 7));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  for (; row + 8 <= rows; row += 8) {
    uint64_t eight;
    memcpy(&eight, bytes + row, 8);
    bits[(first + row) >> 3] = (uint8_t)((eight * UINT64_C(0x0102040810204080)) >> 56);
  }
#endif
  for (; row < rows; row++)
    bits[(first + row) >> 3] |= (uint8_t)(bytes[row] << ((first + row) & 7));
}

static int64_t count_zeros(const uint8_t *bytes, int64_t rows) {
  int64_t ones = 0;
  for (int64_t i = 0; i < rows; i++) ones += bytes[i];
  return rows - ones;
}

/* Append row + k for every k where bytes[k] (and valid[k]) is 1; returns how many. May write up to
 * 7 entries past the last, but never past rows rounded up to 8 from the begin of this call's. */
static int64_t append_rows(int64_t *out, int64_t row, const uint8_t *bytes, const uint8_t *valid,
                           int64_t rows) {
  int64_t count = 0, k = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  for (; k + 8 <= rows; k += 8) {
    uint64_t eight, other;
    unsigned bits;
    memcpy(&eight, bytes + k, 8);
    if (valid) { memcpy(&other, valid + k, 8); eight &= other; }
    if (eight == 0) continue;
    bits = (unsigned)((eight * UINT64_C(0x0102040810204080)) >> 56);
    for (int j = 0; j < 8; j++) out[count + j] = row + k + ROWS_OF_BITS[bits][j];
    count += (int64_t)((eight * UINT64_C(0x0101010101010101)) >> 56);
  }
#endif
  for (; k < rows; k++)
    if (bytes[k] && (valid == NULL || valid[k])) out[count++] = row + k;
  return count;
}

#define WIDEN(name, T, W)                                                    \
  static void name(void *out, const void *from, int64_t first, int64_t rows) { \
    W *restrict o = (W *)out; const T *p = (const T *)from + first;          \
    for (int64_t i = 0; i < rows; i++) o[i] = (W)p[i];                       \
  }
WIDEN(widen_int8, int8_t, int64_t)
WIDEN(widen_int16, int16_t, int64_t)
WIDEN(widen_int32, int32_t, int64_t)
WIDEN(widen_uint8, uint8_t, int64_t)
WIDEN(widen_uint16, uint16_t, int64_t)
WIDEN(widen_uint32, uint32_t, int64_t)
WIDEN(widen_float32, float, double)

#define NARROW(name, T, W)                                                   \
  static void name(void *out, int64_t first, const void *from, int64_t rows) { \
    T *restrict o = (T *)out + first; const W *p = (const W *)from;          \
    for (int64_t i = 0; i < rows; i++) o[i] = (T)p[i];                       \
  }
NARROW(narrow_8, uint8_t, uint64_t)
NARROW(narrow_16, uint16_t, uint64_t)
NARROW(narrow_32, uint32_t, uint64_t)
NARROW(narrow_float32, float, double)

/* How values of a format (a letter of Arrow's) become wide and narrow; NULL: they are wide. */
static Widen widening(char format) {
  switch (format) {
    case 'c': return widen_int8;
    case 's': return widen_int16;
    case 'i': return widen_int32;
    case 'C': return widen_uint8;
    case 'S': return widen_uint16;
    case 'I': return widen_uint32;
    case 'f': return widen_float32;
    default: return NULL;
  }
}
static Narrow narrowing(char format) {
  switch (format) {
    case 'c': case 'C': return narrow_8;
    case 's': case 'S': return narrow_16;
    case 'i': case 'I': return narrow_32;
    case 'f': return narrow_float32;
    default: return NULL;
  }
}

/* One input column of a run. */
typedef struct {
  int place;  /* its register */
  int column; /* its place in the batch */
  char of;    /* the class of its register */
  char format;
  int64_t offset;
  const void *values;
  const uint8_t *validity;
  Widen widen;
} Source;

/* Rows of a column into its register: in place where values have 8 bytes. */
static void load_rows(Register *into, const Source *from, int64_t row, int64_t rows) {
  int64_t first = from->offset + row;
  if (from->widen != NULL) from->widen(into->own_values, from->values, first, rows);
  else if (from->format == 'b')
    bits_to_bytes((uint8_t *)into->own_values, (const uint8_t *)from->values, first, rows);
  else into->values = (char *)from->values + 8 * first;
  into->valid = NULL;
  if (from->validity != NULL && !bits_to_bytes(into->own_valid, from->validity, first, rows))
    into->valid = into->own_valid;
}

#endif
