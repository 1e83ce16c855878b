"""Files that appear whole or not at all: CSV, JSON lines, Parquet."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from ambergate.connectors.formats import CsvFormat, JsonFormat, ParquetFormat, check_flat
from ambergate.connectors.target import FileWriter, Target

__all__ = ["WriteCsv", "WriteJson", "WriteParquet"]


@dataclass(frozen=True, slots=True)
class WriteFiles:
    """What the three sinks share.

    Parameters
    ----------
    target : one file; or with a trailing ``/`` a folder, one ``part-00000`` for each task
    if_exists : ``"error"`` or ``"replace"``
    """

    target: str
    if_exists: str = "error"

    kind: ClassVar[str]
    ending: ClassVar[str]
    form: ClassVar[Any]

    def __post_init__(self) -> None:
        """Make the target absolute: a function may change the working folder of its process."""
        absolute = os.path.abspath(os.path.expanduser(self.target))
        object.__setattr__(self, "target", absolute + "/" * self.target.endswith("/"))

    @property
    def single(self) -> bool:
        """See Sink."""
        return not self.target.endswith("/")

    def check(self) -> None:
        """See Sink; makes missing folders and removes what runs that died left behind."""
        Target(self.target, self.ending, self.if_exists).check()

    def open(self, task: int, tasks: int, schema: pa.Schema, job: str) -> FileWriter:
        """See Sink."""
        target = Target(self.target, self.ending, self.if_exists)
        return FileWriter(target, task, tasks, job, self.form, schema)

    def discard(self, tasks: int, job: str) -> None:
        """See Sink."""
        target = Target(self.target, self.ending, self.if_exists)
        for task in range(tasks):
            target.discard(task, job)


@dataclass(frozen=True, slots=True)
class WriteCsv(WriteFiles):
    """CSV with a header; text is quoted, null is an empty field and empty text is ``""``."""

    kind: ClassVar[str] = "write_csv"
    ending: ClassVar[str] = ".csv"
    form: ClassVar[Any] = CsvFormat

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """The schema written; raises PlanError where a column does not fit into a field."""
        check_flat(name, inputs[0])
        return inputs[0]

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """All columns are written."""
        return frozenset(inputs[port].names)


@dataclass(frozen=True, slots=True)
class WriteJson(WriteFiles):
    """One JSON object a line; times in ISO 8601, NaN and infinities as null."""

    kind: ClassVar[str] = "write_json"
    ending: ClassVar[str] = ".jsonl"
    form: ClassVar[Any] = JsonFormat


@dataclass(frozen=True, slots=True)
class WriteParquet(WriteFiles):
    """Parquet."""

    kind: ClassVar[str] = "write_parquet"
    ending: ClassVar[str] = ".parquet"
    form: ClassVar[Any] = ParquetFormat
