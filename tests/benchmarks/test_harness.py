"""Engines are run in turn, under the lock, and a wrong answer or a dead engine fails the run."""

import fcntl
import json
import subprocess
import sys

import pytest

from benchmarks import harness, jobs
from benchmarks.harness import Contestant, EngineFailed, WrongAnswer, compete, ratio, records

ENGINE = """
import json, sys
print(json.dumps({{"engine": "toy", "version": "1"}}), flush=True)
for number, line in enumerate(sys.stdin):
    {before}
    print(json.dumps({{"seconds": {seconds}, "answer": {{"count": {count}}}}}), flush=True)
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Starts engines that answer at once, and ends them; the lock is one of the test's own."""
    monkeypatch.setattr(harness, "lock_path", lambda: tmp_path / "lock")
    started = []

    def start(name="toy", seconds="1.0", count=3, before="pass"):
        code = ENGINE.format(seconds=seconds, count=count, before=before)
        started.append(Contestant(name, [sys.executable, "-c", code], {}))
        return started[-1]

    yield start
    for contestant in started:
        contestant.__exit__()
        assert contestant.process.returncode is not None


def test_times_are_kept_but_those_of_the_warm_up(toy):
    contestant = toy(seconds="float(number)")
    compete([contestant], {"count": 3}, rounds=3)
    assert contestant.seconds == [1.0, 2.0, 3.0]
    assert contestant.version == "1"


def test_without_a_warm_up_every_time_is_kept(toy):
    contestant = toy(seconds="float(number)")
    compete([contestant], {"count": 3}, rounds=2, warm_up=False)
    assert contestant.seconds == [0.0, 1.0]


def test_engines_take_turns_and_every_other_round_goes_the_other_way(toy, tmp_path):
    log = tmp_path / "log"
    say = "open({path!r}, 'a').write({name!r} + ' ')"
    first = toy("a", before=say.format(path=str(log), name="a"))
    second = toy("b", before=say.format(path=str(log), name="b"))
    compete([first, second], {"count": 3}, rounds=3, warm_up=False)
    assert log.read_text() == "a b b a a b "


def test_a_wrong_answer_fails_the_run(toy):
    with pytest.raises(WrongAnswer, match="toy: count is 4, expected 3"):
        compete([toy(count=4)], {"count": 3}, rounds=1)


def test_an_engine_that_ends_fails_the_run_with_its_last_words(toy):
    with pytest.raises(EngineFailed, match=r"(?s)toy ended.*no more rows"):
        compete([toy(before="sys.exit('no more rows')")], {"count": 3}, rounds=1)


def test_a_silent_engine_is_not_waited_for_without_a_bound(toy, monkeypatch):
    monkeypatch.setattr(harness, "RUN_S", 0.2)
    with pytest.raises(EngineFailed, match="said nothing for"):
        compete([toy(before="sys.stdin.readline()")], {"count": 3}, rounds=1)


def test_a_timed_run_holds_the_lock(toy, tmp_path):
    trial = (
        f"import fcntl; fcntl.flock(open({str(tmp_path / 'lock')!r}), "
        "fcntl.LOCK_EX | fcntl.LOCK_NB)"
    )
    with pytest.raises(EngineFailed, match="BlockingIOError"):
        compete([toy(before=trial)], {"count": 3}, rounds=1)
    with harness.lock_path().open() as file:  # and lets it go after a failure
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_record_holds_the_median_and_the_ratio_within_rounds(toy):
    own, other = toy("own"), toy("other")
    own.seconds, other.seconds = [1.0, 2.0, 4.0], [3.0, 4.0, 20.0]
    first, second = records("jobs", "A", 1_000, 2, [own, other])
    assert (first["seconds"], first["least_seconds"], first["runs"]) == (2.0, 1.0, 3)
    assert first["rows_per_s"] == 500
    assert first["ratio_to_other"] == 3.0 == ratio(own.seconds, other.seconds)
    assert "ratio_to_own" not in second
    assert {"commit", "cpu", "cores"} <= first.keys()
    json.dumps([first, second])


@pytest.mark.parametrize(("text", "rows"), [("10M", 10_000_000), ("2.5k", 2_500), ("42", 42)])
def test_a_number_of_rows_may_have_a_unit(text, rows):
    assert jobs.count(text) == rows


def test_an_engine_with_few_rows_has_a_contest_of_its_own():
    peers = list(jobs.PEERS)
    names = [
        (rows, [peer.name for peer in group]) for rows, group in jobs.contests("B", 10**7, peers)
    ]
    assert names == [(10**7, ["polars", "duckdb"]), (10**6, ["bytewax"])]
    assert jobs.contests("B", 1_000, peers) == [(1_000, peers)]
    assert [rows for rows, _ in jobs.contests("E", 3_200_000, peers)] == [3_200_000, 400_000]
    assert jobs.contests("A", 10**7, []) == [(10**7, [])]


def test_an_engine_prints_to_standard_error_and_answers_on_standard_output(tmp_path):
    code = (
        "from benchmarks.protocol import serve\n"
        "def prepare(order):\n"
        "    def run():\n"
        "        print('chatter')\n"
        "        return 0.5, {'count': order.rows, 'workers': order.workers}\n"
        "    return run\n"
        "serve('toy', '1', prepare)\n"
    )
    options = ["--workload", "A", "--rows", "10", "--workers", "3"]
    done = subprocess.run(
        [sys.executable, "-c", code, *options],
        input="run\n",
        capture_output=True,
        text=True,
        timeout=60,
        cwd=harness.ROOT,
        env={**harness.os.environ, "AMBERGATE_BENCH_DATA": str(tmp_path)},
    )
    hello, result = map(json.loads, done.stdout.splitlines())
    assert hello == {"engine": "toy", "version": "1"}
    assert result == {"seconds": 0.5, "answer": {"count": 10, "workers": 3}}
    assert "chatter" in done.stderr
