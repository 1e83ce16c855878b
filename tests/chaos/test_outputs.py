"""Targets that cannot take the rows: the error names them and nothing is visible."""

import os
import shutil
import subprocess
import sys
import time

import pytest

import ambergate as ag
from tests.cases.programs import ROOT, environment, wait_for
from tests.cases.test_a28_small_shm import needs_namespace


def slow(v):
    time.sleep(0.001)
    return v


def slow_rows(rows=4000):
    return ag.from_arrow({"v": list(range(rows))}).map(slow, columns=["v"], returns={"v": "int64"})


FULL_DISK = """
import os, sys
import ambergate as ag

texts = ["some text that is long enough " + str(row) for row in range(200_000)]
rows = ag.from_arrow({"text": texts})
for form in ("csv", "json", "parquet"):
    target = f"{sys.argv[1]}/{form}/"
    for backend in ("local", "inline"):
        try:
            ag.run(getattr(rows, f"write_{form}")(target), workers=2, backend=backend)
        except ag.JobFailed as error:
            said = str(error)
            assert target in said and "OutputError" in said and "make room on the disk" in said
            print(form, backend, os.listdir(target))
"""


@needs_namespace
def test_a_full_disk_is_named_and_nothing_is_left_on_it(tmp_path):
    mounted = f"mount -t tmpfs -o size=1m tmpfs {tmp_path}"
    script = f'{mounted}\nexec {sys.executable} -c "$PROGRAM" $0'
    ended = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, str(tmp_path)],
        env=environment(PROGRAM=FULL_DISK),
        capture_output=True,
        text=True,
        timeout=100,
        cwd=ROOT,
    )
    assert ended.stderr == ""
    kinds = [f"{form} {b} []" for form in ("csv", "json", "parquet") for b in ("local", "inline")]
    assert ended.stdout.splitlines() == kinds


def test_a_folder_that_is_removed_while_the_job_runs(backend, tmp_path):
    folder = tmp_path / "out"
    job = ag.start(slow_rows().write_csv(f"{folder}/"), workers=2, backend=backend, batch_rows=50)
    wait_for(lambda: len(os.listdir(folder)) == 2, 20, "the unfinished files")
    shutil.rmtree(folder)
    with pytest.raises(ag.JobFailed, match=f"{folder}/part-0000"):
        job.wait_for_stop(timeout="30s")
    assert os.listdir(tmp_path) == []


def test_of_two_jobs_that_write_one_target_one_succeeds_whole(tmp_path):
    jobs = [
        ag.start(slow_rows(1000).write_csv(f"{tmp_path}/out/"), workers=workers)
        for workers in (1, 2)
    ]
    ends, said = [], ""
    for job in jobs:
        try:
            job.wait(timeout="30s")
        except ag.JobFailed as error:
            said += str(error)
        ends.append(job.state)
    assert "came into being while the job ran" in said
    assert sorted(ends) == ["failed", "finished"]
    parts = sorted(os.listdir(tmp_path / "out"))
    assert parts == [f"part-0000{task}.csv" for task in range(ends.index("finished") + 1)]
    assert ag.read_csv(f"{tmp_path}/out/").collect(backend="inline").num_rows == 1000


def test_a_sink_that_cannot_be_made_visible_takes_the_others_back(backend, tmp_path):
    rows = slow_rows(100)
    job = ag.start(
        rows.write_csv(f"{tmp_path}/a.csv"),
        rows.write_csv(f"{tmp_path}/b.csv"),
        workers=2,
        backend=backend,
        paused=True,
    )
    (tmp_path / "b.csv").write_text("another's")
    job.resume()
    with pytest.raises(ag.JobFailed, match=r"b\.csv: came into being"):
        job.wait_for_stop(timeout="30s")
    assert os.listdir(tmp_path) == ["b.csv"]
    assert (tmp_path / "b.csv").read_text() == "another's"
