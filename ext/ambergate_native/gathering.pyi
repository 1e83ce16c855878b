from typing import Any, final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from _typeshed import WriteableBuffer

_Places = npt.NDArray[np.int64]

@final
class Chunks:
    """The arrays of one column, one a chunk, kept alive."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    @property
    def width(self) -> int:
        """Bytes of a value; 0 for booleans; bytes of an offset for strings and binaries."""
    @property
    def has_text(self) -> bool:
        """Whether values are strings or binaries."""
    @property
    def has_nulls(self) -> bool:
        """Whether any chunk has a null."""
    def append(self, array: pa.Array[Any]) -> None:
        """Add a chunk; all chunks have one type."""

def gather_validity(
    chunks: Chunks, places: _Places, start: int, stop: int, validity: WriteableBuffer
) -> int:
    """Write the validity bits of ``places[start:stop]``; returns the number of nulls."""

def gather_values(
    chunks: Chunks, places: _Places, start: int, stop: int, values: WriteableBuffer
) -> None:
    """Write the values of ``places[start:stop]`` of a column of fixed width."""

def gather_offsets(
    chunks: Chunks, places: _Places, start: int, stop: int, offsets: WriteableBuffer
) -> int:
    """Write the offsets of the texts; returns their bytes, -1 where 32 bits cannot say it."""

def gather_bytes(
    chunks: Chunks, places: _Places, start: int, stop: int, texts: WriteableBuffer
) -> None:
    """Write the texts at ``places[start:stop]`` one after the other."""
