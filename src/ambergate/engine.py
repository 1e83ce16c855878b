"""Plan, place, deploy, run: the one file that wires the parts together."""

from __future__ import annotations

import atexit
import os
import secrets
import time
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ambergate.controller import job as machine
from ambergate.controller.controller import Controller
from ambergate.controller.feeder import Feeder
from ambergate.errors import PlanError
from ambergate.graph.explain import explain_plan
from ambergate.graph.logical import Node
from ambergate.graph.planner import plan_dataflow
from ambergate.worker.deployment import layout_of
from ambergate.worker.report import describe_error

if TYPE_CHECKING:
    from ambergate.backends.base import Backend
    from ambergate.graph.physical import Plan

LIVE: weakref.WeakSet[Controller] = weakref.WeakSet()
STOP_S = 10.0  # for jobs to end that nobody can wait for
ON_ERROR = ("pause", "raise")


def default_workers() -> int:
    """As many workers as this process may use cores, at most 8."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, min(8, len(os.sched_getaffinity(0))))
    return max(1, min(8, os.cpu_count() or 1))


def make_plan(
    sinks: Iterable[Node],
    workers: int | None,
    backend: str,
    batch_rows: int | None = None,
    ring_bytes: int | None = None,
    skipping: bool = True,
) -> Plan:
    """The physical plan, with the defaults of the backend."""
    if workers is None:
        workers = default_workers() if backend == "local" else 1
    return plan_dataflow(list(sinks), workers, batch_rows, ring_bytes, skipping)


def explain(sinks: Iterable[Node], workers: int | None = None, backend: str = "local") -> str:
    """The plan as text; nothing is run."""
    plan = make_plan(sinks, workers, backend)
    return explain_plan(plan, layout_of(plan))


def deploy(
    sinks: list[Node],
    *,
    workers: int | None = None,
    backend: str = "local",
    on_error: str = "pause",
    paused: bool = False,
    batch_rows: int | None = None,
    ring_bytes: int | None = None,
    skipping: bool = True,
) -> Controller:
    """Start a job: workers ready, gates open unless ``paused``."""
    if on_error not in ON_ERROR:
        raise PlanError("start", f"on_error={on_error!r} is none of {', '.join(ON_ERROR)}")
    chosen = _backend(backend)
    plan = make_plan(sinks, workers, backend, batch_rows, ring_bytes, skipping)
    for operator in plan.operators:
        if operator.role == "sink" and hasattr(operator.description, "check"):
            operator.description.check()
    layout = layout_of(plan)
    memory = chosen.memory(layout.nbytes)
    job = f"{os.getpid()}-{secrets.token_hex(4)}"
    feeders: list[Feeder] = []

    def cleanup() -> None:
        for feeder in feeders:
            feeder.stop()
        memory.close()
        for operator in plan.operators:
            if operator.role == "sink" and hasattr(operator.description, "discard"):
                operator.description.discard(operator.tasks, job)

    controller = Controller(plan, layout, memory, on_error, paused, cleanup)
    if backend != "inline":
        feeders += _feeders(controller)
    try:
        started = chosen.launch(plan, memory, job)
    except BaseException:
        cleanup()
        raise
    LIVE.add(controller)
    for feeder in feeders:
        feeder.start()
    try:
        controller.start(started)
    except BaseException:  # Control-C, or workers that do not get ready
        controller.feed(machine.StopAsked())
        controller.join(STOP_S)
        raise
    return controller


def _feeders(controller: Controller) -> list[Feeder]:
    """One thread for each source whose rows can only be had in this process."""
    made = []
    for index, offset, nbytes in controller.layout.feeds:
        operator = controller.plan.operators[index]

        def failed(error: BaseException, name: str = operator.name) -> None:
            controller.feed(
                machine.Raised(describe_error(error, name, 0, -1, None, retryable=False))
            )

        made.append(
            Feeder(
                controller.plan,
                controller.layout,
                controller.memory,
                operator,
                offset,
                nbytes,
                failed,
            )
        )
    return made


def _backend(name: str) -> Backend:
    if name == "local":
        from ambergate.backends.local import LocalBackend

        return LocalBackend()
    if name == "inline":
        from ambergate.backends.inline import InlineBackend

        return InlineBackend()
    raise PlanError("start", f"backend={name!r} is none of 'local', 'inline'")


@atexit.register
def _stop_all() -> None:
    """Leave no worker and no unfinished file behind when the interpreter ends."""
    controllers = list(LIVE)
    for controller in controllers:
        controller.feed(machine.StopAsked())
    deadline = time.monotonic() + STOP_S
    for controller in controllers:
        controller.join(max(0.0, deadline - time.monotonic()))


if hasattr(os, "register_at_fork"):
    # A child of the user's own making has none of this process's threads: its jobs are not its to
    # stop when it ends.
    os.register_at_fork(after_in_child=LIVE.clear)
