"""The workloads in Bytewax: one Python item a row, Parquet read in batches, one worker a core."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import bytewax.operators as op
import pyarrow as pa
import pyarrow.parquet as pq
from bytewax._bytewax import cluster_main
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.operators import KeyedStream, Stream
from bytewax.outputs import DynamicSink, StatelessSinkPartition

from benchmarks.protocol import Order, Program, serve
from benchmarks.workloads import Answer, of_groups, of_total, of_words

BATCH_ROWS = 8_192


class FilesPartition(StatefulSourcePartition):
    """Rows of some files as tuples, or as bare values where one column is read."""

    def __init__(self, paths: list[str], columns: list[str]):
        self.rows = self.read(paths, columns)

    @staticmethod
    def read(paths: list[str], columns: list[str]) -> Iterator[list[Any]]:
        for path in paths:
            for batch in pq.ParquetFile(path).iter_batches(BATCH_ROWS, columns=columns):
                lists = [column.to_pylist() for column in batch.columns]
                yield lists[0] if len(lists) == 1 else list(zip(*lists, strict=True))

    def next_batch(self) -> list[Any]:
        return next(self.rows)  # StopIteration ends the partition

    def snapshot(self) -> None:
        return None


class Files(FixedPartitionedSource):
    """Files dealt to partitions."""

    def __init__(self, paths: list[str], columns: list[str], partitions: int):
        self.paths, self.columns, self.partitions = paths, columns, partitions

    def list_parts(self) -> list[str]:
        return [str(number) for number in range(min(self.partitions, len(self.paths)))]

    def build_part(self, step_id: str, for_part: str, resume_state: None) -> FilesPartition:
        return FilesPartition(self.paths[int(for_part) :: self.partitions], self.columns)


class Keep(DynamicSink):
    """Hands each batch of items to ``keep``, which one thread calls at a time (the GIL)."""

    def __init__(self, keep: Callable[[list[Any]], None]):
        self.keep = keep

    def build(self, step_id: str, worker_index: int, worker_count: int) -> StatelessSinkPartition:
        keep = self.keep

        class Partition(StatelessSinkPartition):
            def write_batch(self, items: list[Any]) -> None:
                keep(items)

        return Partition()


def next_count(state: int | None, _: Any) -> tuple[int, int]:
    count = (state or 0) + 1
    return count, count


def counts_plus(state: int | None, value: int) -> tuple[int, int]:
    count = (state or 0) + 1
    return count, count + value


def count_and_sum(stream: KeyedStream) -> KeyedStream:
    return op.fold_final(
        "total", stream, lambda: (0, 0), lambda total, value: (total[0] + 1, total[1] + value)
    )


def by_key(stream: Stream) -> KeyedStream:
    return count_and_sum(op.map("keyed", stream, lambda row: (str(row[0]), row[1])))


def three_exchanges(stream: Stream) -> KeyedStream:
    keyed = op.map("first", stream, lambda key: (str(key), None))
    keyed = op.stateful_map("running", keyed, next_count)
    keyed = op.map("second", keyed, lambda row: (str((int(row[0]) * 7919 + 13) % 50000), row[1]))
    keyed = op.stateful_map("running again", keyed, counts_plus)
    keyed = op.map("third", keyed, lambda row: (str((int(row[0]) * 104729 + 7) % 20000), row[1]))
    return count_and_sum(keyed)


def words(stream: Stream) -> KeyedStream:
    split = op.flat_map("split", stream, lambda line: line.split(" "))
    keyed = op.map("keyed", split, lambda word: (word, 1))
    return op.fold_final("total", keyed, lambda: 0, lambda total, one: total + one)


def above_50(stream: Stream) -> Stream:
    kept = op.filter("above", stream, lambda value: value > 50)
    return op.map("scaled", kept, lambda value: value * 2 + 1)


STREAMS = {
    "A_udf": above_50,
    "B": by_key,
    "B_zipf": by_key,
    "C": three_exchanges,
    "E": words,
}


def prepare(order: Order) -> Program:
    name, columns = order.workload.name, list(order.workload.columns)
    paths = order.workload.paths(order.rows)

    def run() -> tuple[float, Answer]:
        batches: list[Any] = []
        groups: list[Any] = []
        if name == "A_udf":
            sink = Keep(lambda items: batches.append((len(items), sum(items))))
        else:
            sink = Keep(groups.extend)
        flow = Dataflow(name)
        source = op.input("files", flow, Files(paths, columns, order.workers))
        op.output("result", STREAMS[name](source), sink)
        started = time.perf_counter()
        cluster_main(flow, [], 0, worker_count_per_proc=order.workers)
        seconds = time.perf_counter() - started
        if name == "A_udf":
            return seconds, of_total(sum(n for n, _ in batches), sum(s for _, s in batches))
        return seconds, answer(name, groups)

    return run


def answer(name: str, groups: list[Any]) -> Answer:
    """What the harness compares, computed outside the timed section."""
    if name == "E":
        return of_words(pa.array([word for word, _ in groups]), [count for _, count in groups])
    keys = [int(key) for key, _ in groups]
    return of_groups(keys, [total[0] for _, total in groups], [total[1] for _, total in groups])


if __name__ == "__main__":
    serve("bytewax", version("bytewax"), prepare)
