"""Record batches as Arrow IPC messages, written straight to where they are to be read."""

from typing import Any, final

from typing_extensions import Buffer

@final
class Encoder:
    """Writes batches of one schema as IPC messages with buffers aligned to 64 bytes."""

    def __new__(cls, schema: Any) -> Encoder: ...
    def plan(self, batch: Any) -> int:
        """Look at a batch, to be written next; bytes of its message."""
    def write(self, target: Buffer) -> None:
        """Write the message of the batch that was planned to a writable buffer."""
