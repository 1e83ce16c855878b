/* The loops of the vector machine: one operation over at most AMBERGATE_BLOCK_ROWS rows.
 *
 * Values are of four classes: b (bool, a byte of 0 or 1), i (int64, and all narrower integers,
 * dates and times), u (uint64), f (double, and float). A loop of two operands reads a and b; a
 * checked loop returns nonzero where a result may not fit, and `locate` then finds the rows.
 */
#ifndef AMBERGATE_VECTOR_LOOPS_H
#define AMBERGATE_VECTOR_LOOPS_H

#ifndef AMBERGATE_BLOCK_ROWS
#error "include the gate's declarations first"
#endif

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Wider vectors where the processor has them; results are the same bit for bit. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define NO_ERRNO __attribute__((optimize("no-math-errno", "no-trapping-math")))
#else
#define NO_ERRNO
#endif

typedef int (*Loop)(void *out, const void *a, const void *b, const void *c, int64_t rows);
typedef int (*Check)(const void *a, const void *b, const void *c, int64_t row);

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

#define ARGS void *restrict out, const void *a, const void *b, const void *c, int64_t rows

/* elementwise loops */

#define MAP(name, R, T, expression)                                          \
  WIDE static int name(ARGS) {                                               \
    R *restrict o = (R *)out; const T *p = (const T *)a, *q = (const T *)b;  \
    (void)q; (void)c;                                                        \
    for (int64_t i = 0; i < rows; i++) { T x = p[i]; o[i] = (expression); }  \
    return 0;                                                                \
  }
#define MAP2(name, R, T, S, expression)                                      \
  WIDE static int name(ARGS) {                                               \
    R *restrict o = (R *)out; const T *p = (const T *)a; const S *q = (const S *)b; \
    (void)c;                                                                 \
    for (int64_t i = 0; i < rows; i++) { T x = p[i]; S y = q[i]; o[i] = (expression); } \
    return 0;                                                                \
  }
/* `fault` is nonzero (its sign bit, if negative) where the result does not fit */
#define CHECKED2(name, T, S, expression, fault)                              \
  WIDE static int name(ARGS) {                                               \
    T *restrict o = (T *)out; const T *p = (const T *)a; const S *q = (const S *)b; \
    T bad = 0; (void)c;                                                      \
    for (int64_t i = 0; i < rows; i++) {                                     \
      T x = p[i]; S y = q[i]; T r = (T)(expression); o[i] = r; bad |= (T)(fault); \
    }                                                                        \
    return (int64_t)bad < 0;                                                 \
  }
#define SIGN (UINT64_C(1) << 63)

MAP2(add_f, double, double, double, x + y)
MAP2(subtract_f, double, double, double, x - y)
MAP2(multiply_f, double, double, double, x * y)
MAP2(divide_f, double, double, double, x / y)
CHECKED2(add_i, int64_t, int64_t, (uint64_t)x + (uint64_t)y, (x ^ r) & (y ^ r))
CHECKED2(subtract_i, int64_t, int64_t, (uint64_t)x - (uint64_t)y, (x ^ y) & (x ^ r))
CHECKED2(add_u, uint64_t, uint64_t, x + y, (x & y) | ((x | y) & ~r))
CHECKED2(subtract_u, uint64_t, uint64_t, x - y, (~x & y) | ((~x | y) & r))

static int add_i_check(const void *a, const void *b, const void *c, int64_t row) {
  int64_t r; (void)c;
  return __builtin_add_overflow(((const int64_t *)a)[row], ((const int64_t *)b)[row], &r);
}
static int subtract_i_check(const void *a, const void *b, const void *c, int64_t row) {
  int64_t r; (void)c;
  return __builtin_sub_overflow(((const int64_t *)a)[row], ((const int64_t *)b)[row], &r);
}
static int multiply_i_check(const void *a, const void *b, const void *c, int64_t row) {
  int64_t r; (void)c;
  return __builtin_mul_overflow(((const int64_t *)a)[row], ((const int64_t *)b)[row], &r);
}
static int add_u_check(const void *a, const void *b, const void *c, int64_t row) {
  uint64_t r; (void)c;
  return __builtin_add_overflow(((const uint64_t *)a)[row], ((const uint64_t *)b)[row], &r);
}
static int subtract_u_check(const void *a, const void *b, const void *c, int64_t row) {
  (void)c;
  return ((const uint64_t *)a)[row] < ((const uint64_t *)b)[row];
}
static int multiply_u_check(const void *a, const void *b, const void *c, int64_t row) {
  uint64_t r; (void)c;
  return __builtin_mul_overflow(((const uint64_t *)a)[row], ((const uint64_t *)b)[row], &r);
}
#define MULTIPLY(name, T)                                                    \
  static int name(ARGS) {                                                    \
    T *restrict o = (T *)out; const T *p = (const T *)a, *q = (const T *)b;  \
    int bad = 0; (void)c;                                                    \
    for (int64_t i = 0; i < rows; i++) bad |= __builtin_mul_overflow(p[i], q[i], &o[i]); \
    return bad;                                                              \
  }
MULTIPLY(multiply_i, int64_t)
MULTIPLY(multiply_u, uint64_t)

/* floor division and remainder as Python's, floats by the algorithm of CPython's float */

static inline double modulo_of(double x, double y) {
  double r = fmod(x, y);
  if (r == 0.0) return copysign(0.0, y);
  return (y < 0) != (r < 0) ? r + y : r;
}
static inline double floor_divide_of(double x, double y) {
  double r, quotient, whole;
  if (y == 0.0) return x / y;
  r = fmod(x, y);
  quotient = (x - r) / y;
  if (r != 0.0 && (y < 0) != (r < 0)) quotient -= 1.0;
  if (quotient == 0.0) return copysign(0.0, x / y);
  whole = floor(quotient);
  return quotient - whole > 0.5 ? whole + 1.0 : whole;
}
MAP2(floor_divide_f, double, double, double, floor_divide_of(x, y))
MAP2(modulo_f, double, double, double, modulo_of(x, y))

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

/* powers; exponents of the integer forms are constants of 0 or more */

MAP2(power_f, double, double, double, pow(x, y))
#define POWER(name, T)                                                       \
  static inline int name##_of(T base, int64_t exponent, T *out) {            \
    T power = 1; int bad = 0;                                                \
    for (;;) {                                                               \
      if (exponent & 1) bad |= __builtin_mul_overflow(power, base, &power);  \
      exponent >>= 1;                                                        \
      if (exponent == 0) break;                                              \
      bad |= __builtin_mul_overflow(base, base, &base);                      \
    }                                                                        \
    *out = power;                                                            \
    return bad;                                                              \
  }                                                                          \
  static int name(ARGS) {                                                    \
    int bad = 0; (void)c;                                                    \
    for (int64_t i = 0; i < rows; i++)                                       \
      bad |= name##_of(((const T *)a)[i], ((const int64_t *)b)[i], &((T *)out)[i]); \
    return bad;                                                              \
  }                                                                          \
  static int name##_check(const void *a, const void *b, const void *c, int64_t row) { \
    T power; (void)c;                                                        \
    return name##_of(((const T *)a)[row], ((const int64_t *)b)[row], &power); \
  }
POWER(power_i, int64_t)
POWER(power_u, uint64_t)

/* one operand */

MAP(negate_f, double, double, -x)
MAP(abs_f, double, double, fabs(x))
NO_ERRNO MAP(floor_f, double, double, floor(x))
NO_ERRNO MAP(ceil_f, double, double, ceil(x))
NO_ERRNO MAP(round_f, double, double, rint(x))
NO_ERRNO MAP(sqrt_f, double, double, sqrt(x))
MAP(exp_f, double, double, exp(x))
MAP(log_f, double, double, log(x))
MAP(not_b, uint8_t, uint8_t, x ^ 1)
#define CHECKED1(name, R, T, expression, fault)                              \
  WIDE static int name(ARGS) {                                               \
    R *restrict o = (R *)out; const T *p = (const T *)a; int bad = 0;        \
    (void)b; (void)c;                                                        \
    for (int64_t i = 0; i < rows; i++) {                                     \
      T x = p[i]; bad |= (fault); o[i] = (R)(expression);                    \
    }                                                                        \
    return bad;                                                              \
  }                                                                          \
  static int name##_check(const void *a, const void *b, const void *c, int64_t row) { \
    T x = ((const T *)a)[row]; (void)b; (void)c;                             \
    return (fault);                                                          \
  }
CHECKED1(negate_i, int64_t, int64_t, 0 - (uint64_t)x, x == INT64_MIN)
CHECKED1(abs_i, int64_t, int64_t, x < 0 ? 0 - (uint64_t)x : (uint64_t)x, x == INT64_MIN)

/* conversions; a float that is no integer of the type fails (and NaN: both comparisons are false) */

#define IN_INT64(x) ((x) >= -9223372036854775808.0 && (x) < 9223372036854775808.0)
#define IN_UINT64(x) ((x) > -1.0 && (x) < 18446744073709551616.0)
MAP(i_to_f, double, int64_t, (double)x)
MAP(u_to_f, double, uint64_t, (double)x)
MAP(b_to_f, double, uint8_t, (double)x)
MAP(b_to_i, int64_t, uint8_t, (int64_t)x)
MAP(b_to_u, uint64_t, uint8_t, (uint64_t)x)
MAP(i_to_b, uint8_t, int64_t, x != 0)
MAP(u_to_b, uint8_t, uint64_t, x != 0)
MAP(f_to_b, uint8_t, double, x != 0)
MAP(f_to_f32, double, double, (double)(float)x)
MAP(i_to_f32, double, int64_t, (double)(float)x)
MAP(u_to_f32, double, uint64_t, (double)(float)x)
CHECKED1(f_to_i, int64_t, double, IN_INT64(x) ? (int64_t)x : 0, !IN_INT64(x))
CHECKED1(f_to_u, uint64_t, double, IN_UINT64(x) ? (uint64_t)x : 0, !IN_UINT64(x))
CHECKED1(i_to_u, uint64_t, int64_t, x, x < 0)
CHECKED1(u_to_i, int64_t, uint64_t, x, x > INT64_MAX)
/* an int64 that must be within b to c */
WIDE static int within_i(ARGS) {
  int64_t *restrict o = (int64_t *)out;
  const int64_t *p = (const int64_t *)a, low = ((const int64_t *)b)[0], high = ((const int64_t *)c)[0];
  int64_t bad = 0;
  for (int64_t i = 0; i < rows; i++) { int64_t x = p[i]; bad |= (x < low) | (x > high); o[i] = x; }
  return bad != 0;
}
static int within_i_check(const void *a, const void *b, const void *c, int64_t row) {
  int64_t x = ((const int64_t *)a)[row];
  return x < ((const int64_t *)b)[row] || x > ((const int64_t *)c)[row];
}

/* comparisons; > and >= are < and <= with the operands exchanged */

#define COMPARE(suffix, T)                                                   \
  MAP2(equal_##suffix, uint8_t, T, T, x == y)                                \
  MAP2(not_equal_##suffix, uint8_t, T, T, x != y)                            \
  MAP2(less_##suffix, uint8_t, T, T, x < y)                                  \
  MAP2(less_equal_##suffix, uint8_t, T, T, x <= y)
COMPARE(bb, uint8_t)
COMPARE(ii, int64_t)
COMPARE(uu, uint64_t)
COMPARE(ff, double)

/* Exact order of an integer and a double: -1, 0, 1, or 2 where the double is NaN. The integer's
 * nearest double decides unless it equals the other; then both are whole numbers. */
static inline int order_if(int64_t x, double y) {
  double near = (double)x;
  if (near < y) return -1;
  if (near > y) return 1;
  if (near != y) return 2;
  if (y >= 9223372036854775808.0) return -1;
  return x < (int64_t)y ? -1 : x > (int64_t)y;
}
static inline int order_uf(uint64_t x, double y) {
  double near = (double)x;
  if (near < y) return -1;
  if (near > y) return 1;
  if (near != y) return 2;
  if (y >= 18446744073709551616.0) return -1;
  return x < (uint64_t)y ? -1 : x > (uint64_t)y;
}
static inline int order_iu(int64_t x, uint64_t y) {
  if (x < 0) return -1;
  return (uint64_t)x < y ? -1 : (uint64_t)x > y;
}
#define MIXED(suffix, other, order, T, S)                                    \
  MAP2(equal_##suffix, uint8_t, T, S, order(x, y) == 0)                      \
  MAP2(not_equal_##suffix, uint8_t, T, S, order(x, y) != 0)                  \
  MAP2(less_##suffix, uint8_t, T, S, order(x, y) == -1)                      \
  MAP2(less_equal_##suffix, uint8_t, T, S, order(x, y) <= 0)                 \
  MAP2(less_##other, uint8_t, S, T, order(y, x) == 1)                        \
  MAP2(less_equal_##other, uint8_t, S, T, (order(y, x) & ~1) == 0)
MIXED(if, fi, order_if, int64_t, double)
MIXED(uf, fu, order_uf, uint64_t, double)
MIXED(iu, ui, order_iu, int64_t, uint64_t)

/* operations with a say in what is null */

#define VALID(r, i) ((r)->valid == NULL || (r)->valid[i])
#define SPECIAL(name)                                                        \
  static void name(Register *out, const Register *a, const Register *b, const Register *c, \
                   int64_t rows)

/* Kleene: false & null is false, true | null is true */
#define KLEENE(name, operator, decides)                                      \
  SPECIAL(name) {                                                            \
    uint8_t *restrict o = (uint8_t *)out->values;                            \
    const uint8_t *p = (const uint8_t *)a->values, *q = (const uint8_t *)b->values; (void)c; \
    for (int64_t i = 0; i < rows; i++) o[i] = p[i] operator q[i];            \
    out->valid = NULL;                                                       \
    if (a->valid == NULL && b->valid == NULL) return;                        \
    for (int64_t i = 0; i < rows; i++) {                                     \
      uint8_t v = VALID(a, i), w = VALID(b, i);                              \
      out->own_valid[i] = (v & w) | (v & (p[i] == decides)) | (w & (q[i] == decides)); \
    }                                                                        \
    out->valid = out->own_valid;                                             \
  }
KLEENE(and_b, &, 0)
KLEENE(or_b, |, 1)

SPECIAL(is_null) {
  uint8_t *o = (uint8_t *)out->values; (void)b; (void)c;
  out->valid = NULL;
  for (int64_t i = 0; i < rows; i++) o[i] = !VALID(a, i);
}
SPECIAL(is_not_null) {
  uint8_t *o = (uint8_t *)out->values; (void)b; (void)c;
  out->valid = NULL;
  for (int64_t i = 0; i < rows; i++) o[i] = VALID(a, i);
}
/* a, or b where a is null */
#define FILL_NULL(name, T)                                                   \
  SPECIAL(name) {                                                            \
    T *restrict o = (T *)out->values;                                        \
    const T *p = (const T *)a->values, *q = (const T *)b->values; (void)c;   \
    out->valid = NULL;                                                       \
    if (a->valid == NULL) { memcpy(o, p, (size_t)rows * sizeof(T)); return; } \
    for (int64_t i = 0; i < rows; i++) o[i] = a->valid[i] ? p[i] : q[i];     \
    if (b->valid == NULL) return;                                            \
    for (int64_t i = 0; i < rows; i++) out->own_valid[i] = a->valid[i] | b->valid[i]; \
    out->valid = out->own_valid;                                             \
  }
FILL_NULL(fill_null_b, uint8_t)
FILL_NULL(fill_null_w, uint64_t)
/* b where a is true, else c */
#define CHOOSE(name, T)                                                      \
  SPECIAL(name) {                                                            \
    T *restrict o = (T *)out->values; const uint8_t *if_ = (const uint8_t *)a->values; \
    const T *p = (const T *)b->values, *q = (const T *)c->values;            \
    uint8_t taken[AMBERGATE_BLOCK_ROWS];                                     \
    for (int64_t i = 0; i < rows; i++) taken[i] = if_[i];                    \
    if (a->valid != NULL) for (int64_t i = 0; i < rows; i++) taken[i] &= a->valid[i]; \
    for (int64_t i = 0; i < rows; i++) o[i] = taken[i] ? p[i] : q[i];        \
    out->valid = NULL;                                                       \
    if (b->valid == NULL && c->valid == NULL) return;                        \
    for (int64_t i = 0; i < rows; i++)                                       \
      out->own_valid[i] = taken[i] ? VALID(b, i) : VALID(c, i);              \
    out->valid = out->own_valid;                                             \
  }
CHOOSE(choose_b, uint8_t)
CHOOSE(choose_w, uint64_t)
/* the least or greatest; nulls are passed over, NaN too */
#define EXTREME(name, T, better)                                             \
  SPECIAL(name) {                                                            \
    T *restrict o = (T *)out->values;                                        \
    const T *p = (const T *)a->values, *q = (const T *)b->values; (void)c;   \
    out->valid = NULL;                                                       \
    for (int64_t i = 0; i < rows; i++) { T x = p[i], y = q[i]; o[i] = (better) ? x : y; } \
    if (a->valid == NULL && b->valid == NULL) return;                        \
    for (int64_t i = 0; i < rows; i++) {                                     \
      uint8_t v = VALID(a, i), w = VALID(b, i);                              \
      if (!w) o[i] = p[i];                                                   \
      if (!v) o[i] = q[i];                                                   \
      out->own_valid[i] = v | w;                                             \
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

/* The table of operations. `classes` are those of the result and the operands; w is any of i, u
 * and f. */
typedef struct {
  const char *name;
  const char *classes;
  Loop loop;        /* nulls go through it */
  Check check;      /* whether a row's result does not fit, where the loop is checked */
  Special special;  /* says itself what is null */
} Operation;

#define LOOP(name, classes) {#name, classes, name, NULL, NULL}
#define FALLIBLE(name, classes) {#name, classes, name, name##_check, NULL}
#define OWN(name, classes) {#name, classes, NULL, NULL, name}
#define COMPARISONS(suffix, classes)                                         \
  LOOP(equal_##suffix, classes), LOOP(not_equal_##suffix, classes),          \
  LOOP(less_##suffix, classes), LOOP(less_equal_##suffix, classes)
#define COMPARISONS_MIXED(suffix, classes, other, exchanged)                 \
  COMPARISONS(suffix, classes), LOOP(less_##other, exchanged), LOOP(less_equal_##other, exchanged)

static const Operation OPERATIONS[] = {
  LOOP(add_f, "fff"), LOOP(subtract_f, "fff"), LOOP(multiply_f, "fff"), LOOP(divide_f, "fff"),
  FALLIBLE(add_i, "iii"), FALLIBLE(subtract_i, "iii"), FALLIBLE(multiply_i, "iii"),
  FALLIBLE(add_u, "uuu"), FALLIBLE(subtract_u, "uuu"), FALLIBLE(multiply_u, "uuu"),
  LOOP(floor_divide_f, "fff"), LOOP(modulo_f, "fff"),
  {"floor_divide_i", "iii", NULL, floor_divide_i_check, floor_divide_i}, OWN(modulo_i, "iii"),
  OWN(floor_divide_u, "uuu"), OWN(modulo_u, "uuu"),
  LOOP(power_f, "fff"), FALLIBLE(power_i, "iii"), FALLIBLE(power_u, "uui"),
  LOOP(negate_f, "ff"), LOOP(abs_f, "ff"), LOOP(floor_f, "ff"), LOOP(ceil_f, "ff"),
  LOOP(round_f, "ff"), LOOP(sqrt_f, "ff"), LOOP(exp_f, "ff"), LOOP(log_f, "ff"),
  LOOP(not_b, "bb"), FALLIBLE(negate_i, "ii"), FALLIBLE(abs_i, "ii"),
  LOOP(i_to_f, "fi"), LOOP(u_to_f, "fu"), LOOP(b_to_f, "fb"), LOOP(b_to_i, "ib"),
  LOOP(b_to_u, "ub"), LOOP(i_to_b, "bi"), LOOP(u_to_b, "bu"), LOOP(f_to_b, "bf"),
  LOOP(f_to_f32, "ff"), LOOP(i_to_f32, "fi"), LOOP(u_to_f32, "fu"), FALLIBLE(f_to_i, "if"), FALLIBLE(f_to_u, "uf"), FALLIBLE(i_to_u, "ui"),
  FALLIBLE(u_to_i, "iu"), FALLIBLE(within_i, "iiii"),
  COMPARISONS(bb, "bbb"), COMPARISONS(ii, "bii"), COMPARISONS(uu, "buu"), COMPARISONS(ff, "bff"),
  COMPARISONS_MIXED(if, "bif", fi, "bfi"), COMPARISONS_MIXED(uf, "buf", fu, "bfu"),
  COMPARISONS_MIXED(iu, "biu", ui, "bui"),
  OWN(and_b, "bbb"), OWN(or_b, "bbb"),
  {"is_null_b", "bb", NULL, NULL, is_null}, {"is_null_w", "bw", NULL, NULL, is_null},
  {"is_not_null_b", "bb", NULL, NULL, is_not_null},
  {"is_not_null_w", "bw", NULL, NULL, is_not_null},
  OWN(fill_null_b, "bbb"), OWN(fill_null_w, "www"), OWN(choose_b, "bbbb"), OWN(choose_w, "wbww"),
  OWN(min_b, "bbb"), OWN(max_b, "bbb"), OWN(min_i, "iii"), OWN(max_i, "iii"),
  OWN(min_u, "uuu"), OWN(max_u, "uuu"), OWN(min_f, "fff"), OWN(max_f, "fff"),
};
#define OPERATION_COUNT ((int)(sizeof(OPERATIONS) / sizeof(OPERATIONS[0])))

#endif
