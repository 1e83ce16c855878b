"""A30: jobs start from scripts, modules, standard input, notebooks; functions come along."""

import json
import sys
import textwrap

import pytest

from tests.cases.programs import ROOT, environment, run

HEAD = """
import math
import functools
import dataclasses
import ambergate as ag

FACTOR = 3

def by_global(x):
    return x * FACTOR

def by_module(x):
    return math.floor(x + 0.5)

class Adder:
    def __init__(self, n):
        self.n = n
    def add(self, x):
        return x + self.n

@dataclasses.dataclass
class Pair:
    a: int
    b: int

def by_record(x):
    p = Pair(x, 1)
    return p.a + p.b

def closure(n):
    return lambda x: x - n

def three(a, b, x):
    return a + b + x

def total(fn):
    stream = ag.from_arrow({"x": list(range(10))}).map(fn, columns=["x"], returns={"y": "int64"})
    return sum(stream.collect(workers=2)["y"].to_pylist())
"""
BODY = """
FACTOR = 5
answers = {
    "lambda": total(lambda x: x + 1),
    "closure": total(closure(2)),
    "partial": total(functools.partial(three, 1, 2)),
    "method": total(Adder(4).add),
    "module": total(by_module),
    "global": total(by_global),
    "record": total(by_record),
}
print(answers)
"""
RIGHT = {
    "lambda": 55,
    "closure": 25,
    "partial": 75,
    "method": 85,
    "module": 45,
    "global": 225,
    "record": 55,
}


@pytest.mark.parametrize("how", ["path", "module", "stdin", "command"])
def test_without_a_main_guard(tmp_path, how):
    (tmp_path / "program.py").write_text(HEAD + BODY)
    arguments = {
        "path": [str(tmp_path / "program.py")],
        "module": ["-m", "program"],
        "stdin": ["-"],
        "command": ["-c", HEAD + BODY],
    }[how]
    done = run(arguments, text=HEAD + BODY if how == "stdin" else None, cwd=tmp_path)
    assert done.stderr == ""
    assert eval(done.stdout) == RIGHT


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_from_a_process_of_multiprocessing(tmp_path, method):
    program = HEAD + textwrap.dedent(f"""
    def work(queue):
        queue.put(total(by_record))

    if __name__ == "__main__":
        import multiprocessing
        context = multiprocessing.get_context({method!r})
        queue = context.Queue()
        process = context.Process(target=work, args=(queue,))
        process.start()
        print(queue.get(timeout=40))
        process.join(20)
    """)
    (tmp_path / "program.py").write_text(program)
    done = run([str(tmp_path / "program.py")], cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("55\n", "")


NOTEBOOK = """
import json, sys
import nbclient, nbformat
cells = json.load(open("cells.json"))
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
notebook.metadata["kernelspec"] = {"name": "here", "display_name": "here", "language": "python"}
nbclient.NotebookClient(notebook, timeout=60).execute()
for cell in notebook.cells:
    for output in cell["outputs"]:
        if output["output_type"] == "execute_result":
            print(output["data"]["text/plain"])
        elif output["output_type"] == "stream":
            print(output["text"], end="")
"""


def test_in_a_notebook(tmp_path):
    cells = [
        HEAD,
        "class Cell:\n    def __init__(self, x): self.x = x\n"
        "    def twice(self): return 2 * self.x\n",
        "def by_cell(x):\n    return Cell(x).twice()\n",
        "print('plain words')\ntotal(by_cell)",
        "job = ag.start(ag.from_arrow({'x': [1, 2, 3]}).map(lambda x: 6 // x, columns=['x'],"
        " returns={'y': 'int64'}).to_table(), workers=2)\njob.wait()\njob.result().num_rows",
    ]
    (tmp_path / "cells.json").write_text(json.dumps(cells))
    kernel = tmp_path / "share" / "jupyter" / "kernels" / "here"
    kernel.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(
        json.dumps({"argv": command, "display_name": "here", "language": "python"})
    )
    jupyter = environment(JUPYTER_PATH=str(tmp_path / "share" / "jupyter"))
    done = run(["-c", NOTEBOOK], cwd=tmp_path, env=jupyter)
    assert done.stdout.split("\n") == ["plain words", "90", "3", ""], done.stderr


def test_code_that_cannot_be_loaded_in_a_worker_stops_the_job_at_once(tmp_path):
    program = """
import sys, types
import ambergate as ag
module = types.ModuleType("only_here")
exec("def f(x): return x", module.__dict__)
module.f.__module__ = "only_here"
sys.modules["only_here"] = module
try:
    rows = ag.from_arrow({"x": [1]})
    rows.map(module.f, columns=["x"], returns={"x": "int64"}).collect(workers=2)
except ag.JobFailed as error:
    print("only_here" in str(error))
"""
    done = run(["-c", program], cwd=tmp_path, timeout=30)
    assert done.stdout == "True\n", done.stderr
    assert ROOT.exists()
