"""The I/O thread of a worker: reads ahead for sources and writes behind sinks, both bounded.

The data thread never waits for a file. Both sides meet in bounded deques, which one thread fills
and one empties; who makes room or brings something wakes the other.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from ambergate.batch import End

READ_AHEAD_BATCHES = 4
WRITE_BEHIND_BATCHES = 4
IDLE_WAIT_S = 0.5


class Failed:
    """In place of a batch: reading went wrong."""

    num_rows = 0

    def __init__(self, error: BaseException):
        self.error = error


class ReadPump:
    """A source's reader on the I/O thread, seen by its task as the reader of a channel.

    What was read lies aside until the task looks for input, which it does under an open gate only:
    a source that stands shows the same rows whenever it is asked, though reading goes on.
    """

    def __init__(self, open_reader: Callable[[], Any], wake_data: Callable[[], None]):
        self._open_reader, self._wake_data = open_reader, wake_data
        self._reader: Any = None
        self._read: deque[Any] = deque()  # filled here, emptied by the data thread
        self._items: deque[Any] = deque()  # of the data thread
        self._wanted = False  # nothing is read before the task first asks
        self._over = False  # nothing more is read
        self._closing = False
        self.wake_io: Callable[[], None] = lambda: None

    def work(self) -> bool:
        """Read one batch if there is room; whether anything was done. On the I/O thread."""
        if self._closing and not self._over:
            self._over = True
            self._shut()
            return True
        if self._over or not self._wanted or self._ahead() >= READ_AHEAD_BATCHES:
            return False
        try:
            if self._reader is None:
                self._reader = self._open_reader()
            item = self._reader.read()
        except BaseException as error:
            item = Failed(error)
        if item is None or isinstance(item, Failed):
            self._over = True
            self._shut()
        self._read.append(End() if item is None else item)
        self._wake_data()
        return True

    def _ahead(self) -> int:
        return len(self._read) + len(self._items)

    def _shut(self) -> None:
        if self._reader is not None:
            reader, self._reader = self._reader, None
            reader.close()

    def peek(self) -> Any | None:
        """The next batch read; raises what reading raised."""
        while self._read:
            self._items.append(self._read.popleft())
        if not self._items:
            if not self._wanted:
                self._wanted = True
                self.wake_io()
            return None
        item = self._items[0]
        if isinstance(item, Failed):
            raise item.error
        return item

    def pop(self) -> None:
        """Take it."""
        self._items.popleft()
        self.wake_io()

    def consumed(self, rows: int) -> None:
        """Sources count their rows by position alone."""

    def close(self) -> None:
        """Read no more."""
        self._closing = True
        self._read.clear()
        self._items.clear()
        self.wake_io()

    def items(self) -> list[Any]:
        """What was read ahead and seen by the task."""
        return [item for item in list(self._items) if not isinstance(item, Failed)]


class WritePump:
    """A sink's writer on the I/O thread."""

    def __init__(self, open_writer: Callable[[], Any], wake_data: Callable[[], None]):
        self._open_writer, self._wake_data = open_writer, wake_data
        self.writer: Any = None
        self._batches: deque[Any] = deque()
        self._ending = False
        self.finished = False
        self.error: BaseException | None = None
        self.wake_io: Callable[[], None] = lambda: None

    def work(self) -> bool:
        """Write one batch, or finish the file; whether anything was done. On the I/O thread."""
        if self.finished or self.error is not None:
            return False
        try:
            if self.writer is None:
                self.writer = self._open_writer()
            if self._batches:
                self.writer.write(self._batches[0])
                self._batches.popleft()
            elif self._ending:
                self.writer.finish()
                self.finished = True
            else:
                return False
        except BaseException as error:
            self.error = error
        self._wake_data()
        return True

    def offer(self, batch: Any) -> bool:
        """Queue a batch; False when the writer is behind."""
        if self.error is not None:
            raise self.error
        if len(self._batches) >= WRITE_BEHIND_BATCHES:
            return False
        self._batches.append(batch)
        self.wake_io()
        return True

    def finish(self) -> bool:
        """Ask for the end; whether everything is written and closed, still unseen by others."""
        if self.error is not None:
            raise self.error
        if not self._ending:
            self._ending = True
            self.wake_io()
        return self.finished


class IoThread(threading.Thread):
    """Drives the pumps of one worker in turn."""

    def __init__(self, pumps: list[Any]):
        super().__init__(name="ambergate-io", daemon=True)
        self._pumps = pumps
        self._awake = threading.Event()
        self._sleeping = False
        self._stopping = False
        for pump in pumps:
            pump.wake_io = self.wake

    def wake(self) -> None:
        """There may be something to do."""
        if self._sleeping:
            self._awake.set()

    def run(self) -> None:
        """Work until told to stop."""
        while not self._stopping:
            if any([pump.work() for pump in self._pumps]):
                continue
            self._sleeping = True
            # A wake between the last look and here would be lost without this second look.
            if not any([pump.work() for pump in self._pumps]) and not self._stopping:
                self._awake.wait(IDLE_WAIT_S)
            self._sleeping = False
            self._awake.clear()

    def stop(self, timeout_s: float = 5.0) -> None:
        """End the thread after the call it is in."""
        self._stopping = True
        self._sleeping = True
        self.wake()
        if self.is_alive():
            self.join(timeout_s)
