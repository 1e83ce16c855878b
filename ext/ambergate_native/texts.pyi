"""Least, greatest, first and last texts of groups."""

from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ambergate_native.aggregation import Records

_Numbers = npt.NDArray[np.int64]

@final
class Texts(Records):
    """Chosen strings or binaries, of fixed size too."""

    def __new__(cls, of: str) -> Texts: ...
    def texts(self, first: int, last: int, width: int) -> tuple[bytes, bytes, bytes | None]:
        """Offsets (of ``width`` bytes), bytes and validity bits of groups ``first:last``."""
    def step_texts(
        self,
        ids: _Numbers | None,
        array: pa.Array[Any],
        start: int,
        stop: int,
        width: int,
    ) -> tuple[bytes, bytes, bytes | None]:
        """Take rows one by one; the text of each row's group after it, as ``texts``."""

@final
class Strings:
    """Texts one after the other, as they grow; made by ``Texts`` itself."""

    def __new__(cls, rows: int, width: int) -> Self: ...
