from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ambergate_native.gate import Gate
from ambergate_native.results import Results
from ambergate_native.row_values import Reader

def map_rows(
    function: Callable[..., Any],
    reader: Reader,
    whole: bool,
    start: int,
    stop: int,
    gate: Gate,
    results: Results,
) -> tuple[int, int, BaseException | None]:
    """Append to ``results`` what ``function`` gives for each row ``start:stop``."""

def filter_rows(
    function: Callable[..., Any],
    reader: Reader,
    whole: bool,
    start: int,
    stop: int,
    gate: Gate,
    truth: Callable[[Any], bool],
    indices: NDArray[np.int64],
) -> tuple[int, int, int, BaseException | None]:
    """Write to ``indices`` the rows for which ``function`` gives a true value."""

def flat_map_rows(
    function: Callable[..., Any],
    reader: Reader,
    whole: bool,
    start: int,
    stop: int,
    gate: Gate,
    refuse: Callable[[Any], Iterable[Any]],
    results: Results,
    most: int,
    counts: NDArray[np.int64],
) -> tuple[int, int, BaseException | None]:
    """Append to ``results`` each of the rows that ``function`` gives for each row."""
