"""Workers as processes of this machine, joined by shared memory passed by descriptor."""

from __future__ import annotations

import codecs
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import cloudpickle

from ambergate.backends.printing import Printer
from ambergate.channels.descriptors import above_streams
from ambergate.channels.link import Link
from ambergate.channels.memory import Memory
from ambergate.channels.process import open_process
from ambergate.errors import PlanError
from ambergate.graph.physical import PhysicalOperator, Plan
from ambergate.messages import Deploy
from ambergate.operators.functions import function_name

HASH_SEED = "0"
LAST_WORDS_BYTES = 4096
SPAWNED_MAIN = "__mp_main__"
BOOT = "import sys; sys.path[:0] = {path!r}; from ambergate.worker.main import main; main()"


class LocalWorker:
    """One worker process."""

    def __init__(self, process: subprocess.Popen[bytes], link: Link, number: int, printer: Printer):
        self.process, self.link, self.number = process, link, number
        self._printer = printer
        self._life = open_process(process.pid)
        self._words: deque[bytes] = deque(maxlen=64)
        decoder = codecs.getincrementaldecoder("utf-8")
        self._pipes = {
            pipe.fileno(): (pipe, stream, decoder("replace"))
            for pipe, stream in ((process.stdout, "stdout"), (process.stderr, "stderr"))
            if pipe is not None
        }
        for descriptor in self._pipes:
            os.set_blocking(descriptor, False)

    def watched(self) -> list[int]:
        """The process descriptor and the ends of its output pipes."""
        life = [] if self._life is None else [self._life]
        return [*life, *self._pipes]

    def heard(self, descriptor: int) -> None:
        """Pass on what the worker printed."""
        if descriptor not in self._pipes:
            return
        pipe, stream, decoder = self._pipes[descriptor]
        try:
            printed = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return
        except OSError:
            printed = b""
        if not printed:
            del self._pipes[descriptor]
            pipe.close()
            return
        if stream == "stderr":
            self._words.append(printed[-LAST_WORDS_BYTES:])
        self._printer.print(stream, decoder.decode(printed))  # a read may end inside a character

    def ended(self) -> int | None:
        """The exit code once the process has ended."""
        return self.process.poll()

    def last_words(self) -> str:
        """The end of its standard error."""
        for descriptor in list(self._pipes):
            self.heard(descriptor)
        return b"".join(self._words)[-LAST_WORDS_BYTES:].decode("utf-8", "replace").strip()

    def end(self, timeout_s: float) -> None:
        """Give the process ``timeout_s`` to leave, then kill it."""
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
        for descriptor in list(self._pipes):
            while descriptor in self._pipes:
                before = len(self._words)
                self.heard(descriptor)
                if descriptor in self._pipes and len(self._words) == before:
                    self._pipes.pop(descriptor)[0].close()
        if self._life is not None:
            os.close(self._life)
            self._life = None
        self.link.close()


class LocalBackend:
    """The backend ``"local"``."""

    name = "local"

    def memory(self, nbytes: int) -> Memory:
        """Anonymous shared memory, passed to the workers by descriptor."""
        return Memory.create(nbytes)

    def launch(self, plan: Plan, memory: Memory, job: str) -> list[LocalWorker]:
        """Pickle the plan, start the processes, and fill the shared buffers while they load."""
        pickled, buffers = _pickled(plan)
        printer = Printer()
        workers: list[LocalWorker] = []
        try:
            for number in range(plan.workers):
                workers.append(self._spawn(number, memory, printer))
            self._deploy(workers, pickled, buffers, job)
        except BaseException:
            for worker in workers:
                worker.process.kill()
                worker.end(5.0)
            raise
        return workers

    def _spawn(self, number: int, memory: Memory, printer: Printer) -> LocalWorker:
        near, far = (_passable(end) for end in socket.socketpair())
        environment = {**os.environ, "PYTHONHASHSEED": HASH_SEED}
        command = [
            sys.executable,
            "-c",
            BOOT.format(path=_own_path()),
            str(far.fileno()),
            str(memory.fd),
            str(memory.nbytes),
            str(os.getpid()),
        ]
        try:
            with _without_interrupts():
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    pass_fds=(far.fileno(), memory.fd),
                    env=environment,
                    close_fds=True,
                )
        except BaseException:
            near.close()
            raise
        finally:
            far.close()
        return LocalWorker(process, Link(near), number, printer)

    def _deploy(
        self,
        workers: list[LocalWorker],
        pickled: bytes,
        buffers: list[pickle.PickleBuffer],
        job: str,
    ) -> None:
        views = [buffer.raw() for buffer in buffers]
        sizes = tuple(view.nbytes for view in views)
        shared = Memory.create(sum(sizes)) if sum(sizes) else None
        try:
            offset = 0
            for view in views:
                if shared is not None and view.nbytes:
                    shared.mapping[offset : offset + view.nbytes] = view
                    offset += view.nbytes
            descriptors = () if shared is None else (shared.fd,)
            for worker in workers:
                message = Deploy(pickled, sizes, worker.number, job, tuple(_own_path()))
                worker.link.send(message, descriptors, timeout_s=60.0)
        finally:
            if shared is not None:
                shared.close()


def _pickled(plan: Plan) -> tuple[bytes, list[pickle.PickleBuffer]]:
    """The plan and its large buffers; PlanError naming operator and function where it cannot be."""
    buffers: list[pickle.PickleBuffer] = []
    if SPAWNED_MAIN in sys.modules:  # the main module of a process that multiprocessing made
        cloudpickle.register_pickle_by_value(sys.modules[SPAWNED_MAIN])
    try:
        return cloudpickle.dumps(plan, protocol=5, buffer_callback=buffers.append), buffers
    except Exception as error:
        for operator in plan.operators:
            _check_travels(operator)
        raise PlanError("plan", f"cannot be sent to a worker: {error}") from error


def _check_travels(operator: PhysicalOperator) -> None:
    try:
        cloudpickle.dumps(operator.description, protocol=5, buffer_callback=lambda _: None)
    except Exception as error:
        function = getattr(operator.description, "fn", None)
        what = "its description" if function is None else f"function {function_name(function)}"
        raise PlanError(
            operator.name,
            f"{what} cannot be sent to a worker: {error}",
            "make such an object (a lock, a file, a connection) inside the function, or use "
            'backend="inline"',
        ) from error


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start a process with Control-C blocked, until it ignores that: it may still be loading."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _passable(end: socket.socket) -> socket.socket:
    return socket.socket(fileno=above_streams(end.detach()))


def _own_path() -> list[str]:
    """Where the workers find ambergate itself; the user's own path comes with the deployment."""
    return [path or os.getcwd() for path in sys.path]
