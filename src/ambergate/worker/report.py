"""What an exception becomes on its way to the user: its type, text, own frames, and itself."""

from __future__ import annotations

import contextlib
import os
import pickle
import traceback
from types import TracebackType
from typing import Any

from ambergate.messages import RaisedRow

MOST_TEXT = 64 << 10  # bytes of a message that travel
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def describe_error(
    error: BaseException,
    operator: str,
    task: int,
    position: int,
    row: dict[str, Any] | None,
    retryable: bool,
) -> RaisedRow:
    """Everything a user needs of ``error``, in a form that always pickles."""
    return RaisedRow(
        operator=operator,
        task=task,
        position=position,
        row=_portable_row(row),
        type_name=_name_of(type(error)),
        text=text_of(error),
        frames=user_frames(error),
        pickled=_pickled(error),
        retryable=retryable,
    )


def text_of(error: BaseException) -> str:
    """``str(error)``, cut to 64 KiB; says so where ``__str__`` itself raises."""
    try:
        text = str(error)
    except BaseException as second:
        return f"<its __str__ raised {type(second).__name__}>"
    if len(text) > MOST_TEXT:
        return f"{text[:MOST_TEXT]}... <{len(text) - MOST_TEXT} more characters>"
    return text


def user_frames(error: BaseException) -> str:
    """The traceback as text, without the engine's frames; chained causes included."""
    parts = []
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen and len(seen) < 8:
        seen.add(id(link))
        frames = [
            frame
            for frame in _frames(link.__traceback__)
            if not frame.filename.startswith(PACKAGE)
            and not frame.filename.endswith(".pyx")
            and frame.filename != contextlib.__file__
        ]
        body = "".join(traceback.format_list(frames))
        parts.append(f"{body}{_name_of(type(link))}: {text_of(link)}")
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return "\n\ncaused by\n\n".join(parts)


def _frames(trace: TracebackType | None) -> list[traceback.FrameSummary]:
    try:
        return list(traceback.extract_tb(trace, limit=50))
    except Exception:  # source lines that cannot be read must not hide the error
        return []


def _name_of(kind: type) -> str:
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{module}{kind.__qualname__}"


def _pickled(error: BaseException) -> bytes | None:
    """The exception by value, where it survives the way there and back."""
    import cloudpickle

    try:
        frozen = cloudpickle.dumps(error)
        if len(frozen) > MOST_TEXT:
            return None
        pickle.loads(frozen)
    except BaseException:
        return None
    return frozen


def _portable_row(row: dict[str, Any] | None) -> dict[str, Any] | None:
    if row is None:
        return None
    try:
        frozen = pickle.dumps(row)
    except Exception:
        return {name: repr(value)[:256] for name, value in row.items()}
    if len(frozen) > 16 * MOST_TEXT:
        return {name: _cut(value) for name, value in row.items()}
    return row


def _cut(value: Any) -> Any:
    text = repr(value)
    return value if len(text) <= 1024 else f"{text[:1024]}... <{len(text)} characters>"
