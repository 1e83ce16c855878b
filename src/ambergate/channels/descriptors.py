"""Descriptors that can be passed to a child process."""

from __future__ import annotations

import fcntl
import os

__all__ = ["above_streams"]

MOST_STREAM = 2


def above_streams(descriptor: int) -> int:
    """The same file under a number above those of the standard streams; the old one is closed.

    Where a standard stream is closed, a new file takes its number, and loses it again in a child,
    whose own streams are put there.
    """
    if descriptor > MOST_STREAM:
        return descriptor
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, MOST_STREAM + 1)
    os.close(descriptor)
    return moved
