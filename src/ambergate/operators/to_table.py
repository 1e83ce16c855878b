"""Keep the rows for the caller."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToTable:
    """The sink whose rows ``job.result(name)`` gives; kept in the workers until asked for."""
