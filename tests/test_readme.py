"""Every Python block of the README and the documents runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```", re.M | re.S)


def program(text):
    """The Python blocks of a Markdown text as one program; its line numbers are the document's.

    >>> program("Say\\n```python\\nprint(1)\\n```\\n")
    '\\n\\nprint(1)\\n\\n'
    """
    kept = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1))
        for index, line in enumerate(block.group(1).splitlines()):
            kept[first + index] = line
    return "\n".join(kept)


DOCUMENTS = [
    path
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if BLOCK.search(path.read_text())
]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_block_runs(path, tmp_path):
    """The blocks of one document run in order, as one program, in an empty folder."""
    script = tmp_path / f"{path.stem.lower().replace('-', '_')}_blocks.py"
    script.write_text(program(path.read_text()))
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT / "ext")])
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 0, f"{path.name} (lines as in the document)\n{done.stderr}"


def test_line_numbers_of_a_program_are_those_of_the_document():
    text = (
        "# Title\n\n```python\na = 1\n\nb = 2\n```\ntext\n```sh\nls\n```\n```python\nc = 3\n```\n"
    )
    lines = program(text).splitlines()
    assert [(number, line) for number, line in enumerate(lines, 1) if line] == [
        (4, "a = 1"),
        (6, "b = 2"),
        (13, "c = 3"),
    ]
