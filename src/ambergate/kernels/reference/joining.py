"""What a join means: nested loops over lists of keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["equal_keys", "pairs"]


def equal_keys(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Whether two keys match: nulls never do, NaN matches NaN."""
    return all(
        x is not None and y is not None and (x == y or (x != x and y != y))
        for x, y in zip(a, b, strict=True)
    )


def pairs(
    left: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]], how: str
) -> list[tuple[int | None, int | None]]:
    """The (left row, right row) pairs of a join; None where a row has no partner.

    Left rows in order, the partners of each in order, then unmatched right rows in order.
    """
    found: list[tuple[int | None, int | None]] = []
    for row, key in enumerate(left):
        partners = [other for other, built in enumerate(right) if equal_keys(key, built)]
        if how == "semi":
            found += [(row, None)] * bool(partners)
        elif how == "anti":
            found += [(row, None)] * (not partners)
        else:
            found += [(row, other) for other in partners]
            if not partners and how in ("left", "full"):
                found.append((row, None))
    if how in ("right", "full"):
        met = {other for _, other in found}
        found += [(None, other) for other in range(len(right)) if other not in met]
    return found
