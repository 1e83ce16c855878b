"""How the rows of one operator are dealt to the tasks of the next."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Exchange:
    """A way of dealing rows.

    ``any``: the planner chooses (forward between equal parallelisms, else round robin);
    ``hash``: by the stable hash of ``columns``; ``broadcast``: each task gets every row;
    ``gather``: all rows to task 0.
    """

    way: str
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.way}({', '.join(self.columns)})" if self.columns else self.way


ANY = Exchange("any")
FORWARD = Exchange("forward")
ROUND_ROBIN = Exchange("round robin")
BROADCAST = Exchange("broadcast")
GATHER = Exchange("gather")


def hashed(*columns: str) -> Exchange:
    """Equal values of ``columns`` go to the same task.

    >>> str(hashed("a", "b"))
    'hash(a, b)'
    """
    return Exchange("hash", columns)
