"""The controller of one job: a thread that hears the workers, and the calls of the user.

It owns what the pure machine has not: sockets, clocks, waiting. All state is guarded by one
condition; every wait has a bound and says what it waits for.
"""

from __future__ import annotations

import os
import selectors
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from ambergate.channels.bell import Bell
from ambergate.channels.gate import Gate, TaskState
from ambergate.channels.memory import Memory
from ambergate.controller import job as machine
from ambergate.controller.breakpoints import Breakpoints
from ambergate.controller.results import commit, prepare
from ambergate.controller.workers import WorkerHandle
from ambergate.errors import AmbergateError
from ambergate.graph.layout import Layout
from ambergate.graph.physical import Plan
from ambergate.messages import (
    Answer,
    Ask,
    Leave,
    Ready,
    TaskFinished,
    TaskHeld,
    TaskRaised,
    WorkerLost,
)

TICK_S = 0.25  # of the controller's thread while nothing is heard
PAUSE_TICK_S = 0.0002
LEAVE_S = 2.0  # for all workers to end in order before they are killed


class Controller:
    """Runs one job on started workers.

    Parameters
    ----------
    plan, layout, memory : as deployed
    on_error : ``pause`` or ``raise``
    paused : begin with every gate closed
    cleanup : called once, after the workers are gone
    """

    def __init__(
        self,
        plan: Plan,
        layout: Layout,
        memory: Memory,
        on_error: str,
        paused: bool,
        cleanup: Callable[[], None] = lambda: None,
    ):
        self.plan, self.layout, self.memory = plan, layout, memory
        self.changed = threading.Condition(threading.RLock())
        self.machine = machine.JobMachine(plan.workers, plan.tasks, on_error, paused)
        self.breakpoints = Breakpoints()
        self.finished_tasks: set[tuple[str, int]] = set()
        self.results: dict[tuple[str, int], list[pa.RecordBatch]] = {}
        self.gates = {
            (operator.name, task): Gate(
                memory.mapping, layout.gate(plan.gate_index(operator.index, task))
            )
            for operator in plan.operators
            for task in range(operator.tasks)
        }
        self.bells = [Bell(memory.mapping, layout.bell(worker)) for worker in range(plan.workers)]
        for gate in self.gates.values():
            gate.reset()
            gate.close(self.machine.turn)
        self.workers: Sequence[WorkerHandle] = ()
        self._cleanup = cleanup
        self._answers: dict[int, Answer | None] = {}
        self._descriptors: dict[int, list[int]] = {}
        self._number = 0
        self._left = False
        self._wake_near, self._wake_far = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="ambergate-controller", daemon=True)

    # life

    def start(self, workers: Sequence[WorkerHandle], timeout_s: float = 60.0) -> None:
        """Begin hearing ``workers``; returns when all are ready, or the job has failed."""
        self.workers = workers
        self._thread.start()
        with self.changed:
            self.wait_until(
                lambda: self.machine.state != "starting", timeout_s, "all workers to be ready"
            )

    def wait_until(self, holds: Callable[[], bool], timeout_s: float | None, what: str) -> None:
        """Wait (holding ``changed``) until ``holds()``; TimeoutError that names ``what`` else."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not holds():
            left = 1.0 if deadline is None else deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"waited {timeout_s} s for {what}; the job is {self.state}")
            self.changed.wait(min(left, 1.0))

    @property
    def state(self) -> str:
        """The job's state, in the words of the API."""
        state = self.machine.state
        return "running" if state in machine.ENDING else state

    def feed(self, event: Any) -> None:
        """Give the machine an event and carry out what it says."""
        with self.changed:
            for action in self.machine.handle(event):
                self._carry_out(action)
            self.changed.notify_all()
            self._wake()

    def _carry_out(self, action: Any) -> None:
        if isinstance(action, machine.CloseGates):
            for gate in self.gates.values():
                gate.close(action.turn)
        elif isinstance(action, machine.OpenGates):
            self.open_gates(action.turn)
        elif isinstance(action, machine.Retry):
            self._send(action.task, Ask(0, "retry", action.operator, action.task))
        elif isinstance(action, machine.Prepare):
            self._apart(prepare)
        elif isinstance(action, machine.Commit):
            self._apart(commit)
        elif isinstance(action, machine.Release):
            for worker in self.workers:
                worker.link.send(Leave(action.abort))

    def open_gates(self, turn: int) -> None:
        """Let every task run to its limit."""
        for (operator, task), gate in self.gates.items():
            gate.open(turn, self.breakpoints.limit(operator, task))
        self.ring()

    def ring(self) -> None:
        """Wake the data threads that sleep."""
        for bell in self.bells:
            bell.ring()

    def limits_changed(self) -> None:
        """Breakpoints were set or removed: move the limits of open gates."""
        with self.changed:
            if self.machine.state == "running":
                for (operator, task), gate in self.gates.items():
                    gate.set_limit(self.breakpoints.limit(operator, task))
                self.ring()

    # quiescence

    def still_running(self) -> list[tuple[str, int]]:
        """The tasks that are inside a step, of all whose gates are closed."""
        return [key for key, gate in self.gates.items() if gate.is_running()]

    def _stands(self) -> bool:
        """Whether no task is inside a step, and some have not finished: else the end is near."""
        return not self.still_running() and any(
            gate.read()["state"] != TaskState.FINISHED for gate in self.gates.values()
        )

    def quiesce(self, timeout_s: float | None) -> bool:
        """Wait (not holding ``changed``) until a job that is pausing stands still."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        spins = 0
        while True:
            turn = self.machine.turn
            if self.machine.state != "pausing":
                return True
            if self._stands():
                self.feed(machine.Quiesced(turn))
                continue
            if deadline is not None and time.monotonic() >= deadline:
                return False
            spins += 1
            time.sleep(0 if spins < 20 else min(PAUSE_TICK_S * spins / 20, 0.01))

    # questions to workers

    def ask(
        self, operator: str, task: int, what: str, argument: Any = None, timeout_s: float = 10.0
    ) -> tuple[Any, list[int]]:
        """Ask the worker of a task; its answer and the descriptors that came with it."""
        return self.ask_worker(self.plan.worker_of(task), what, operator, task, argument, timeout_s)

    def ask_worker(
        self,
        worker: int,
        what: str,
        operator: str = "",
        task: int = -1,
        argument: Any = None,
        timeout_s: float = 10.0,
    ) -> tuple[Any, list[int]]:
        """Ask a worker; raises AmbergateError with its own error, or when it is gone."""
        with self.changed:
            self._number += 1
            number = self._number
            self._answers[number] = None
        self.workers[worker].link.send(Ask(number, what, operator, task, argument))
        with self.changed:
            try:
                self.wait_until(
                    lambda: self._answers[number] is not None or self._gone(worker),
                    timeout_s,
                    f"worker {worker} to answer {what!r}",
                )
                answer = self._answers[number]
            finally:
                self._answers.pop(number)
        descriptors = self._descriptors.pop(number, [])
        if answer is None:
            raise AmbergateError(f"worker {worker} ended before it answered {what!r}")
        if answer.error is not None:
            raise AmbergateError(
                f"worker {worker} could not answer {what!r}: {answer.error.type_name}: "
                f"{answer.error.text}\n{answer.error.frames}"
            )
        return answer.value, descriptors

    def _gone(self, worker: int) -> bool:
        return self._left or self.workers[worker].ended() is not None

    # the thread

    def _run(self) -> None:
        selector = selectors.DefaultSelector()
        selector.register(self._wake_near, selectors.EVENT_READ, None)
        for number, worker in enumerate(self.workers):
            selector.register(worker.link.end, selectors.EVENT_READ, (number, "link"))
            for descriptor in worker.watched():
                selector.register(descriptor, selectors.EVENT_READ, (number, "life"))
        try:
            while not self.machine.ended:
                ready = selector.select(TICK_S if self.machine.state != "pausing" else 0.0005)
                for key, _ in ready:
                    self._heard(selector, key)
                for number, worker in enumerate(self.workers):
                    if not ready and worker.ended() is not None:
                        self._lost(number)
                if self.machine.state == "pausing" and self._stands():
                    self.feed(machine.Quiesced(self.machine.turn))
        except BaseException as error:
            self.feed(machine.Broken(error))
            raise
        finally:
            selector.close()
            self._leave()

    def _heard(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        if key.data is None:
            self._wake_near.recv(4096)
            return
        number, what = key.data
        worker = self.workers[number]
        if what == "life":
            worker.heard(key.fd)
            if worker.ended() is not None:
                self._lost(number)
            if key.fd not in worker.watched():
                selector.unregister(key.fd)
            return
        received = worker.link.drain()
        if received is None:
            selector.unregister(key.fileobj)
            self._lost(number)
            return
        for message, descriptors in received:
            self._take(message, descriptors)

    def _take(self, message: Any, descriptors: list[int]) -> None:
        if isinstance(message, Answer):
            with self.changed:
                if message.number in self._answers:
                    self._answers[message.number] = message
                    self._descriptors[message.number] = descriptors
                    descriptors = []
                self.changed.notify_all()
            for descriptor in descriptors:
                os.close(descriptor)
        elif isinstance(message, Ready):
            self.feed(machine.WorkerReady(message.worker))
        elif isinstance(message, TaskFinished):
            self._finished(message)
        elif isinstance(message, TaskHeld):
            with self.changed:
                for stop in self.breakpoints.held(message.operator, message.task, message.position):
                    self.feed(machine.PauseAsked(stop))
        elif isinstance(message, TaskRaised):
            self.feed(machine.Raised(message.failure))

    def _finished(self, message: TaskFinished) -> None:
        with self.changed:
            self.finished_tasks.add((message.operator, message.task))
            for stop in self.breakpoints.finished(message.operator, message.task):
                self.feed(machine.PauseAsked(stop))
            self.feed(machine.Finished(message.operator, message.task))

    def _lost(self, number: int) -> None:
        """A worker's process or link has ended by itself."""
        if self.machine.ended:
            return
        worker = self.workers[number]
        deadline = time.monotonic() + LEAVE_S
        while worker.ended() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        for message, descriptors in worker.link.rest():  # it may have said why
            self._take(message, descriptors)
        code = worker.ended()
        lost = WorkerLost(number, 0 if code is None else code, worker.last_words())
        self.feed(machine.Broken(lost))

    def _apart(self, work: Callable[[Controller], None]) -> None:
        """Do what may take long on a thread of its own; the job fails with it."""

        def tried() -> None:
            try:
                work(self)
            except BaseException as error:
                self.feed(machine.Broken(error))

        threading.Thread(target=tried, name="ambergate-commit", daemon=True).start()

    def _send(self, task: int, message: Any) -> None:
        self.workers[self.plan.worker_of(task)].link.send(message)

    def _wake(self) -> None:
        if threading.current_thread() is not self._thread:
            try:
                self._wake_far.send(b"!")
            except (BlockingIOError, OSError):
                return

    def _leave(self) -> None:
        """End the workers and free what the job held."""
        deadline = time.monotonic() + LEAVE_S
        for worker in self.workers:
            worker.end(max(0.0, deadline - time.monotonic()))
        with self.changed:
            self._left = True
            self.changed.notify_all()
        self._wake_near.close()
        self._wake_far.close()
        self._cleanup()
        with self.changed:
            self.changed.notify_all()

    @property
    def left(self) -> bool:
        """Whether every worker is gone."""
        return self._left

    def join(self, timeout_s: float) -> bool:
        """Wait until the job's thread has ended and all is freed; whether it has."""
        if threading.current_thread() is self._thread:
            return False
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    # reading the pages

    def page(self, operator: str, task: int) -> dict[str, int]:
        """The counters of a task, from shared memory."""
        return self.gates[(operator, task)].read()

    def state_of(self, operator: str, task: int) -> str:
        """The state of a task, as its page and the job's state have it."""
        page = self.page(operator, task)
        told = TaskState(page["state"])
        if told is TaskState.FINISHED:
            return "finished"
        if self.machine.state in ("pausing", "paused") and page["turn"] % 2:
            return "pausing" if page["running"] else "paused"
        if told is TaskState.RAISED:
            return "paused"
        names = {
            TaskState.STARTING: "starting",
            TaskState.RUNNING: "running",
            TaskState.IDLE: "running",
            TaskState.BLOCKED: "blocked",
            TaskState.HELD: "paused",
        }
        return names[told]
