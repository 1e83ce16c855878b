import datetime
import decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate_native.message import Encoder

TEXT = st.text(max_size=12)
STRUCT = pa.struct([("x", pa.int16()), ("s", pa.string())])
VALUES = {
    pa.null(): st.none(),
    pa.bool_(): st.booleans(),
    pa.int8(): st.integers(-128, 127),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.float64(): st.floats(allow_nan=True),
    pa.decimal128(20, 2): st.decimals(-(10**9), 10**9, places=2),
    pa.decimal256(40, 1): st.integers(0, 10**20).map(decimal.Decimal),
    pa.date32(): st.dates(datetime.date(1900, 1, 1)),
    pa.timestamp("us", "UTC"): st.integers(0, 2**50),
    pa.duration("us"): st.integers(0, 2**50),
    pa.month_day_nano_interval(): st.tuples(st.integers(0, 9), st.integers(0, 9), st.just(5)),
    pa.binary(3): st.binary(min_size=3, max_size=3),
    pa.string(): TEXT,
    pa.large_string(): TEXT,
    pa.binary(): st.binary(max_size=9),
    pa.list_(pa.string()): st.lists(TEXT | st.none(), max_size=4),
    pa.large_list(pa.bool_()): st.lists(st.booleans() | st.none(), max_size=4),
    pa.list_(pa.int32(), 3): st.lists(st.integers(0, 9) | st.none(), min_size=3, max_size=3),
    pa.map_(pa.string(), pa.int8()): st.lists(st.tuples(TEXT, st.integers(0, 9)), max_size=3),
    STRUCT: st.fixed_dictionaries({"x": st.none() | st.integers(0, 9), "s": st.none() | TEXT}),
    pa.list_(STRUCT): st.lists(st.just({"x": 1, "s": "é"}) | st.none(), max_size=3),
}


@st.composite
def batches(draw):
    """A batch of some types, sliced."""
    rows = draw(st.integers(0, 80))
    kinds = draw(st.lists(st.sampled_from(list(VALUES)), min_size=0, max_size=4))
    columns = []
    for kind in kinds:
        few = draw(st.lists(VALUES[kind] | st.none(), min_size=1, max_size=7))
        # off the start of its buffers, and by an odd number of bits
        before = draw(st.integers(0, 20))
        values = [few[row % len(few)] for row in range(before + rows + 3)]
        columns.append(pa.array(values, kind).slice(before, rows))
    names = [f"c{index}" for index in range(len(columns))]
    batch = pa.RecordBatch.from_arrays(columns, names)
    start = draw(st.integers(0, batch.num_rows))
    return batch.slice(start, draw(st.integers(0, batch.num_rows - start)))


def written(batch: pa.RecordBatch, encoder: Encoder | None = None) -> pa.Buffer:
    encoder = encoder or Encoder(batch.schema)
    target = pa.allocate_buffer(encoder.plan(batch))
    memory = memoryview(target).cast("B")
    memory[:] = b"\xaa" * len(memory)
    encoder.write(target)
    return target


def same(one: pa.RecordBatch, other: pa.RecordBatch) -> bool:
    """Equal, with NaN equal to NaN, which ``equals`` of pyarrow denies."""
    return one.schema.equals(other.schema) and repr(one.to_pydict()) == repr(other.to_pydict())


@settings(max_examples=100, deadline=None)
@given(batch=batches())
def test_pyarrow_reads_back_what_was_written(batch):
    message = written(batch)
    read = pa.ipc.read_record_batch(message, batch.schema)
    read.validate(full=True)
    assert same(read, batch)
    for column in read.columns:
        assert column.null_count == sum(value is None for value in column.to_pylist())
        for buffer in column.buffers():
            assert buffer is None or (buffer.address - message.address) % 64 == 0


@settings(max_examples=50, deadline=None)
@given(batch=batches())
def test_other_readers_of_the_format_understand_it(batch):
    """As a message of a stream, where the flatbuffer is verified."""
    schema = batch.schema.serialize()
    stream = schema.to_pybytes() + written(batch).to_pybytes() + b"\xff\xff\xff\xff\0\0\0\0"
    assert same(pa.ipc.open_stream(stream).read_next_batch(), batch)


def test_one_encoder_writes_many_batches():
    schema = pa.schema([("s", pa.string()), ("v", pa.float64())])
    encoder = Encoder(schema)
    for rows in (3, 0, 1000, 1):
        batch = pa.record_batch([["é"] * rows, [0.5] * rows], schema=schema)
        assert pa.ipc.read_record_batch(written(batch, encoder), schema).equals(batch)


def test_extension_types_keep_their_storage():
    uuids = pa.array([bytes(range(16)), None], pa.binary(16)).cast(pa.uuid())
    batch = pa.record_batch([uuids], ["id"])
    assert pa.ipc.read_record_batch(written(batch), batch.schema).equals(batch)


@pytest.mark.parametrize(
    "kind",
    [
        pa.dictionary(pa.int8(), pa.string()),
        pa.list_(pa.dictionary(pa.int8(), pa.string())),
        pa.string_view(),
        pa.run_end_encoded(pa.int32(), pa.string()),
        pa.dense_union([pa.field("a", pa.int8())]),
    ],
)
def test_layouts_it_cannot_write_are_refused(kind):
    with pytest.raises(TypeError, match=r"column '(a|item)'"):
        Encoder(pa.schema([("a", kind)]))


def test_misuse_is_refused():
    schema = pa.schema([("a", pa.int64())])
    batch = pa.record_batch([[1]], schema=schema)
    encoder = Encoder(schema)
    with pytest.raises(ValueError, match="without a plan"):
        encoder.write(bytearray(1000))
    size = encoder.plan(batch)
    with pytest.raises(ValueError, match="room for"):
        encoder.write(bytearray(size - 1))
    encoder.write(bytearray(size))
    with pytest.raises(ValueError, match="without a plan"):
        encoder.write(bytearray(size))
    for other in ([], [[1], [2]], [["text"]], [[[1]]]):
        wrong = pa.RecordBatch.from_arrays(
            [pa.array(column) for column in other], [str(n) for n in range(len(other))]
        )
        with pytest.raises(ValueError, match="not the schema's"):
            encoder.plan(wrong)
