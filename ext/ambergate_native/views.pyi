from collections.abc import Sequence
from typing import Any, final

@final
class Views:
    """Pointers into the columns of one batch (or of a list of arrays), kept alive with it."""

    count: int
    rows: int
    native: bool
    def __new__(cls, source: Any | Sequence[Any]) -> Views: ...
