"""The bell and the ring as Python sees them."""

from __future__ import annotations

from ambergate_native.bell import BELL_BYTES, Bell
from ambergate_native.leases import Record
from ambergate_native.ring import RECORD_HEADER_BYTES, RING_HEADER_BYTES, Ring

__all__ = [
    "BELL_BYTES",
    "RECORD_HEADER_BYTES",
    "RING_HEADER_BYTES",
    "Bell",
    "Record",
    "Ring",
]
