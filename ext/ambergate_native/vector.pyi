from collections.abc import Callable
from typing import Any, final

import numpy as np
import numpy.typing as npt
from _typeshed import WriteableBuffer

from ambergate_native.columns import Kind
from ambergate_native.gate import Gate
from ambergate_native.views import Views

OPERATION_CLASSES: dict[str, str]
MAX_INSTRUCTIONS: int

@final
class Program:
    """A compiled expression: operations between registers of BLOCK_ROWS values."""

    def __new__(
        cls,
        classes: str,
        constants: list[tuple[int, Any]],
        inputs: list[int],
        instructions: list[tuple[str, int, int, int, int]],
        result: int,
        kind: Kind,
    ) -> Program: ...
    def read_from(self, places: list[int]) -> None:
        """Say which column of a batch each input is; without it input ``k`` is column ``k``."""
    def run(
        self,
        views: Views,
        start: int,
        stop: int,
        gate: Gate,
        allocate: Callable[[int], WriteableBuffer],
    ) -> tuple[int, int, Any, Any, int, int]:
        """Status, cursor, values, validity, nulls and the instruction that failed (-1: none)."""
    def select(
        self,
        views: Views,
        start: int,
        stop: int,
        gate: Gate,
        indices: npt.NDArray[np.int64],
    ) -> tuple[int, int, int, int]:
        """Status, cursor, rows written to ``indices`` and the instruction that failed."""
