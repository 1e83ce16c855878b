"""A10: equal keys meet, whichever process made them and whatever its hash seed is."""

import datetime

import pytest

import ambergate as ag
from tests.cases.programs import run

PROGRAM = """
import ambergate as ag
import pyarrow as pa
tables = [pa.table({"k": [f"k{i % 10}" for i in range(part, 10_000, 4)]}) for part in range(4)]
stream = ag.from_arrow(tables)
got = stream.group_by("k").agg(n=ag.count()).collect(workers=4).to_pylist()
print(sorted((row["k"], row["n"]) for row in got))
"""


def test_ten_keys_a_thousand_each_in_every_run(tmp_path):

    for seed in ("random", "1", "2"):
        from tests.cases.programs import environment as with_path

        done = run(["-c", PROGRAM], cwd=tmp_path, env=with_path(PYTHONHASHSEED=seed))
        assert eval(done.stdout) == [(f"k{i}", 1000) for i in range(10)], done.stderr


def test_the_naive_way_splits_keys():
    program = "print(hash('k1'))"
    answers = {run(["-c", program]).stdout for _ in range(3)}
    assert len(answers) > 1


@pytest.mark.parametrize(
    "values",
    [
        [datetime.date(2020, 1, 1), datetime.date(1969, 1, 1), None],
        [True, False, None],
        [b"\x00", b"", None],
        [1.0, -0.0, 0.0, float("nan")],
        [1, 2**62, -5, None],
    ],
)
def test_every_type_of_key_at_every_parallelism(backend, values):
    rows = values * 100
    counts = []
    for tasks in (1, 4):
        table = (
            ag.from_arrow({"k": rows}, parallelism=tasks)
            .group_by(
                "k",
            )
            .agg(n=ag.count(), parallelism=tasks)
            .collect(backend=backend, workers=2)
        )
        counts.append(sorted((repr(row["k"]), row["n"]) for row in table.to_pylist()))
    assert counts[0] == counts[1]
    assert sum(n for _, n in counts[0]) == len(rows)
