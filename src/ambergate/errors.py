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


class JobFailed(AmbergateError):
    """A job cannot go on; carries the first cause.

    Parameters
    ----------
    operator, task : where; ``operator`` is a worker's name where no operator is to blame
    position : rows the task had consumed, -1 where no row is to blame
    row : the row at that position, or None
    type_name, text : of the original exception
    frames : its traceback, the user's own frames only
    remedy : what to do about it

    The original exception is ``__cause__`` where it could travel from the worker.
    """

    def __init__(
        self,
        operator: str,
        task: int = -1,
        position: int = -1,
        row: dict[str, object] | None = None,
        type_name: str = "",
        text: str = "",
        frames: str = "",
        remedy: str = "",
    ):
        super().__init__(operator, task, position, row, type_name, text, frames, remedy)
        self.operator, self.task, self.position, self.row = operator, task, position, row
        self.type_name, self.text, self.frames, self.remedy = type_name, text, frames, remedy

    def __str__(self) -> str:
        where = f"operator {self.operator!r}"
        if self.task >= 0:
            where += f", task {self.task}"
        if self.position >= 0:
            where += f", position {self.position}"
        what = f"{self.type_name}: {self.text}" if self.type_name else self.text
        lines = [f"{where}: {what}"]
        if self.row is not None:
            lines.append(f"  row: {_short(self.row)}")
        if self.frames:
            lines.append("  " + self.frames.replace("\n", "\n  "))
        if self.remedy:
            lines.append(f"  {self.remedy}")
        return "\n".join(lines)


class JobPaused(AmbergateError):
    """The job stands, at a breakpoint, at a row that raised, or because the user paused it.

    ``stop`` is what ``wait_for_stop`` returns: a Hit, a Failure, or None after a user's pause.
    """

    def __init__(self, stop: object = None):
        super().__init__(stop)
        self.stop = stop

    def __str__(self) -> str:
        if self.stop is None:
            return "the job is paused; resume() lets it go on"
        return f"the job stands at {self.stop}; look into it, then resume() or stop()"


def _short(row: dict[str, object]) -> str:
    parts = []
    for name, value in row.items():
        text = repr(value)
        parts.append(f"{name}={text if len(text) <= 200 else text[:200] + '...'}")
    return ", ".join(parts)


class IllegalTransition(AmbergateError):
    """A state machine was asked for a move it does not have."""

    def __init__(self, who: str, state: str, event: str, history: tuple[str, ...] = ()):
        super().__init__(who, state, event, history)
        self.who, self.state, self.event, self.history = who, state, event, history

    def __str__(self) -> str:
        past = "".join(f"\n  {line}" for line in self.history[-10:])
        before = past or " nothing"
        return f"{self.who} is {self.state} and cannot {self.event}; before that:{before}"


class MemoryShortage(AmbergateError, MemoryError):
    """Shared memory that cannot be had: the bytes needed and, where known, the bytes left."""

    def __init__(self, needed: int, available: int | None = None):
        super().__init__(needed, available)
        self.needed, self.available = needed, available

    def __str__(self) -> str:
        left = "less is" if self.available is None else f"{self.available} are"
        return (
            f"{self.needed} bytes of shared memory are needed, {left} available; "
            f"make the rings smaller with ring_bytes=, or use fewer workers"
        )
