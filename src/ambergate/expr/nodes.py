"""Expressions as data: frozen trees of columns, literals and calls.

An expression knows neither a schema nor an engine; ``types.py`` gives it types and
``ambergate.kernels.evaluate`` runs it. ``==`` builds an expression, so nodes are compared by
``equals`` and hashed by structure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from ambergate.errors import ExpressionError
from ambergate.expr.aggregated import Aggregated

if TYPE_CHECKING:
    from ambergate.expr.namespaces import ListMethods, StringMethods, TimeMethods

__all__ = ["Alias", "Call", "Column", "Expr", "Literal", "as_expr"]


class Expr(Aggregated):
    """A value computed for every row; build it from ``col`` and ``lit``.

    >>> from ambergate.expr import col
    >>> (col("price") * col("count") > 100) & col("city").is_not_null()
    (col("price") * col("count") > 100) & col("city").is_not_null()
    """

    __slots__ = ()

    # what it is

    def key(self) -> tuple[Any, ...]:
        """The structure as nested tuples: equal keys mean equal expressions."""
        raise NotImplementedError

    @property
    def children(self) -> tuple[Expr, ...]:
        """The expressions this one is made of."""
        return ()

    @property
    def name(self) -> str:
        """The name of the column it makes: its alias, its column's name, or its text."""
        return str(self)

    def equals(self, other: object) -> bool:
        """Whether ``other`` is the same expression; ``==`` builds a comparison instead.

        >>> from ambergate.expr import col
        >>> (col("a") + 1).equals(col("a") + 1), (col("a") + 1).equals(col("a") + 1.0)
        (True, False)
        """
        return isinstance(other, Expr) and self.key() == other.key()

    def columns(self) -> frozenset[str]:
        """The names of the columns it reads.

        >>> from ambergate.expr import col
        >>> sorted((col("a") + col("b") * 2).columns())
        ['a', 'b']
        """
        return frozenset().union(*(child.columns() for child in self.children))

    def type(self, schema: pa.Schema) -> pa.DataType:
        """The Arrow type of its values over columns of ``schema``.

        Raises
        ------
        ExpressionError
            A column is not there, or has no type that the expression can use.

        Examples
        --------
        >>> from ambergate.expr import col
        >>> (col("a") / 2).type(pa.schema({"a": pa.int32()}))
        DataType(double)
        """
        from ambergate.expr.types import annotate

        try:
            return annotate(self, schema).type
        except RecursionError:
            raise ExpressionError(
                "expression", "is nested too deeply", "compute parts of it with with_columns first"
            ) from None

    def __str__(self) -> str:
        from ambergate.expr.text import render

        return render(self, bare=True)

    def __repr__(self) -> str:
        from ambergate.expr.text import render

        return render(self, bare=False)

    def __hash__(self) -> int:
        return hash(self.key())

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"the truth of {self} is not known before it runs; write & for and, | for or, ~ for "
            "not (with parentheses around comparisons), is_between(a, b) for a <= x <= b, and "
            "is_in(values) for in"
        )

    def __contains__(self, item: object) -> NoReturn:
        raise TypeError(f"'in' cannot be used on {self}; write is_in(values) or str.contains(text)")

    def __iter__(self) -> NoReturn:
        raise TypeError(f"{self} has no values before it runs, so it cannot be iterated over")

    # arithmetic

    def __add__(self, other: Any) -> Expr:
        return _binary("add", self, other)

    def __radd__(self, other: Any) -> Expr:
        return _binary("add", other, self)

    def __sub__(self, other: Any) -> Expr:
        return _binary("subtract", self, other)

    def __rsub__(self, other: Any) -> Expr:
        return _binary("subtract", other, self)

    def __mul__(self, other: Any) -> Expr:
        return _binary("multiply", self, other)

    def __rmul__(self, other: Any) -> Expr:
        return _binary("multiply", other, self)

    def __truediv__(self, other: Any) -> Expr:
        return _binary("divide", self, other)

    def __rtruediv__(self, other: Any) -> Expr:
        return _binary("divide", other, self)

    def __floordiv__(self, other: Any) -> Expr:
        return _binary("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Expr:
        return _binary("floor_divide", other, self)

    def __mod__(self, other: Any) -> Expr:
        return _binary("modulo", self, other)

    def __rmod__(self, other: Any) -> Expr:
        return _binary("modulo", other, self)

    def __pow__(self, other: Any) -> Expr:
        return _binary("power", self, other)

    def __rpow__(self, other: Any) -> Expr:
        return _binary("power", other, self)

    def __neg__(self) -> Expr:
        return Call("negate", (self,))

    # comparison and logic

    def __eq__(self, other: Any) -> Expr:  # type: ignore[override]
        return _binary("equal", self, other)

    def __ne__(self, other: Any) -> Expr:  # type: ignore[override]
        return _binary("not_equal", self, other)

    def __lt__(self, other: Any) -> Expr:
        return _binary("less", self, other)

    def __le__(self, other: Any) -> Expr:
        return _binary("less_equal", self, other)

    def __gt__(self, other: Any) -> Expr:
        return _binary("greater", self, other)

    def __ge__(self, other: Any) -> Expr:
        return _binary("greater_equal", self, other)

    def __and__(self, other: Any) -> Expr:
        return _binary("and", self, other)

    def __rand__(self, other: Any) -> Expr:
        return _binary("and", other, self)

    def __or__(self, other: Any) -> Expr:
        return _binary("or", self, other)

    def __ror__(self, other: Any) -> Expr:
        return _binary("or", other, self)

    def __invert__(self) -> Expr:
        return Call("not", (self,))

    # nulls, membership, conversion

    def is_null(self) -> Expr:
        """True where the value is null; NaN is not null."""
        return Call("is_null", (self,))

    def is_not_null(self) -> Expr:
        """True where the value is not null."""
        return Call("is_not_null", (self,))

    def fill_null(self, value: Any) -> Expr:
        """``value`` (a constant or an expression) where this is null."""
        return Call("fill_null", (self, as_expr(value)))

    def is_in(self, values: Iterable[Any]) -> Expr:
        """True where the value equals one of ``values``; null where it is null.

        >>> from ambergate.expr import col
        >>> col("month").is_in([6, 7, 8])
        col("month").is_in([6, 7, 8])
        """
        if isinstance(values, (str, bytes, Expr)) or not isinstance(values, Iterable):
            raise TypeError(f"is_in needs a list of constants, got {values!r}")
        listed = tuple(values)
        for value in listed:
            if isinstance(value, Expr):
                raise TypeError(f"is_in needs constants, got the expression {value}; use == and |")
        return Call("is_in", (self,), (listed,))

    def is_between(self, low: Any, high: Any) -> Expr:
        """True where ``low <= value <= high``."""
        return Call("is_between", (self, as_expr(low), as_expr(high)))

    def cast(self, to: pa.DataType | str) -> Expr:
        """The value as another Arrow type; a value that does not fit stops the job at its row."""
        from ambergate.expr.types import data_type

        return Call("cast", (self,), (data_type(to),))

    def alias(self, name: str) -> Expr:
        """The same values under another column name."""
        if not isinstance(name, str):
            raise TypeError(f"alias needs a column name, got {name!r}")
        return Alias(self, name)

    # numbers

    def abs(self) -> Expr:
        """The value without its sign."""
        return Call("abs", (self,))

    def round(self, digits: int = 0) -> Expr:
        """The value rounded to ``digits`` decimal places, halves to the even neighbour."""
        if not isinstance(digits, int) or isinstance(digits, bool):
            raise TypeError(f"round needs a number of digits, got {digits!r}")
        return Call("round", (self,), (digits,))

    def floor(self) -> Expr:
        """The greatest whole number that is not above the value."""
        return Call("floor", (self,))

    def ceil(self) -> Expr:
        """The least whole number that is not below the value."""
        return Call("ceil", (self,))

    def log(self) -> Expr:
        """The natural logarithm; -inf of 0, NaN of negative values."""
        return Call("log", (self,))

    def exp(self) -> Expr:
        """E to the power of the value."""
        return Call("exp", (self,))

    def sqrt(self) -> Expr:
        """The square root; NaN of negative values."""
        return Call("sqrt", (self,))

    # the value's inside

    @property
    def str(self) -> StringMethods:
        """Methods of strings."""
        from ambergate.expr.namespaces import StringMethods

        return StringMethods(self)

    @property
    def dt(self) -> TimeMethods:
        """Methods of dates and timestamps."""
        from ambergate.expr.namespaces import TimeMethods

        return TimeMethods(self)

    @property
    def list(self) -> ListMethods:
        """Methods of lists."""
        from ambergate.expr.namespaces import ListMethods

        return ListMethods(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Column(Expr):
    """The value of one column."""

    column: str

    def key(self) -> tuple[Any, ...]:
        """See Expr."""
        return ("column", self.column)

    @property
    def name(self) -> str:
        """See Expr."""
        return self.column

    def columns(self) -> frozenset[str]:
        """See Expr."""
        return frozenset((self.column,))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Literal(Expr):
    """A constant; without ``of`` its Arrow type follows from what it is used with."""

    value: Any
    of: pa.DataType | None = None

    def key(self) -> tuple[Any, ...]:
        """See Expr."""
        return ("literal", _frozen(self.value), self.of)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Alias(Expr):
    """An expression under another name."""

    of: Expr
    label: str

    def key(self) -> tuple[Any, ...]:
        """See Expr."""
        return ("alias", self.of.key(), self.label)

    @property
    def children(self) -> tuple[Expr, ...]:
        """See Expr."""
        return (self.of,)

    @property
    def name(self) -> str:
        """See Expr."""
        return self.label


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(Expr):
    """A function of other expressions; ``options`` are constants that are no columns."""

    function: str
    arguments: tuple[Expr, ...]
    options: tuple[Any, ...] = ()

    def key(self) -> tuple[Any, ...]:
        """See Expr."""
        arguments = tuple(argument.key() for argument in self.arguments)
        return ("call", self.function, arguments, _frozen(self.options))

    @property
    def children(self) -> tuple[Expr, ...]:
        """See Expr."""
        return self.arguments


# A dataclass with slots but without eq inherits these; Column.__hash__ must not become None.
for _node in (Column, Literal, Alias, Call):
    assert _node.__hash__ is Expr.__hash__


def as_expr(value: Any) -> Expr:
    """``value`` itself if it is an expression, else as a literal."""
    if isinstance(value, Expr):
        return value
    from ambergate.expr.constructors import lit

    return lit(value)


def _binary(function: str, left: Any, right: Any) -> Expr:
    return Call(function, (as_expr(left), as_expr(right)))


def _frozen(value: Any) -> Any:
    """``value`` as something hashable that tells 1, 1.0 and True apart; NaN equals NaN."""
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, float):
        return ("float", value.hex())
    if isinstance(value, dict):
        return tuple((key, _frozen(item)) for key, item in value.items())
    return (value.__class__.__name__, value)
