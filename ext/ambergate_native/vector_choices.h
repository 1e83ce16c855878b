/* The operations of the vector machine that have a say in what is null.
 *
 * They see whole registers and set `valid` of their result; the driver does the same for all others,
 * whose result is null where an operand is.
 */
#ifndef AMBERGATE_VECTOR_CHOICES_H
#define AMBERGATE_VECTOR_CHOICES_H

#include <stdint.h>
#include <string.h>

#include "vector_loops.h"

typedef struct {
  void *values;     /* of the block at hand */
  uint8_t *valid;   /* a byte a row, NULL where nothing is null */
  uint8_t *errors;  /* a byte a row: 1 + the instruction that failed, or 0; NULL: none failed */
  uint8_t *own_valid;
  uint8_t *own_errors;
  void *own_values;
} Register;

typedef void (*Special)(Register *out, const Register *a, const Register *b, const Register *c,
                        int64_t rows);


static uint8_t ALL_VALID[AMBERGATE_BLOCK_ROWS]; /* filled with 1 when the module is loaded */

#define VALID(r, i) ((r)->valid == NULL || (r)->valid[i])
#define VALIDITY(r) ((r)->valid == NULL ? ALL_VALID : (r)->valid)
#define SPECIAL(name)                                                        \
  WIDE static void name(Register *out, const Register *a, const Register *b, const Register *c, \
                        int64_t rows)

/* Kleene: false & null is false, true | null is true */
#define KLEENE(name, operator, decides)                                      \
  SPECIAL(name) {                                                            \
    uint8_t *restrict o = (uint8_t *)out->values, *restrict known = out->own_valid; \
    const uint8_t *p = (const uint8_t *)a->values, *q = (const uint8_t *)b->values; \
    const uint8_t *v = VALIDITY(a), *w = VALIDITY(b); (void)c;               \
    for (int64_t i = 0; i < rows; i++) o[i] = p[i] operator q[i];            \
    out->valid = NULL;                                                       \
    if (a->valid == NULL && b->valid == NULL) return;                        \
    for (int64_t i = 0; i < rows; i++)                                       \
      known[i] = (v[i] & w[i]) | (v[i] & (p[i] ^ decides ^ 1)) | (w[i] & (q[i] ^ decides ^ 1)); \
    out->valid = known;                                                      \
  }
KLEENE(and_b, &, 0)
KLEENE(or_b, |, 1)

SPECIAL(is_null) {
  uint8_t *restrict o = (uint8_t *)out->values;
  const uint8_t *v = VALIDITY(a); (void)b; (void)c;
  out->valid = NULL;
  for (int64_t i = 0; i < rows; i++) o[i] = v[i] ^ 1;
}
SPECIAL(is_not_null) {
  (void)b; (void)c;
  out->valid = NULL;
  memcpy(out->values, VALIDITY(a), (size_t)rows);
}

/* all bits where the byte is 1 */
#define MASK(T, byte) ((T)0 - (T)(byte))

/* a, or b where a is null */
#define FILL_NULL(name, T)                                                   \
  SPECIAL(name) {                                                            \
    T *restrict o = (T *)out->values;                                        \
    const T *p = (const T *)a->values, *q = (const T *)b->values;            \
    const uint8_t *v = a->valid; (void)c;                                    \
    out->valid = NULL;                                                       \
    if (v == NULL) { memcpy(o, p, (size_t)rows * sizeof(T)); return; }       \
    for (int64_t i = 0; i < rows; i++) {                                     \
      T mask = MASK(T, v[i]);                                                \
      o[i] = (p[i] & mask) | (q[i] & (T)~mask);                              \
    }                                                                        \
    if (b->valid == NULL) return;                                            \
    for (int64_t i = 0; i < rows; i++) out->own_valid[i] = v[i] | b->valid[i]; \
    out->valid = out->own_valid;                                             \
  }
FILL_NULL(fill_null_b, uint8_t)
FILL_NULL(fill_null_w, uint64_t)

/* b where a is true, else c */
#define CHOOSE(name, T)                                                      \
  SPECIAL(name) {                                                            \
    T *restrict o = (T *)out->values;                                        \
    const T *p = (const T *)b->values, *q = (const T *)c->values;            \
    const uint8_t *condition = (const uint8_t *)a->values, *v = VALIDITY(b), *w = VALIDITY(c); \
    uint8_t taken[AMBERGATE_BLOCK_ROWS];                                     \
    memcpy(taken, condition, (size_t)rows);                                  \
    if (a->valid != NULL) for (int64_t i = 0; i < rows; i++) taken[i] &= a->valid[i]; \
    for (int64_t i = 0; i < rows; i++) {                                     \
      T mask = MASK(T, taken[i]);                                            \
      o[i] = (p[i] & mask) | (q[i] & (T)~mask);                              \
    }                                                                        \
    out->valid = NULL;                                                       \
    if (b->valid == NULL && c->valid == NULL) return;                        \
    for (int64_t i = 0; i < rows; i++)                                       \
      out->own_valid[i] = (v[i] & taken[i]) | (w[i] & (taken[i] ^ 1));       \
    out->valid = out->own_valid;                                             \
  }
CHOOSE(choose_b, uint8_t)
CHOOSE(choose_w, uint64_t)

/* the least or greatest; nulls are passed over, NaN too */
#define EXTREME(name, T, better)                                             \
  SPECIAL(name) {                                                            \
    T *restrict o = (T *)out->values;                                        \
    const T *p = (const T *)a->values, *q = (const T *)b->values;            \
    const uint8_t *v = VALIDITY(a), *w = VALIDITY(b); (void)c;               \
    out->valid = NULL;                                                       \
    for (int64_t i = 0; i < rows; i++) { T x = p[i], y = q[i]; o[i] = (better) ? x : y; } \
    if (a->valid == NULL && b->valid == NULL) return;                        \
    for (int64_t i = 0; i < rows; i++) {                                     \
      T best = o[i];                                                         \
      o[i] = !w[i] ? p[i] : !v[i] ? q[i] : best;                             \
      out->own_valid[i] = v[i] | w[i];                                       \
    }                                                                        \
    out->valid = out->own_valid;                                             \
  }
EXTREME(min_b, uint8_t, x < y)
EXTREME(max_b, uint8_t, x > y)
EXTREME(min_i, int64_t, x < y)
EXTREME(max_i, int64_t, x > y)
EXTREME(min_u, uint64_t, x < y)
EXTREME(max_u, uint64_t, x > y)
EXTREME(min_f, double, x < y || y != y)
EXTREME(max_f, double, x > y || y != y)

/* integer division: null where the divisor is 0 */

static void null_at_zero(Register *out, const Register *a, const Register *b, int64_t rows) {
  const int64_t *q = (const int64_t *)b->values;
  int zero = 0;
  if (a->valid == NULL && b->valid == NULL) {
    for (int64_t i = 0; i < rows; i++) zero |= q[i] == 0;
    if (!zero) { out->valid = NULL; return; }
  }
  for (int64_t i = 0; i < rows; i++)
    out->own_valid[i] = (q[i] != 0) & (a->valid == NULL || a->valid[i]) &
                        (b->valid == NULL || b->valid[i]);
  out->valid = out->own_valid;
}
/* -1 is apart because INT64_MIN / -1 traps; that its quotient does not fit is found by the check */
#define DIVIDE(name, T, by_minus_one, quotient, fix)                         \
  static void name(Register *out, const Register *a, const Register *b, const Register *c, \
                   int64_t rows) {                                           \
    T *restrict o = (T *)out->values;                                        \
    const T *p = (const T *)a->values, *q = (const T *)b->values; (void)c;   \
    for (int64_t i = 0; i < rows; i++) {                                     \
      T x = p[i], y = q[i], r;                                               \
      if (y == 0) { o[i] = 0; continue; }                                    \
      if (y == (T)-1 && by_minus_one) { o[i] = (T)(quotient); continue; }    \
      r = x % y; fix                                                         \
    }                                                                        \
    null_at_zero(out, a, b, rows);                                           \
  }
DIVIDE(floor_divide_i, int64_t, 1, 0 - (uint64_t)x, o[i] = x / y - (r != 0 && (r < 0) != (y < 0));)
DIVIDE(modulo_i, int64_t, 1, 0, o[i] = r + (r != 0 && (r < 0) != (y < 0) ? y : 0);)
DIVIDE(floor_divide_u, uint64_t, 0, 0, o[i] = x / y; (void)r;)
DIVIDE(modulo_u, uint64_t, 0, 0, o[i] = r;)
static int floor_divide_i_check(const void *a, const void *b, const void *c, int64_t row) {
  (void)c;
  return ((const int64_t *)a)[row] == INT64_MIN && ((const int64_t *)b)[row] == -1;
}

#endif
