"""Every error ambergate raises on purpose.

Each carries its data in attributes and in ``args`` (so it pickles), and says in one sentence what
is wrong, where, and what to do about it.
"""

from __future__ import annotations


class AmbergateError(Exception):
    """Base of every error raised on purpose."""


class PlanError(AmbergateError):
    """A dataflow that cannot be run as written; raised while it is built or planned.

    Parameters
    ----------
    operator : name of the operator at fault
    problem : what is wrong, with column, expected and found where they apply
    remedy : what to write instead; may be empty
    """

    def __init__(self, operator: str, problem: str, remedy: str = ""):
        super().__init__(operator, problem, remedy)
        self.operator, self.problem, self.remedy = operator, problem, remedy

    def __str__(self) -> str:
        text = f"operator {self.operator!r}: {self.problem}"
        return f"{text}; {self.remedy}" if self.remedy else text


class ExpressionError(AmbergateError):
    """An expression that does not fit the columns it is given.

    The operator that holds the expression turns this into a ``PlanError`` with its own name.
    """

    def __init__(self, expression: str, problem: str, remedy: str = ""):
        super().__init__(expression, problem, remedy)
        self.expression, self.problem, self.remedy = expression, problem, remedy

    def __str__(self) -> str:
        text = f"{self.expression}: {self.problem}"
        return f"{text}; {self.remedy}" if self.remedy else text


class OverflowOfExpression(ExpressionError, OverflowError):
    """The value of an expression does not fit its type in one row: names both and the operands."""


class InputError(AmbergateError):
    """Input that cannot be read: names the file, the row or line where known, and the remedy."""

    def __init__(self, path: str, problem: str, row: int | None = None, remedy: str = ""):
        super().__init__(path, problem, row, remedy)
        self.path, self.problem, self.row, self.remedy = path, problem, row, remedy

    def __str__(self) -> str:
        where = self.path if self.row is None else f"{self.path}, row {self.row}"
        text = f"{where}: {self.problem}"
        return f"{text}; {self.remedy}" if self.remedy else text


class OutputError(AmbergateError):
    """A sink that cannot be written: names the target and the remedy."""

    def __init__(self, path: str, problem: str, remedy: str = ""):
        super().__init__(path, problem, remedy)
        self.path, self.problem, self.remedy = path, problem, remedy

    def __str__(self) -> str:
        text = f"{self.path}: {self.problem}"
        return f"{text}; {self.remedy}" if self.remedy else text


class ValueTypeError(AmbergateError, TypeError):
    """A user function returned a value that is not of its declared type."""

    def __init__(self, function: str, expected: str, found: str, remedy: str = ""):
        super().__init__(function, expected, found, remedy)
        self.function, self.expected, self.found, self.remedy = function, expected, found, remedy

    def __str__(self) -> str:
        text = f"{self.function} must return {self.expected}, got {self.found}"
        return f"{text}; {self.remedy}" if self.remedy else text


class OverflowOfSum(AmbergateError, OverflowError):
    """A sum does not fit its output type: names the column and the type."""

    def __init__(self, column: str, type_name: str, remedy: str = ""):
        super().__init__(column, type_name, remedy)
        self.column, self.type_name, self.remedy = column, type_name, remedy

    def __str__(self) -> str:
        text = f"the sum of column {self.column!r} does not fit {self.type_name}"
        return f"{text}; {self.remedy or 'cast the column to a wider type first'}"


class IllegalTransition(AmbergateError):
    """A state machine was asked for a move it does not have."""

    def __init__(self, who: str, state: str, event: str, history: tuple[str, ...] = ()):
        super().__init__(who, state, event, history)
        self.who, self.state, self.event, self.history = who, state, event, history

    def __str__(self) -> str:
        past = "".join(f"\n  {line}" for line in self.history[-10:])
        return f"{self.who} is {self.state} and cannot {self.event}; before that:{past or ' nothing'}"
