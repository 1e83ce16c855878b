"""Reading keeps no more than a few blocks in memory."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

GROWTH_BYTES = 60 << 20
FILE_BYTES = 150 << 20

READ = """
import json, sys
import pyarrow as pa
from ambergate.connectors.csv import ReadCsv
from ambergate.connectors.json import ReadJson

def peak():
    (line,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024

source = (ReadJson if "jsonl" in sys.argv[1] else ReadCsv)(sys.argv[1])
reader = source.open(0, 1)
rows = reader.read().num_rows
before = peak()
while (batch := reader.read()) is not None:
    rows += batch.num_rows
print(json.dumps([rows, peak() - before]))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.parametrize("name", ["large.csv", "quoted.csv", "large.jsonl", "large.csv.gz"])
def test_a_file_larger_than_the_limit(tmp_path, name):
    line = {
        "large.csv": b"123456,some text,1.5\n",
        "quoted.csv": b'123456,"some\n""text""",1.5\n',
        "large.jsonl": b'{"i": 123456, "s": "some text", "f": 1.5}\n',
        "large.csv.gz": b"123456,some text,1.5\n",
    }[name]
    block = line * 10_000
    count = FILE_BYTES // len(block)
    path = tmp_path / name
    member = gzip.compress(block, 1)
    with open(path, "wb") as file:
        if "jsonl" not in name:
            file.write(gzip.compress(b"i,s,f\n") if "gz" in name else b"i,s,f\n")
        for _ in range(count):
            file.write(member if "gz" in name else block)
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)],
        capture_output=True,
        check=True,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    rows, growth = json.loads(done.stdout)
    assert rows == count * 10_000
    assert growth < GROWTH_BYTES
