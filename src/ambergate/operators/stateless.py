"""What executors without state have in common."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

__all__ = ["Stateless"]


class Stateless:
    """An executor that keeps nothing between rows and has nothing to emit at the end."""

    def end(self, port: int) -> Iterator[pa.RecordBatch]:
        """Nothing is due."""
        return iter(())

    def snapshot(self) -> None:
        """No state."""

    def restore(self, state: None) -> None:
        """No state."""

    def describe(self) -> dict[str, pa.Table]:
        """No state."""
        return {}
