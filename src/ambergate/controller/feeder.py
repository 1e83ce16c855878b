"""Feeding a source from the caller's process: iterables that cannot travel to a worker."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ambergate.batch import End
from ambergate.channels.bell import Bell, Ring
from ambergate.channels.channel import RingChannel
from ambergate.channels.gate import Gate
from ambergate.channels.memory import Memory
from ambergate.graph.layout import Layout
from ambergate.graph.physical import PhysicalOperator, Plan

WAIT_NS = 100_000_000


class Feeder(threading.Thread):
    """Pulls an iterable on a thread of the caller's process and writes its rows into a ring.

    Pulls nothing while the source's gate is closed, and no more than the ring holds ahead.

    Parameters
    ----------
    operator : the source
    failed : called with the exception where pulling goes wrong
    """

    def __init__(
        self,
        plan: Plan,
        layout: Layout,
        memory: Memory,
        operator: PhysicalOperator,
        offset: int,
        nbytes: int,
        failed: Callable[[BaseException], None],
    ):
        super().__init__(name=f"ambergate-feed-{operator.name}", daemon=True)
        self._bell = Bell(memory.mapping, layout.bell(plan.workers))
        worker = Bell(memory.mapping, layout.bell(plan.worker_of(0)))
        self._writer = RingChannel.writer(
            Ring(memory.mapping, offset, nbytes, worker, self._bell), operator.schema
        )
        self._gate = Gate(memory.mapping, layout.gate(plan.gate_index(operator.index, 0)))
        self._open = lambda: operator.description.open(
            0, 1, operator.columns, operator.predicate, plan.batch_rows
        )
        self._failed = failed
        self._stopping = False

    def run(self) -> None:
        """Feed until the iterable ends, the reader needs no more, or the job is over."""
        reader = None
        try:
            while not self._stopping and not self._writer.closed:
                heard = self._bell.heard()
                if self._gate.turn % 2:
                    self._bell.wait(heard, WAIT_NS)
                    continue
                reader = reader or self._open()
                item = reader.read()
                self._push(End() if item is None else item)
                if item is None:
                    return
        except BaseException as error:
            self._failed(error)
        finally:
            if reader is not None:
                reader.close()

    def _push(self, item: Any) -> None:
        taken = False
        while not self._stopping:
            heard = self._bell.heard()
            if not self._gate.turn % 2:  # what stands sees nothing come
                taken = taken or self._writer.push(item)
                if taken and self._writer.flush():
                    return
            self._bell.wait(heard, WAIT_NS)

    def stop(self) -> None:
        """End at the next row; a generator that blocks is left to its daemon thread."""
        self._stopping = True
        self._bell.ring()
