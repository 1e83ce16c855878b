/* The table of the vector machine's operations, and one step of a program. */
#ifndef AMBERGATE_VECTOR_OPERATIONS_H
#define AMBERGATE_VECTOR_OPERATIONS_H

#include <stdint.h>
#include <string.h>

#include "vector_choices.h"
#include "vector_loops.h"

/* The table of operations. `classes` are those of the result and the operands; w is any of i, u
 * and f. */
typedef enum { USES_ALL, CHOOSES, FILLS } Use; /* of the operands, in each row */
typedef struct {
  const char *name;
  const char *classes;
  Loop loop;        /* nulls go through it */
  Check check;      /* whether a row's result does not fit, where the loop is checked */
  Special special;  /* says itself what is null */
  Use use;
} Operation;

#define LOOP(name, classes) {#name, classes, name, NULL, NULL, USES_ALL}
#define FALLIBLE(name, classes) {#name, classes, name, name##_check, NULL, USES_ALL}
#define OWN(name, classes) {#name, classes, NULL, NULL, name, USES_ALL}
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
  {"floor_divide_i", "iii", NULL, floor_divide_i_check, floor_divide_i, USES_ALL}, OWN(modulo_i, "iii"),
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
  {"is_null_b", "bb", NULL, NULL, is_null, USES_ALL}, {"is_null_w", "bw", NULL, NULL, is_null, USES_ALL},
  {"is_not_null_b", "bb", NULL, NULL, is_not_null, USES_ALL},
  {"is_not_null_w", "bw", NULL, NULL, is_not_null, USES_ALL},
  {"fill_null_b", "bbb", NULL, NULL, fill_null_b, FILLS},
  {"fill_null_w", "www", NULL, NULL, fill_null_w, FILLS},
  {"choose_b", "bbbb", NULL, NULL, choose_b, CHOOSES},
  {"choose_w", "wbww", NULL, NULL, choose_w, CHOOSES},
  OWN(min_b, "bbb"), OWN(max_b, "bbb"), OWN(min_i, "iii"), OWN(max_i, "iii"),
  OWN(min_u, "uuu"), OWN(max_u, "uuu"), OWN(min_f, "fff"), OWN(max_f, "fff"),
};
#define OPERATION_COUNT ((int)(sizeof(OPERATIONS) / sizeof(OPERATIONS[0])))

/* the result is null where an operand is */
WIDE static void join_valid(Register *out, const Register *a, const Register *b, const Register *c,
                            int64_t rows) {
  const Register *operands[3] = {a, b, c};
  int some = 0;
  for (int k = 0; k < 3; k++) {
    const uint8_t *from = operands[k]->valid;
    uint8_t *restrict to = out->own_valid;
    if (from == NULL || (k > 0 && operands[k] == a)) continue;
    if (!some) memcpy(to, from, (size_t)rows);
    else for (int64_t i = 0; i < rows; i++) to[i] &= from[i];
    some = 1;
  }
  out->valid = some ? out->own_valid : NULL;
}

/* The errors of the operands; of a choice only of the operand that is used. */
static void join_errors(const Operation *operation, Register *out, const Register *a,
                        const Register *b, const Register *c, int64_t rows) {
  int chooses = operation->use == CHOOSES, fills = operation->use == FILLS;
  for (int64_t i = 0; i < rows; i++) {
    uint8_t error = a->errors == NULL ? 0 : a->errors[i];
    int taken = chooses && ((const uint8_t *)a->values)[i] && VALID(a, i);
    int null = fills && !VALID(a, i);
    if (!error && b->errors != NULL && (chooses ? taken : fills ? null : 1)) error = b->errors[i];
    if (!error && c->errors != NULL && !taken) error = c->errors[i];
    out->own_errors[i] = error;
  }
  out->errors = out->own_errors;
}

/* Mark the rows that do not fit; what lies under a null is no value and cannot fail. */
static void mark_errors(const Operation *operation, Register *out, const Register *a,
                        const Register *b, const Register *c, int64_t rows, int number) {
  for (int64_t i = 0; i < rows; i++) {
    if (!VALID(out, i) || !operation->check(a->values, b->values, c->values, i)) continue;
    if (out->errors == NULL) {
      memset(out->own_errors, 0, (size_t)rows);
      out->errors = out->own_errors;
    }
    if (out->errors[i] == 0) out->errors[i] = (uint8_t)number;
  }
}

/* Run one operation; `number` is what its failures are marked with. */
static void run_operation(int index, Register *out, const Register *a, const Register *b,
                          const Register *c, int64_t rows, int number) {
  const Operation *operation = &OPERATIONS[index];
  int bad;
  if (operation->loop != NULL) {
    bad = operation->loop(out->values, a->values, b->values, c->values, rows);
    join_valid(out, a, b, c, rows);
  } else {
    operation->special(out, a, b, c, rows);
    bad = operation->check != NULL;
  }
  out->errors = NULL;
  if (a->errors != NULL || b->errors != NULL || c->errors != NULL)
    join_errors(operation, out, a, b, c, rows);
  if (bad) mark_errors(operation, out, a, b, c, rows, number);
}

#endif
