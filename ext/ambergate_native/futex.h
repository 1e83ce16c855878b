/* Sleep on a 64-bit word of shared memory, and wake its sleeper.
 *
 * Linux compares and sleeps in one act (futex, https://man7.org/linux/man-pages/man2/futex.2.html);
 * it looks at the word's low 32 bits, which is enough: a sleeper would have to miss 2^32 changes.
 * Elsewhere the sleeper naps and looks again, so wake-ups come late but never not at all.
 */
#ifndef AMBERGATE_FUTEX_H
#define AMBERGATE_FUTEX_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

static inline int64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#ifdef __linux__
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define AMBERGATE_LOW_HALF 0
#else
#define AMBERGATE_LOW_HALF 1
#endif

/* Sleep while *word == seen, at most timeout_ns; 0 or an errno (EAGAIN, EINTR, ETIMEDOUT). */
static inline int futex_wait(int64_t *word, int64_t seen, int64_t timeout_ns) {
    struct timespec limit = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    uint32_t *low = (uint32_t *)word + AMBERGATE_LOW_HALF;
    /* not FUTEX_PRIVATE: the word lies in memory shared by processes */
    return syscall(SYS_futex, low, FUTEX_WAIT, (uint32_t)seen, &limit, 0, 0) ? errno : 0;
}

static inline void futex_wake(int64_t *word) {
    uint32_t *low = (uint32_t *)word + AMBERGATE_LOW_HALF;
    syscall(SYS_futex, low, FUTEX_WAKE, INT_MAX, 0, 0, 0);
}

#else

#define AMBERGATE_NAP_NS 200000

static inline int futex_wait(int64_t *word, int64_t seen, int64_t timeout_ns) {
    int64_t nap = timeout_ns < AMBERGATE_NAP_NS ? timeout_ns : AMBERGATE_NAP_NS;
    struct timespec limit = {0, nap};
    (void)word; (void)seen;
    return nanosleep(&limit, 0) ? errno : 0;
}

static inline void futex_wake(int64_t *word) { (void)word; }

#endif
#endif
