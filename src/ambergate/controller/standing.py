"""What may be done to a job that stands: count what is in flight, run a part of it, close again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ambergate.controller.controller import Controller
from ambergate.errors import AmbergateError

Key = tuple[str, int]  # operator and task
STEP_END_S = 60.0
LOOK_S = 0.0005
IDLE_LOOK_S = 0.02


def must_stand(controller: Controller, what: str) -> None:
    """Raise AmbergateError unless the job is paused."""
    if controller.state != "paused":
        raise AmbergateError(
            f"{what} needs a paused job; this one is {controller.state}: pause() it first"
        )


def in_flight(controller: Controller) -> tuple[int, int]:
    """Rows and bytes that were emitted and not yet consumed; the job must stand."""
    must_stand(controller, "counting rows in flight")
    rows = nbytes = 0
    for task in counts(controller):
        rows += unsent(task)
        if controller.plan.operator(task["operator"]).role != "source":
            rows += sum(task["queued"]) + task["pending"]
            nbytes += task["queued_bytes"]
    return rows, nbytes


def counts(controller: Controller) -> list[dict[str, Any]]:
    """What each task consumed, released and has queued, by asking every worker."""
    found: list[dict[str, Any]] = []
    for worker in range(controller.plan.workers):
        found += controller.ask_worker(worker, "in_flight")[0]
    return found


def unsent(task: dict[str, Any]) -> int:
    """Rows that a task's channels took and their readers cannot see yet."""
    return sum(sum(writers) for writers in task["unsent"])


def downstream(controller: Controller, name: str) -> list[str]:
    """The operators that rows of ``name`` can reach, inputs before consumers."""
    plan = controller.plan
    reached = {plan.operator(name).index}
    below = []
    for operator in plan.operators:
        if any(edge.source in reached for _, edge in plan.inputs_of(operator.index)):
            reached.add(operator.index)
            below.append(operator.name)
    return below


def run_part(
    controller: Controller,
    keys: list[Key],
    done: Callable[[], bool],
    timeout_s: float,
    what: str,
    limits: Mapping[Key, int] | None = None,
) -> None:
    """Open the gates of ``keys`` alone until ``done()``, then close them again.

    Raises TimeoutError that names ``what`` when that takes longer than ``timeout_s``.
    """
    deadline = time.monotonic() + timeout_s
    with controller.changed:
        controller.machine.turn += 1
        for key in keys:
            limit = (limits or {}).get(key, controller.breakpoints.limit(*key))
            controller.gates[key].open(controller.machine.turn, limit)
        controller.ring()
    try:
        while not done():
            if controller.machine.ended:
                raise AmbergateError(f"the job is {controller.state}; {what} was under way")
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited {timeout_s} s for {what}")
            time.sleep(LOOK_S)
    finally:
        _close(controller, keys)


def _close(controller: Controller, keys: list[Key]) -> None:
    with controller.changed:
        controller.machine.turn += 1
        for key in keys:
            controller.gates[key].close(controller.machine.turn)
    deadline = time.monotonic() + STEP_END_S
    while any(controller.gates[key].is_running() for key in keys):
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {STEP_END_S} s for the step of one of {keys} to end")
        time.sleep(LOOK_S)


def is_idle(controller: Controller, key: Key) -> bool:
    """Whether a task with an open gate finds nothing to do, in two looks 20 ms apart."""
    gate = controller.gates[key]
    before = (gate.position, gate.read()["busy_ns"])
    if gate.is_running() or controller.state_of(*key) == "finished":
        return not gate.is_running()
    time.sleep(IDLE_LOOK_S)
    return (gate.position, gate.read()["busy_ns"]) == before and not gate.is_running()
