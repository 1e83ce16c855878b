"""The control link: messages, and descriptors with them, over one local stream socket.

    frame = length (4 bytes) | descriptors (2 bytes) | pickled message

Only ambergate's own processes stand at the ends: a socket pair made by the controller.
"""

from __future__ import annotations

import array
import errno
import os
import pickle
import select
import socket
import struct
import threading
import time
from collections import deque
from typing import Any

HEADER = struct.Struct("<IH")
RECEIVE_BYTES = 1 << 16
MOST_DESCRIPTORS = 64


class Link:
    """One end of a control link; sending is safe from several threads, receiving from one."""

    def __init__(self, end: socket.socket):
        self.end = end
        self._sending = threading.Lock()
        self._bytes = bytearray()
        self._descriptors: deque[int] = deque()

    def fileno(self) -> int:
        """The descriptor to wait on."""
        return self.end.fileno()

    def send(
        self, message: Any, descriptors: tuple[int, ...] = (), timeout_s: float = 10.0
    ) -> bool:
        """Send one message; False when the other end is gone.

        Raises TimeoutError when the other end does not read for ``timeout_s``.
        """
        body = pickle.dumps(message, protocol=5)
        frame = memoryview(HEADER.pack(len(body), len(descriptors)) + body)
        deadline = time.monotonic() + timeout_s
        with self._sending:
            try:
                ancillary = ()
                if descriptors:
                    fds = array.array("i", descriptors)
                    ancillary = ((socket.SOL_SOCKET, socket.SCM_RIGHTS, fds),)
                while len(frame):
                    if not self._ready(select.POLLOUT, max(0.0, deadline - time.monotonic())):
                        raise TimeoutError("the other end of a control link does not read")
                    sent = self.end.sendmsg([frame], ancillary, socket.MSG_DONTWAIT)
                    frame, ancillary = frame[sent:], ()
            except (BrokenPipeError, ConnectionResetError):
                return False
            except (OSError, ValueError) as error:  # ValueError: closed meanwhile
                if self.end.fileno() < 0 or getattr(error, "errno", None) == errno.EBADF:
                    return False
                raise
        return True

    def receive(self, timeout_s: float | None = None) -> list[tuple[Any, list[int]]] | None:
        """Wait up to ``timeout_s`` for bytes; the messages now complete, None at the end."""
        if not self._ready(select.POLLIN, timeout_s):
            return []
        return self.drain()

    def rest(self) -> list[tuple[Any, list[int]]]:
        """The messages that have come so far, of an other end that may be gone."""
        messages: list[tuple[Any, list[int]]] = []
        while self._ready(select.POLLIN, 0.0):
            received = self.drain()
            if received is None:
                break
            messages += received
        return messages

    def _ready(self, what: int, timeout_s: float | None) -> bool:
        """Whether the end is ready within the time, or broken; by poll, for any descriptor."""
        poll = select.poll()
        poll.register(self.end, what)
        return bool(poll.poll(None if timeout_s is None else timeout_s * 1000))

    def drain(self) -> list[tuple[Any, list[int]]] | None:
        """The messages complete after one read; None when the other end is gone."""
        try:
            space = socket.CMSG_SPACE(MOST_DESCRIPTORS * 4)
            received, ancillary, _, _ = self.end.recvmsg(RECEIVE_BYTES, space, socket.MSG_DONTWAIT)
        except (BlockingIOError, InterruptedError):
            return []
        except OSError:
            return None
        for level, kind, content in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds = array.array("i")
                fds.frombytes(content[: len(content) - len(content) % fds.itemsize])
                self._descriptors.extend(fds)
        if not received:
            return None
        self._bytes += received
        messages = []
        while len(self._bytes) >= HEADER.size:
            size, count = HEADER.unpack_from(self._bytes)
            if len(self._bytes) < HEADER.size + size:
                break
            body = bytes(self._bytes[HEADER.size : HEADER.size + size])
            del self._bytes[: HEADER.size + size]
            fds = [self._descriptors.popleft() for _ in range(count)]
            messages.append((pickle.loads(body), fds))
        return messages

    def close(self) -> None:
        """Close the end and any descriptor that came and was not taken."""
        self.end.close()
        while self._descriptors:
            os.close(self._descriptors.popleft())
