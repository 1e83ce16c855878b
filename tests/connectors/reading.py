"""Running readers and writers by hand, as the engine's I/O thread does."""

import pyarrow as pa

from ambergate.batch import Skipped
from ambergate.connectors.base import BATCH_BYTES


def items(source, tasks=1, columns=None, predicate=(), batch_rows=32_768):
    """Everything all tasks read, task by task."""
    found = []
    for task in range(tasks):
        reader = source.open(task, tasks, columns, predicate, batch_rows)
        while (item := reader.read()) is not None:
            assert item.num_rows <= batch_rows or isinstance(item, Skipped)
            found.append(item)
        assert reader.read() is None
        reader.close()
        reader.close()
    return found


def table(source, tasks=1, columns=None, **options):
    """All rows of all tasks, task by task."""
    names = source.schema.names if columns is None else columns
    schema = pa.schema([source.schema.field(name) for name in names])
    batches = items(source, tasks, columns, **options)
    for batch in batches:
        assert batch.schema.equals(schema)
        assert batch.nbytes <= 2 * BATCH_BYTES or batch.num_rows == 1
    return pa.Table.from_batches(batches, schema=schema)


def rows(source, tasks=1, **options):
    """All rows as dicts."""
    return table(source, tasks, **options).to_pylist()


def written(sink, batches, schema, tasks=1, job="1-token"):
    """Write, finish and commit by ``tasks`` tasks, batches dealt in turn."""
    sink.check()
    writers = [sink.open(task, tasks, schema, job) for task in range(tasks)]
    for number, batch in enumerate(batches):
        writers[number % tasks].write(batch)
    for writer in writers:
        writer.finish()
    for writer in writers:
        writer.commit()


def make(folder, name, content):
    """A file of these bytes; its path."""
    path = folder / name
    path.write_bytes(content)
    return str(path)
