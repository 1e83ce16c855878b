"""The command line runs files, prints results, and speaks plainly of mistakes."""

import pytest

from tests.cases.programs import run

PROGRAM = """
import ambergate as ag
from ambergate import col

stream = ag.from_arrow({"x": [1, 2, 3, 4]}).filter(col("x") > 1, name="big")
sums = stream.agg(total=ag.sum("x")).to_table(name="sums")
rows = stream.sort("x").to_table(name="rows")
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return str(path)


def test_every_sink_of_a_file_is_run_as_one_job(program):
    done = run(["-m", "ambergate.cli", "run", program, "--workers", "2"])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["total", "9", "x", "2", "3", "4"]


def test_one_stream_by_name(program):
    done = run(["-m", "ambergate.cli", "run", f"{program}:stream", "--backend", "inline"])
    assert sorted(done.stdout.split()) == ["2", "3", "4", "x"]


def test_explain_runs_nothing(program):
    done = run(["-m", "ambergate.cli", "run", program, "--explain", "--workers", "2"])
    assert "big  [filter, 2 tasks]" in done.stdout
    assert "in flight at most" in done.stdout


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("nowhere.py", "there is no file nowhere.py"),
        ("{program}:nothing", "has no global 'nothing'"),
    ],
)
def test_mistakes_are_named(program, target, says):
    done = run(["-m", "ambergate.cli", "run", target.format(program=program)])
    assert done.returncode == 1
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_failing_job_names_operator_and_row(tmp_path):
    path = tmp_path / "fails.py"
    path.write_text(
        "import ambergate as ag\n"
        "bad = ag.from_arrow({'x': [1, 0]}, parallelism=1).map(lambda x: 1 // x, columns=['x'],\n"
        "    returns={'y': 'int64'}, name='divide', parallelism=1).to_table()\n"
    )
    done = run(["-m", "ambergate.cli", "run", str(path), "--workers", "1"])
    assert done.returncode == 1
    assert "operator 'divide', task 0, position 1: ZeroDivisionError" in done.stderr
    assert "row: x=0" in done.stderr


def test_the_demo_ends_right():
    done = run(["-m", "ambergate.cli", "demo"])
    assert done.returncode == 0, done.stderr
    assert "task 1 has consumed exactly 54,321 rows" in done.stdout
    assert "finished" in done.stdout
