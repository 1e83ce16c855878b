"""A dataflow engine that stops at an exact row, is looked into, repaired and let go again.

>>> import ambergate as ag
>>> from ambergate import col
>>> stream = ag.from_arrow({"x": [1, 2, 3]}).filter(col("x") > 1).select(y=col("x") * 10)
>>> stream.collect(backend="inline").to_pydict()
{'y': [20, 30]}
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ambergate.breakpoint_handle import Breakpoint
    from ambergate.debugger.stops import Failure, Finished, Hit, PauseReport
    from ambergate.errors import (
        AmbergateError,
        ExpressionError,
        IllegalTransition,
        InputError,
        JobFailed,
        JobPaused,
        OutputError,
        OverflowOfSum,
        PlanError,
        ValueTypeError,
    )
    from ambergate.expr import (
        Expr,
        col,
        collect_list,
        count,
        count_distinct,
        first,
        last,
        lit,
        max,
        max_of,
        mean,
        min,
        min_of,
        std,
        sum,
        var,
        when,
    )
    from ambergate.handle import Job
    from ambergate.jobs import run, start
    from ambergate.operator_handle import OperatorHandle
    from ambergate.sources import from_arrow, from_iter, read_csv, read_json, read_parquet
    from ambergate.stream import Sink, Stream

__version__ = "0.1.0"

__all__ = [
    "AmbergateError",
    "Breakpoint",
    "Expr",
    "ExpressionError",
    "Failure",
    "Finished",
    "Hit",
    "IllegalTransition",
    "InputError",
    "Job",
    "JobFailed",
    "JobPaused",
    "OperatorHandle",
    "OutputError",
    "OverflowOfSum",
    "PauseReport",
    "PlanError",
    "Sink",
    "Stream",
    "ValueTypeError",
    "col",
    "collect_list",
    "count",
    "count_distinct",
    "first",
    "from_arrow",
    "from_iter",
    "last",
    "lit",
    "max",
    "max_of",
    "mean",
    "min",
    "min_of",
    "read_csv",
    "read_json",
    "read_parquet",
    "run",
    "start",
    "std",
    "sum",
    "var",
    "when",
]

# Where each public name stands: a name is imported when it is first used, so that a worker
# process loads what its tasks need and no more.
_PLACES = {
    "AmbergateError": "ambergate.errors",
    "Breakpoint": "ambergate.breakpoint_handle",
    "Expr": "ambergate.expr",
    "ExpressionError": "ambergate.errors",
    "Failure": "ambergate.debugger.stops",
    "Finished": "ambergate.debugger.stops",
    "Hit": "ambergate.debugger.stops",
    "IllegalTransition": "ambergate.errors",
    "InputError": "ambergate.errors",
    "Job": "ambergate.handle",
    "JobFailed": "ambergate.errors",
    "JobPaused": "ambergate.errors",
    "OperatorHandle": "ambergate.operator_handle",
    "OutputError": "ambergate.errors",
    "OverflowOfSum": "ambergate.errors",
    "PauseReport": "ambergate.debugger.stops",
    "PlanError": "ambergate.errors",
    "Sink": "ambergate.stream",
    "Stream": "ambergate.stream",
    "ValueTypeError": "ambergate.errors",
    "col": "ambergate.expr",
    "collect_list": "ambergate.expr",
    "count": "ambergate.expr",
    "count_distinct": "ambergate.expr",
    "first": "ambergate.expr",
    "from_arrow": "ambergate.sources",
    "from_iter": "ambergate.sources",
    "last": "ambergate.expr",
    "lit": "ambergate.expr",
    "max": "ambergate.expr",
    "max_of": "ambergate.expr",
    "mean": "ambergate.expr",
    "min": "ambergate.expr",
    "min_of": "ambergate.expr",
    "read_csv": "ambergate.sources",
    "read_json": "ambergate.sources",
    "read_parquet": "ambergate.sources",
    "run": "ambergate.jobs",
    "start": "ambergate.jobs",
    "std": "ambergate.expr",
    "sum": "ambergate.expr",
    "var": "ambergate.expr",
    "when": "ambergate.expr",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'ambergate' has no attribute {name!r}")
    found = getattr(importlib.import_module(_PLACES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
