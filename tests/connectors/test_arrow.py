"""Arrow data in memory."""

import pickle

import cloudpickle
import pyarrow as pa
import pytest

from ambergate.connectors.arrow import FromArrow
from ambergate.errors import InputError
from tests.connectors.reading import items, rows, table

MADE = pa.table({"i": range(1000), "s": [None if i % 7 == 0 else str(i) for i in range(1000)]})


class Stream:
    """Speaks the interface, and nothing else."""

    def __init__(self, inner):
        self.inner = inner

    def __arrow_c_stream__(self, requested_schema=None):
        return self.inner.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("tasks", [1, 2, 3, 7])
@pytest.mark.parametrize("batch_rows", [1, 7, 400, 32_768])
def test_one_table_is_dealt_in_contiguous_slices(tasks, batch_rows):
    source = FromArrow(MADE)
    assert source.tasks(tasks) == tasks
    assert table(source, tasks, batch_rows=batch_rows).equals(MADE)


def test_more_tasks_than_rows():
    assert table(FromArrow(MADE.slice(0, 3)), tasks=8).equals(MADE.slice(0, 3))
    assert rows(FromArrow(MADE.slice(0, 0)), tasks=2) == []


def test_a_list_of_tables_makes_one_task_each():
    source = FromArrow([MADE.slice(0, 10), MADE.slice(10, 5)])
    assert source.tasks(8) == 2
    assert [batch.num_rows for batch in items(source, 2)] == [10, 5]


@pytest.mark.parametrize(
    "given",
    [
        MADE,
        Stream(MADE),
        MADE.combine_chunks().to_batches()[0],
        MADE.to_reader(max_chunksize=100),
        [MADE.to_reader(max_chunksize=100)],
    ],
    ids=["table", "stream", "batch", "reader", "list"],
)
def test_whatever_speaks_arrow(given):
    assert table(FromArrow(given)).equals(MADE)


def test_encodings_are_decoded():
    values = pa.array(["a", None, "b", "a"])
    made = pa.table(
        {
            "dictionary": values.dictionary_encode(),
            "view": values.cast(pa.string_view()),
            "plain": values,
        }
    )
    source = FromArrow(made.replace_schema_metadata({"k": "v"}))
    assert source.schema == pa.schema(dict.fromkeys(made.schema.names, pa.string()))
    assert source.schema.metadata is None
    for name in made.schema.names:
        assert table(source)[name].to_pylist() == values.to_pylist()


def test_columns_in_the_order_asked_for():
    source = FromArrow(MADE)
    assert rows(source, columns=("s", "i"))[1] == {"s": "1", "i": 1}
    assert sum(batch.num_rows for batch in items(source, columns=())) == 1000


def test_batches_stay_small():
    made = pa.table({"s": ["x" * 10_000] * 1000})
    assert table(FromArrow(made)).num_rows == 1000  # the sizes are checked there


@pytest.mark.parametrize("made", [MADE, MADE.slice(500, 100)], ids=["whole", "slice"])
def test_it_travels_with_its_buffers_apart(made):
    buffers = []
    pickled = cloudpickle.dumps(FromArrow(made), protocol=5, buffer_callback=buffers.append)
    assert len(pickled) < 4000
    assert sum(buffer.raw().nbytes for buffer in buffers) < 2 * made.nbytes + 70_000
    arrived = pickle.loads(pickled, buffers=buffers)
    assert table(arrived, tasks=2).equals(made)


def test_a_slice_of_a_large_table_travels_alone():
    part = pa.table({"i": range(1_000_000)}).slice(10, 10)
    assert len(cloudpickle.dumps(FromArrow(part), protocol=5)) < 5000


def test_what_is_no_table():
    with pytest.raises(InputError, match="expected Arrow tables, found int"):
        FromArrow(5)
    with pytest.raises(InputError, match="empty list"):
        FromArrow([])
    with pytest.raises(InputError, match="column 'a' comes more than once"):
        FromArrow(pa.table([[1], [2]], names=["a", "a"]))


def test_tables_that_differ():
    one = pa.table({"a": [1]})
    with pytest.raises(InputError, match="column 'a' is string in table 1 and int64 in table 0"):
        FromArrow([one, pa.table({"a": ["x"]})])
    with pytest.raises(InputError, match=r"table 1 has the columns \['b'\]"):
        FromArrow([one, pa.table({"b": [1]})])
