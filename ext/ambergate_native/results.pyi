from collections.abc import Callable, Sequence
from typing import Any, final

@final
class Builder:
    """A growing column of a declared type."""

    rows: int
    def __new__(cls, type_name: str, convert: Callable[[Any], Any]) -> Builder: ...
    def finish(
        self,
        importer: Callable[[int, Any], Any],
        type: Any,
        collect: Callable[[list[Any], Any], Any],
    ) -> Any:
        """The column as an array; the builder is empty again."""

@final
class Results:
    """Growing columns that take one result of a function a row."""

    count: int
    rows: int
    def __new__(
        self, names: Sequence[str], builders: list[Builder], refuse: Callable[[Any], Any]
    ) -> Results: ...
    def finish(
        self,
        importer: Callable[[int, Any], Any],
        types: Sequence[Any],
        collect: Callable[[list[Any], Any], Any],
    ) -> list[Any]:
        """The columns as arrays; empty again."""
