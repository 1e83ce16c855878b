"""Workers as threads of the caller's process: no start-up, functions are not copied."""

from __future__ import annotations

import socket
import threading

from ambergate.channels.link import Link
from ambergate.channels.memory import Memory
from ambergate.graph.physical import Plan
from ambergate.messages import Ready
from ambergate.worker.main import Worker


class InlineWorker:
    """One worker inside this process."""

    def __init__(self, link: Link, far: Link, worker: Worker, number: int):
        self.link, self._far, self._worker = link, far, worker
        self._threads = [
            threading.Thread(target=self._data, name=f"ambergate-data-{number}", daemon=True),
            threading.Thread(target=self._control, name=f"ambergate-ctl-{number}", daemon=True),
        ]
        self._number = number

    def start(self) -> None:
        """Begin serving and running."""
        self._worker.io.start()
        for thread in self._threads:
            thread.start()
        self._far.send(Ready(self._number))

    def _data(self) -> None:
        self._worker.data.run()

    def _control(self) -> None:
        self._worker.finish(self._worker.control.run())

    def watched(self) -> list[int]:
        """Threads print to the caller's own streams."""
        return []

    def heard(self, descriptor: int) -> None:
        """Nothing is watched."""

    def ended(self) -> int | None:
        """A thread ends with its process."""
        return None

    def last_words(self) -> str:
        """Threads have no stream of their own."""
        return ""

    def end(self, timeout_s: float) -> None:
        """Stop the threads; one that is inside a user's function is left behind as a daemon."""
        self._worker.data.stop()
        self.link.close()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout_s)
        self._far.close()


class InlineBackend:
    """The backend ``"inline"``."""

    name = "inline"

    def memory(self, nbytes: int) -> Memory:
        """Memory of this process."""
        return Memory.create(nbytes)

    def launch(self, plan: Plan, memory: Memory, job: str) -> list[InlineWorker]:
        """Open each worker's tasks here."""
        workers = []
        for number in range(plan.workers):
            near, far = (Link(end) for end in socket.socketpair())
            worker = Worker(far, plan, memory, number, job, in_caller=True)
            workers.append(InlineWorker(near, far, worker, number))
        for worker in workers:
            worker.start()
        return workers
