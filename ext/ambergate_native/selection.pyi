from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ambergate_native.gate import Gate
from ambergate_native.views import Views

def compact(
    mask: Any, start: int, stop: int, gate: Gate | None, indices: NDArray[np.int64]
) -> tuple[int, int, int]:
    """Write to ``indices`` the rows ``start:stop`` of which ``mask`` is true; null is not."""

def gather(
    source: Views | Any,
    indices: NDArray[np.int64],
    missing: bool,
    importer: Callable[[int, Any], Any],
    schema: Any,
) -> Any:
    """The rows ``indices`` of a batch, in that order; negative ones give nulls if ``missing``."""
