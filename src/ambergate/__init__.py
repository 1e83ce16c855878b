"""A dataflow engine that stops at an exact row, is looked into, repaired and let go again.

>>> import ambergate as ag
>>> from ambergate import col
>>> stream = ag.from_arrow({"x": [1, 2, 3]}).filter(col("x") > 1).select(y=col("x") * 10)
>>> stream.collect(backend="inline").to_pydict()
{'y': [20, 30]}
"""

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
