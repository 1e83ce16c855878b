from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ambergate_native.views import Views

def partition(
    source: Any,
    keys: Sequence[int],
    start: int,
    stop: int,
    tasks: int,
    indices: NDArray[np.int64],
    offsets: NDArray[np.int64],
) -> None:
    """List the rows ``start:stop`` by the task they are dealt to, each task's in their order."""

def split(
    source: Views | Any,
    keys: Sequence[int],
    tasks: int,
    importer: Callable[[int, Any], Any],
    schema: Any,
) -> list[Any]:
    """Each task's rows of a batch, as a batch of its own; None for a task without rows."""
