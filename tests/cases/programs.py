"""Running small programs as users would: in a process of their own."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]


def environment(**more):
    """The environment of a user whose Python finds ambergate as this one does."""
    path = os.pathsep.join([*(p for p in sys.path if p), str(ROOT)])
    return {**os.environ, "PYTHONPATH": path, **more}


def run(arguments, *, text=None, timeout=60, **options):
    """Run Python with ``arguments``; the completed process, output as text."""
    return subprocess.run(
        [sys.executable, *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=options.pop("env", environment()),
        check=False,
        **options,
    )


def start(arguments, **options):
    """Start Python with ``arguments``; its process, output piped."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=options.pop("env", environment()),
        **options,
    )


def workers_of(pid):
    """The worker processes that ``pid`` started."""
    try:
        return [
            child
            for child in psutil.Process(pid).children(recursive=True)
            if "ambergate.worker" in " ".join(child.cmdline())
        ]
    except psutil.Error:
        return []


def wait_for(holds, timeout, what):
    """Wait until ``holds()`` is true; AssertionError that says what for otherwise."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        found = holds()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"waited {timeout} s for {what}")


def all_gone(processes):
    """Whether every process has ended (a zombie has)."""
    return all(
        not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
        for process in processes
    )
