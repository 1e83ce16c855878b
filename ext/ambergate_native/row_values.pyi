from collections.abc import Callable, Iterator, KeysView, Sequence
from typing import Any, NoReturn, final

from ambergate_native.views import Views

ROW_METHODS: frozenset[str]

def attributes_of(places: dict[str, int]) -> dict[str, int]:
    """The columns that are attributes of a row: all but those called as its methods are."""

@final
class Reader:
    """The values of a batch's rows as Python objects, in the order a function takes them."""

    count: int
    def __new__(
        cls,
        source: Views | Any,
        names: Sequence[str],
        positions: Sequence[int],
        plain: bytes,
        fetch: Callable[[int, int], list[Any]] | None,
        places: dict[str, int] | None = None,
        attributes: dict[str, int] | None = None,
    ) -> Reader: ...
    def values(self, row: int) -> tuple[Any, ...]:
        """The values of one row as a tuple."""

@final
class Row:
    """One row of a batch, its columns read when asked; a mapping from names to values."""

    def __init__(self, *args: object, **kwargs: object) -> NoReturn: ...
    def __getattribute__(self, name: str, /) -> Any: ...
    def __getitem__(self, name: str, /) -> Any: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __contains__(self, name: object, /) -> bool: ...
    def keys(self) -> KeysView[str]:
        """The names of the columns."""
    def values(self) -> list[Any]:
        """The values in the order of the columns."""
    def items(self) -> list[tuple[str, Any]]:
        """Pairs of name and value."""
    def get(self, name: str, default: Any = None) -> Any:
        """The value of a column, or ``default`` where there is no such column."""
    def as_dict(self) -> dict[str, Any]:
        """The row as a dict of its own."""
