"""What executors without state have in common: nothing to keep, nothing due at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

__all__ = ["StatelessExecutor"]


class StatelessExecutor:
    """The parts of an executor that have nothing to do where there is no state."""

    def end(self, port: int) -> Iterator[pa.RecordBatch]:
        """See Executor; nothing is due."""
        return iter(())

    def snapshot(self) -> Any:
        """See Executor; no state."""
        return None

    def restore(self, state: Any) -> None:
        """See Executor; no state."""

    def describe(self) -> dict[str, pa.Table]:
        """See Executor; no state."""
        return {}
