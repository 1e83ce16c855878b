from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

KEY_GROUPS_COUNT: int
NULL_ROW_HASH: int

def hash_rows(columns: Sequence[Any], start: int, stop: int, out: NDArray[np.uint64]) -> None:
    """Write to ``out`` the stable hash of each row ``start:stop`` over all ``columns``."""
