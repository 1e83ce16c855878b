# cython: language_level=3
"""A thread without Python that ends this process when another one does.

A Python thread would wait for the interpreter, and a user's function may hold that for minutes.
The process gets three seconds to leave in order first.
"""

cdef extern from *:
    """
    #include <errno.h>
    #include <poll.h>
    #include <pthread.h>
    #include <stdint.h>
    #include <unistd.h>

    #define AMBERGATE_GRACE_S 3

    static void *ambergate_watch(void *argument) {
      struct pollfd wait = {(int)(intptr_t)argument, POLLIN, 0};
      for (;;) {
        int ready = poll(&wait, 1, -1);
        if (ready > 0) {
          sleep(AMBERGATE_GRACE_S);
          _exit(0);
        }
        if (ready < 0 && errno != EINTR) return NULL;
      }
    }

    static int ambergate_start_watch(int descriptor) {
      pthread_t thread;
      pthread_attr_t attributes;
      int failed;
      pthread_attr_init(&attributes);
      pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
      pthread_attr_setstacksize(&attributes, 64 * 1024);
      failed = pthread_create(&thread, &attributes, ambergate_watch, (void *)(intptr_t)descriptor);
      pthread_attr_destroy(&attributes);
      return failed;
    }
    """
    int ambergate_start_watch(int descriptor) nogil


def exit_when_readable(int descriptor):
    """End this process, whatever it runs, three seconds after ``descriptor`` becomes readable.

    Parameters
    ----------
    descriptor : a process descriptor of the process to follow, or the read end of a pipe from it

    Raises
    ------
    OSError
        No thread could be started.
    """
    cdef int failed = ambergate_start_watch(descriptor)
    if failed:
        raise OSError(failed, "no thread to watch the controller with could be started")
