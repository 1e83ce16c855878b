"""Starting jobs: ``start`` gives a handle, ``run`` waits for the end, ``collect`` for the rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ambergate.engine import deploy
from ambergate.errors import PlanError
from ambergate.graph.logical import Node
from ambergate.handle import Job
from ambergate.progress import Progress
from ambergate.stream import Sink, Stream


def start(
    *sinks: Sink,
    workers: int | None = None,
    backend: str = "local",
    on_error: str = "pause",
    paused: bool = False,
    batch_rows: int | None = None,
    ring_bytes: int | None = None,
    skipping: bool = True,
) -> Job:
    """Start a job and return its handle once the workers are ready.

    Parameters
    ----------
    sinks : one or several ends of dataflows; they run as one job
    workers : worker processes; as many as cores (at most 8) by default, 1 with ``inline``
    backend : ``"local"``, processes of this machine; ``"inline"``, threads of this process
    on_error : ``"pause"``: a row that raises stops the job at that row; ``"raise"``: it fails it
    paused : every gate closed, nothing read: set breakpoints, then ``resume``
    batch_rows : rows of a source's batches at most
    ring_bytes : capacity of each channel between workers
    skipping : leave out columns and row groups that cannot matter

    Raises
    ------
    PlanError
        The dataflow cannot be run as written; before anything is started.
    """
    job = Job(
        deploy(
            _nodes(sinks),
            workers=workers,
            backend=backend,
            on_error=on_error,
            paused=paused,
            batch_rows=batch_rows,
            ring_bytes=ring_bytes,
            skipping=skipping,
        )
    )
    if job.state == "failed":
        raise job.failure()
    return job


def run(*sinks: Sink, progress: bool | None = None, **options: Any) -> Job:
    """Run to the end; options as of ``start``, but a row that raises fails the job.

    Parameters
    ----------
    progress : show rows and rates on the terminal; by default only if there is one

    Returns
    -------
    Job
        The finished job, for ``result`` and ``stats``.

    Raises
    ------
    JobFailed
        With operator, task, position, row, and the user's own frames.
    """
    options.setdefault("on_error", "raise")
    job = start(*sinks, **options)
    try:
        with Progress(job, progress):
            job.wait()
    except BaseException:
        if job.state != "paused" or options["on_error"] == "raise":
            job.stop()
        raise
    return job


def collect(stream: Stream, **options: Any) -> pa.Table:
    """The rows of ``stream`` as one table; options as of ``run``."""
    return run(stream.to_table(), **options).result()


def _nodes(sinks: tuple[Any, ...]) -> list[Node]:
    for each in sinks:
        if isinstance(each, Stream):
            raise PlanError(
                each.node.title,
                "is a stream without an end",
                "end it with to_table(), write_*() or for_each(), or call its collect()",
            )
        if not isinstance(each, Sink):
            raise PlanError("start", f"takes sinks, got {type(each).__name__}")
    return [each.node for each in sinks]
