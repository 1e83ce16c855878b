"""A32: functions that print never hang a job, whatever becomes of the text."""

import os
import subprocess
import sys

from tests.cases.programs import environment, run

PROGRAM = """
import os, sys
import ambergate as ag

def loud(x):
    sys.stdout.write("o" * 20_000)
    print("e" * 100, file=sys.stderr)
    os.write(1, b"raw")
    return x

job = ag.run(
    ag.from_arrow({"x": list(range(1000))}).map(loud, columns=["x"], returns={"x": "int64"})
    .to_table(name="t"), workers=2, progress=False)
rows = job.result("t").num_rows
open(sys.argv[1], "w").write(str(rows))
"""


def test_captured_text_arrives(tmp_path):
    program = """
import sys
import ambergate as ag

def hello(x):
    print("hello", x, flush=True)
    print("warning", x, file=sys.stderr, flush=True)
    return x

ag.from_arrow({"x": [1, 2, 3]}).map(hello, columns=["x"], returns={"x": "int64"}).collect(workers=2)
import time; time.sleep(0.5)
"""
    done = run(["-c", program], cwd=tmp_path)
    assert sorted(done.stdout.split()) == ["1", "2", "3", *["hello"] * 3]
    # two workers write at once, each a word and a line end at a time
    assert sorted(done.stderr.split()) == ["1", "2", "3", *["warning"] * 3]


def test_characters_are_whole_however_the_text_is_cut(tmp_path):
    program = """
import ambergate as ag

def print_much(x):
    print(40_000 * "\u20ac", flush=True)  # three bytes each, in reads of 64 KiB
    return x

ag.from_arrow({"x": [1]}).map(print_much, columns=["x"], returns={"x": "int64"}).collect(workers=2)
"""
    done = run(["-c", program], cwd=tmp_path)
    assert done.stdout == 40_000 * "\u20ac" + "\n"


def test_a_pipe_nobody_reads_and_a_closed_stream(tmp_path):
    for closed in (False, True):
        answer = tmp_path / f"rows-{closed}"
        read, write = os.pipe()
        try:
            options = {"stdout": write, "stderr": subprocess.DEVNULL}
            if closed:
                options["preexec_fn"] = lambda: os.close(1)
            driver = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(answer)], env=environment(), **options
            )
            deadline = 40
            try:
                while not answer.exists() and deadline > 0 and driver.poll() is None:
                    try:
                        driver.wait(0.2)
                    except subprocess.TimeoutExpired:
                        deadline -= 0.2
                driver_done = answer.exists() and answer.read_text()
            finally:
                driver.kill()
                driver.wait(10)
        finally:
            os.close(read)
            os.close(write)
        assert driver_done == "1000", f"closed={closed}"


def test_last_words_of_a_worker_that_dies(tmp_path):
    program = """
import os, sys
import ambergate as ag

def dies(x):
    if x == 5:
        print("my last words", file=sys.stderr, flush=True)
        os.kill(os.getpid(), 11)
    return x

try:
    ag.from_arrow({"x": list(range(10))}).map(dies, columns=["x"], returns={"x": "int64"}).collect(
        workers=2)
except ag.JobFailed as error:
    print(error)
"""
    done = run(["-c", program], cwd=tmp_path)
    assert "was killed by SIGSEGV" in done.stdout
    assert "my last words" in done.stdout
