"""Arrow arrays as native kernels see them, through the Arrow C data interface."""

import enum
from typing import Protocol, final, type_check_only

@type_check_only
class _ArrowArray(Protocol):
    """What ``pyarrow.Array`` and its like offer."""

    def __arrow_c_array__(self) -> tuple[object, object]: ...

class Kind(enum.IntEnum):
    """What a kernel may take the values of a column for."""

    OTHER = 0
    NULLS = 1
    BOOL = 2
    INT8 = 3
    INT16 = 4
    INT32 = 5
    INT64 = 6
    UINT8 = 7
    UINT16 = 8
    UINT32 = 9
    UINT64 = 10
    FLOAT32 = 11
    FLOAT64 = 12
    DECIMAL128 = 13
    STRING = 14
    LARGE_STRING = 15
    BINARY = 16
    LARGE_BINARY = 17
    LIST = 18
    LARGE_LIST = 19
    FIXED = 20

@final
class Column:
    """Pointers into one Arrow array (not chunked), kept alive as long as the column."""

    def __new__(cls, array: _ArrowArray) -> Column: ...
    def __len__(self) -> int: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def width(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def length(self) -> int: ...
