"""Order-preserving keys, sorted runs and their merge."""

from ambergate_native.merging import Merge
from ambergate_native.ordering import Keys, encode_keys
from ambergate_native.sorting import rows_before, sort_run

__all__ = ["Keys", "Merge", "encode_keys", "rows_before", "sort_run"]
