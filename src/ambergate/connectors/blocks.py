"""Text files in blocks that end where a row ends, whatever is inside the rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ambergate.connectors.files import ByteStream
from ambergate.errors import InputError

__all__ = ["BLOCK_BYTES", "BYTE_ORDER_MARK", "Rows", "UnclosedRow", "first_failing", "text_blocks"]

BLOCK_BYTES = 1 << 20
ROW_BYTES = 256 << 20
"""A row longer than this is taken for one whose quote was never closed."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class UnclosedRow(bytes):
    """What follows the last whole row of a file: a row with a quote that is never closed."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Where rows end in text.

    Parameters
    ----------
    delimiter, quote : one byte each; no quote where newlines are never part of a value

    A quote opens a quoted field at the beginning of a field only; inside it stands for itself
    when doubled; line ends inside belong to the value. A line ends with LF, CR LF or CR.
    """

    delimiter: bytes = b","
    quote: bytes = b""
    _row: re.Pattern[bytes] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        d, q = re.escape(self.delimiter), re.escape(self.quote)
        each = rb"[^" + d + rb"\r\n]*+"
        if self.quote:
            quoted = q + rb"(?:[^" + q + rb"]++|" + q + q + rb")*+" + q + each
            each = rb"(?:" + quoted + rb"|[^" + q + d + rb"\r\n]" + each + rb"|)"
        row = each + rb"(?:" + d + each + rb")*+(?:\r\n|\n|\r(?!\Z))"
        object.__setattr__(self, "_row", re.compile(row))

    def last_end(self, text: bytes) -> int:
        """Where the last whole row of ``text``, which begins with a row, ends; 0 without one."""
        if self.quote and self.quote in text:
            return self._last_end_beside_quotes(text)
        end = text.rfind(b"\n") + 1
        # A carriage return at the very end may be the first half of a line end.
        return end or text.rfind(b"\r", 0, len(text) - 1) + 1

    def _last_end_beside_quotes(self, text: bytes) -> int:
        octets = np.frombuffer(text, np.uint8)
        quotes = np.flatnonzero(octets == self.quote[0])
        if not self._well_placed(octets, quotes):
            ends = self.all_ends(text)
            return ends[-1] if ends else 0
        # Each pair of quotes is one quoted stretch: outside are places after an even number.
        for line_end, stop in ((b"\n", len(text)), (b"\r", len(text) - 1)):
            place = text.rfind(line_end, 0, stop)
            while place >= 0:
                before = int(np.searchsorted(quotes, place))
                if before % 2 == 0:
                    return place + 1
                place = text.rfind(line_end, 0, int(quotes[before - 1]))
        return 0

    def _well_placed(self, octets: np.ndarray, quotes: np.ndarray) -> bool:
        """Whether quotes stand only where fields begin and end, or doubled."""
        allowed = np.zeros(256, bool)
        allowed[list(self.delimiter + self.quote + b"\r\n")] = True
        openings, closings = quotes[0::2], quotes[1::2]
        if openings[0] == 0:
            openings = openings[1:]
        if len(closings) and closings[-1] == len(octets) - 1:
            closings = closings[:-1]
        return bool(allowed[octets[openings - 1]].all() and allowed[octets[closings + 1]].all())

    def first_end(self, text: bytes, start: int) -> int:
        """Where the row that begins at ``start`` ends; the end of ``text`` if it does not."""
        found = self._row.match(text, start)
        return len(text) if found is None else found.end()

    def all_ends(self, text: bytes) -> list[int]:
        """Where each whole row of ``text`` ends, blank lines included."""
        ends, place = [], 0
        while (found := self._row.match(text, place)) is not None:
            place = found.end()
            ends.append(place)
        return ends


def text_blocks(stream: ByteStream, rows: Rows, block_bytes: int) -> Iterator[bytes]:
    """The bytes of a file in blocks of whole rows, without the byte-order mark it may begin with.

    A block has about ``block_bytes`` bytes, more where one row has more. Where the file ends
    inside quotes the last block is an ``UnclosedRow``.
    """
    rest = stream.read(max(block_bytes, len(BYTE_ORDER_MARK)))
    if rest.startswith(BYTE_ORDER_MARK):
        rest = rest[len(BYTE_ORDER_MARK) :]
    wanted = block_bytes
    while True:
        more = stream.read(wanted)
        if not more:
            break
        end = rows.last_end(rest)
        if end:
            yield rest[:end]
            rest, wanted = rest[end:] + more, block_bytes
        elif len(rest) > ROW_BYTES:
            raise InputError(
                stream.path,
                f"no row ends within {len(rest) >> 20} MiB",
                None,
                "look for a quote that is not closed, or give quote= as the file has it",
            )
        else:
            rest += more
            wanted = len(rest)  # twice as much each time: a large row costs no square
    if rest and not rest.endswith(b"\n"):
        rest += b"\n"
    end = rows.last_end(rest)
    if end:
        yield rest[:end]
    if end < len(rest):
        yield UnclosedRow(rest[end:])


def first_failing(count: int, fails: Callable[[int], bool]) -> int:
    """The least n in 1..count for which ``fails(n)``, given that it fails for ``count``.

    >>> first_failing(10, lambda n: n >= 7)
    7
    """
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        if fails(middle):
            high = middle
        else:
            low = middle
    return high
