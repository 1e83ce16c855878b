"""What workers print, passed on to the caller's streams without ever waiting for them.

A pipe that nobody reads, a closed stream, a notebook: none may hold up the job. Text that the
caller's stream does not take while 256 pieces wait is dropped, and the number of dropped characters
is said once the stream takes text again.
"""

from __future__ import annotations

import queue
import sys
import threading

WAITING_PIECES = 256
IDLE_S = 2.0


class Printer:
    """Prints from a thread of its own, started at the first text and ended when idle."""

    def __init__(self) -> None:
        self._pieces: queue.Queue[tuple[str, str]] = queue.Queue(WAITING_PIECES)
        self._lock = threading.Lock()
        self._running = False
        self._dropped = 0

    def print(self, stream: str, text: str) -> None:
        """Queue ``text`` for ``sys.stdout`` or ``sys.stderr``; never blocks."""
        try:
            self._pieces.put_nowait((stream, text))
        except queue.Full:
            self._dropped += len(text)
        with self._lock:
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name="ambergate-print", daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                stream, text = self._pieces.get(timeout=IDLE_S)
            except queue.Empty:
                with self._lock:
                    if self._pieces.empty():
                        self._running = False
                        return
                continue
            self._write(stream, text)

    def _write(self, stream: str, text: str) -> None:
        target = getattr(sys, stream)
        if target is None:
            return
        dropped, self._dropped = self._dropped, 0
        try:
            target.write(text)
            if dropped:
                target.write(f"\n<{dropped} characters that workers printed were dropped>\n")
            target.flush()
        except (OSError, ValueError):  # closed by the caller: documented to be dropped
            return
