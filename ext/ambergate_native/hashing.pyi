import numpy as np
import numpy.typing as npt
import pyarrow as pa

KEY_GROUPS: int

def hash_rows(
    columns: list[pa.Array], start: int, stop: int, hashes: npt.NDArray[np.uint64]
) -> None:
    """Write the hash of rows ``start:stop`` over all ``columns`` to ``hashes``, from 0."""

def partition_rows(
    hashes: npt.NDArray[np.uint64],
    rows: int,
    tasks: int,
    places: npt.NDArray[np.int64],
    bounds: npt.NDArray[np.int64],
) -> None:
    """Sort row numbers by the task their hash belongs to; the order within a task is kept."""
