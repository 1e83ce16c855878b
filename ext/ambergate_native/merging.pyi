from typing import final

import numpy as np
import numpy.typing as npt

from ambergate_native.gate import Gate
from ambergate_native.ordering import Keys

@final
class Merge:
    """Sorted runs becoming one, row by row."""

    def __new__(cls, runs: list[Keys]) -> Merge: ...
    @property
    def rows(self) -> int:
        """Rows not yet pulled."""
    def pull(
        self, places: npt.NDArray[np.int64], start: int, stop: int, gate: Gate | None = None
    ) -> tuple[int, int]:
        """Write the next places (``run << 32 | row``) to ``places[start:stop]``: status, cursor."""
