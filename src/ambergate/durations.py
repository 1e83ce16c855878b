"""Durations as users write them."""

from __future__ import annotations

import re

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def seconds(duration: float | str | None) -> float | None:
    """Seconds of a number (already seconds), of a text such as ``"5s"``, or None.

    >>> seconds("250ms"), seconds(3), seconds(None), seconds("1.5min")
    (0.25, 3.0, None, 90.0)
    """
    if duration is None:
        return None
    if isinstance(duration, int | float):
        return float(duration)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(us|ms|s|min|h)\s*", duration)
    if match is None:
        raise ValueError(
            f"{duration!r} is not a duration; write 0.25, '250ms', '5s', '2min' or '1h'"
        )
    return float(match.group(1)) * UNITS[match.group(2)]
