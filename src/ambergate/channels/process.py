"""Following another process's life by its descriptor, never by a heartbeat."""

from __future__ import annotations

import os

from ambergate_native.watch import exit_when_readable

__all__ = ["exit_with", "open_process"]


def open_process(pid: int) -> int | None:
    """A descriptor that becomes readable when process ``pid`` ends; None where there is no such."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def exit_with(pid: int, fallback: int) -> None:
    """End this process when ``pid`` does, even while a function holds the interpreter.

    ``fallback`` is a socket to that process, for systems without process descriptors.
    """
    descriptor = open_process(pid)
    exit_when_readable(fallback if descriptor is None else descriptor)
    if os.getppid() != pid:
        os._exit(0)
