"""Functions that do to their process what they should not: the job ends right, or says why not."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

import ambergate as ag
from tests.cases.programs import wait_for


def forks(v):
    if v == 5 and os.fork() == 0:
        time.sleep(1)
        os._exit(0)
    return v


def starts_threads(v):
    if v < 8:
        threading.Thread(target=time.sleep, args=(100,)).start()
    return v


def changes_signals(v):
    signal.set_wakeup_fd(-1) if threading.current_thread() is threading.main_thread() else None
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE):
        signal.signal(each, signal.SIG_DFL)
    return v


def changes_folder(v):
    os.chdir("/")
    return v


class Noisy:
    def __del__(self):
        raise ValueError("in __del__")


def raises_in_del(v):
    if v == 5:
        Noisy()
    return v


def reads_input(v):
    return v + len(sys.stdin.read())


def closes_streams(v):
    if v == 0:
        os.close(1)
        os.close(2)
    return v


def hogs_the_interpreter(v):
    sys.setswitchinterval(100)
    return v


def traces(v):
    sys.settrace(lambda *_: None)
    return v


HARMLESS = [
    forks,
    starts_threads,
    changes_signals,
    changes_folder,
    raises_in_del,
    reads_input,
    closes_streams,
    hogs_the_interpreter,
    traces,
]


def exits(v):
    if v == 5:
        os._exit(3)
    return v


def crashes(v):
    if v == 5:
        os.kill(os.getpid(), signal.SIGSEGV)
    return v


def closes_everything(v):
    if v == 5:
        os.closerange(3, 256)
    return v


def leaves(v):
    if v == 5:
        sys.exit(4)
    return v


def interrupts(v):
    if v == 5:
        raise KeyboardInterrupt
    return v


def recurses(v):
    return recurses(v) if v == 5 else v


def allocates(v):
    return len(bytearray(1 << 60)) if v == 5 else v


def forked_child_leaves(v):
    if v == 5:
        child = os.fork()
        if child == 0:
            sys.exit(0)
        os.waitpid(child, 0)
        raise ValueError("in the parent")
    return v


FATAL = [
    (exits, "exit code 3"),
    (crashes, "killed by SIGSEGV"),
    (closes_everything, "process ended"),
    (leaves, "position 5: SystemExit: 4"),
    (interrupts, "position 5: KeyboardInterrupt"),
    (recurses, "position 5: RecursionError"),
    (allocates, "position 5: MemoryError"),
    (forked_child_leaves, "position 5: "),
]


def job_of(function, target):
    rows = ag.from_arrow({"v": list(range(200))}, parallelism=1)
    mapped = rows.map(
        function, columns=["v"], returns={"v": "int64"}, name="misbehaves", parallelism=1
    )
    return ag.start(mapped.write_csv(str(target)), workers=2, on_error="raise")


@pytest.mark.parametrize("function", HARMLESS, ids=lambda each: each.__name__)
def test_what_does_no_harm_to_the_rows(function, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    job = job_of(function, "x.csv")
    job.wait(timeout="20s")
    text = (tmp_path / "x.csv").read_text().split()
    assert text[1:] == [str(v) for v in range(200)]


@pytest.mark.parametrize(
    ("function", "said"), FATAL, ids=lambda each: getattr(each, "__name__", "")
)
def test_what_ends_the_job_is_named_and_leaves_no_output(function, said, tmp_path):
    began = time.monotonic()
    with pytest.raises(ag.JobFailed, match=said):
        job_of(function, tmp_path / "x.csv").wait(timeout="20s")
    assert time.monotonic() - began < 12
    assert os.listdir(tmp_path) == []
    wait_for(lambda: not holding(tmp_path), 5, "every process that wrote there to end")


def holding(folder):
    """Processes, a forked and orphaned one included, that hold a file of ``folder`` open."""
    found = []
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(link).startswith(f"{folder}/"):
                found.append(link)
        except OSError:
            continue
    return found


def test_what_cannot_travel_is_named_before_anything_starts(monkeypatch):
    def started(*_, **__):
        raise AssertionError("a process was started")

    monkeypatch.setattr("subprocess.Popen", started)
    lock = threading.Lock()

    def locks(v):
        with lock:
            return v

    sink = ag.from_arrow({"v": [1]}).map(locks, columns=["v"], returns={"v": "int64"}, name="m")
    with pytest.raises(ag.PlanError, match=r"operator 'm': function .*locks .*cannot pickle"):
        sink.collect(workers=2, backend="local")
    assert sink.collect(backend="inline").num_rows == 1
