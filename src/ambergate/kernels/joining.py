"""Rows by the group of their key, and the pairs that a join makes of them."""

from ambergate_native.joining import CHUNK_ROWS, RowsByGroup, select_present

__all__ = ["CHUNK_ROWS", "RowsByGroup", "select_present"]
