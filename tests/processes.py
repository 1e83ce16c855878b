"""Python processes that share memory with the test, and end with it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def python(code: str, *arguments: int, fd: int) -> Iterator[subprocess.Popen]:
    """A process that runs ``code``, inherits ``fd`` as its first argument, and is killed at the end
    if it still runs.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(fd), *map(str, arguments)],
        pass_fds=[fd],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
