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

#endif
