"""A worker process: started by a controller with a socket and shared memory, ends with it."""

from __future__ import annotations

import gc
import mmap
import os
import pickle
import signal
import socket
import sys
import threading
import time
from typing import Any

from ambergate.channels.link import Link
from ambergate.channels.memory import Memory
from ambergate.channels.process import exit_with
from ambergate.graph.physical import Plan
from ambergate.messages import Deploy, Ready, TaskRaised
from ambergate.worker.control_thread import ControlThread
from ambergate.worker.data_thread import DataThread
from ambergate.worker.deployment import Deployment, layout_of
from ambergate.worker.io_thread import IoThread
from ambergate.worker.report import describe_error

SWITCH_INTERVAL_S = 0.001  # control and I/O get the interpreter within a millisecond
START_TIMEOUT_S = 60.0


class Worker:
    """The three threads of a worker, in a process of its own or in the caller's."""

    def __init__(
        self,
        link: Link,
        plan: Plan,
        memory: Memory,
        worker: int,
        job: str,
        in_caller: bool = False,
    ):
        self.link = link
        self.deployment = Deployment(
            plan, layout_of(plan), memory, worker, job, self._tell, in_caller
        )
        self.control = ControlThread(link, self.deployment)
        self.io = IoThread(self.deployment.pumps)
        self.data = DataThread(self.deployment.tasks, self.deployment.bell)

    def _tell(self, what: str, *details: Any) -> None:
        self.control.tell(what, *details)

    def finish(self, abort: bool) -> None:
        """Stop the threads and remove what was not committed."""
        self.data.stop()
        self.io.stop()
        for sink in self.deployment.sinks:
            if abort and sink.writer is not None:
                sink.writer.withdraw()


def serve(link: Link, memory_fd: int, nbytes: int) -> None:
    """Take the deployment from ``link``, run its tasks on this thread, serve control on another."""
    deploy, descriptors = _first_message(link)
    sys.path[:] = [*deploy.search_path, *[p for p in sys.path if p not in deploy.search_path]]
    memory = Memory.attach(memory_fd, nbytes)
    plan = _load(deploy, descriptors)
    worker = Worker(link, plan, memory, deploy.worker, deploy.job)
    # Everything made so far lives as long as the process: keep the collector off it.
    gc.collect()
    gc.freeze()

    def control() -> None:
        abort = worker.control.run()
        worker.finish(abort)
        # The data thread may be inside a user's function that never returns.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)

    def in_forked_child() -> None:
        worker.data.forked = worker.control.muted = True

    os.register_at_fork(after_in_child=in_forked_child)
    threading.Thread(target=control, name="ambergate-control", daemon=True).start()
    worker.io.start()
    link.send(Ready(deploy.worker))
    worker.data.run()
    threading.Event().wait(START_TIMEOUT_S)  # the control thread ends the process


def _first_message(link: Link) -> tuple[Deploy, list[int]]:
    """The deployment; it may be large and come in many pieces."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        received = link.receive(1.0)
        if received is None:
            break
        for message, descriptors in received:
            if isinstance(message, Deploy):
                return message, descriptors
    raise SystemExit(f"the controller sent no deployment within {START_TIMEOUT_S} s")


def _load(deploy: Deploy, descriptors: list[int]) -> Plan:
    """Unpickle the plan; its large buffers stay where they are, in the file that came along."""
    buffers: list[memoryview] = []
    if descriptors:
        total = sum(deploy.buffer_sizes)
        mapped = memoryview(mmap.mmap(descriptors[0], max(total, 1), prot=mmap.PROT_READ))
        os.close(descriptors[0])
        offset = 0
        for size in deploy.buffer_sizes:
            buffers.append(mapped[offset : offset + size])
            offset += size
    return pickle.loads(deploy.plan, buffers=buffers)


def main() -> None:
    """Entry of a worker process: ``argv`` holds socket, memory, size and the controller's pid."""
    socket_fd, memory_fd, nbytes, controller = (int(each) for each in sys.argv[1:5])
    exit_with(controller, fallback=socket_fd)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    # Control-C at a terminal reaches the whole process group: it is the caller's to handle.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # blocked while it was started
    link = Link(socket.socket(fileno=socket_fd))
    try:
        serve(link, memory_fd, nbytes)
    except SystemExit:
        raise
    except BaseException as error:
        link.send(TaskRaised(describe_error(error, "worker", -1, -1, None, retryable=False)))
        raise
