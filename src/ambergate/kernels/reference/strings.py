"""What the string kernels compute, in plain Python."""

from __future__ import annotations

__all__ = ["split"]


def split(texts: list[str | None], separator: str, start: int, stop: int) -> list[list[str] | None]:
    """The parts of rows ``start:stop`` between separators; null of null.

    >>> split(["a,,b", None, ""], ",", 0, 3)
    [['a', '', 'b'], None, ['']]
    """
    return [None if text is None else text.split(separator) for text in texts[start:stop]]
