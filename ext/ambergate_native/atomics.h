/* The only memory orderings of the project.
 *
 * C11 _Atomic is not reachable from Cython, so these are the compiler's builtins on plain
 * 64-bit words. AMBERGATE_WEAKENED turns release and acquire into relaxed: it exists so that
 * the sanitizer check can be shown to fail, and is never part of a release build.
 */
#ifndef AMBERGATE_ATOMICS_H
#define AMBERGATE_ATOMICS_H

#include <stdint.h>

#ifdef AMBERGATE_WEAKENED
#define AMBERGATE_ACQUIRE __ATOMIC_RELAXED
#define AMBERGATE_RELEASE __ATOMIC_RELAXED
#else
#define AMBERGATE_ACQUIRE __ATOMIC_ACQUIRE
#define AMBERGATE_RELEASE __ATOMIC_RELEASE
#endif

static inline int64_t load_relaxed(const int64_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }
static inline int64_t load_acquire(const int64_t *word) { return __atomic_load_n(word, AMBERGATE_ACQUIRE); }
static inline void store_relaxed(int64_t *word, int64_t value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }
static inline void store_release(int64_t *word, int64_t value) { __atomic_store_n(word, value, AMBERGATE_RELEASE); }
static inline int64_t add_relaxed(int64_t *word, int64_t value) { return __atomic_fetch_add(word, value, __ATOMIC_RELAXED); }
static inline int64_t add_release(int64_t *word, int64_t value) { return __atomic_fetch_add(word, value, AMBERGATE_RELEASE); }
static inline int64_t exchange_relaxed(int64_t *word, int64_t value) { return __atomic_exchange_n(word, value, __ATOMIC_RELAXED); }
static inline void fence_seq_cst(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

#endif
