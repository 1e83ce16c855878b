from typing import Any, final

import pyarrow as pa

@final
class Keys:
    """Order-preserving keys of some rows, in memory of their own."""

    @property
    def length(self) -> int:
        """Rows."""
    @property
    def nbytes(self) -> int:
        """Bytes of memory held."""
    def __len__(self) -> int: ...

def encode_keys(
    columns: list[pa.Array[Any]],
    descending: list[bool],
    nulls_last: list[bool],
    start: int,
    stop: int,
) -> tuple[bytearray, bytearray]:
    """Whole keys of rows ``start:stop``, in whose byte order the rows are; int64 offsets."""
