"""Least, greatest, first and last values of groups."""

from typing import Any, final

import pyarrow as pa

from ambergate_native.aggregation import Records

@final
class Values(Records):
    """Chosen values of at most 8 bytes; results of booleans are bytes of 0 or 1."""

    def __new__(cls, of: str, sample: pa.Array[Any]) -> Values: ...

@final
class Decimals(Records):
    """Chosen decimals of 128 bits."""

    def __new__(cls, of: str) -> Decimals: ...
