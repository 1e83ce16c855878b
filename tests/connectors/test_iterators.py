"""Python iterables and functions that return them."""

import collections
import datetime
import decimal
import time

import cloudpickle
import pyarrow as pa
import pytest

from ambergate.connectors.iterators import FromIterable
from ambergate.errors import InputError
from tests.connectors.reading import items, rows

SCHEMA = pa.schema({"i": pa.int64(), "s": pa.string()})


def numbered(start=0, stop=10):
    for i in range(start, stop):
        yield {"i": i, "s": str(i)}


EXPECTED = list(numbered())


@pytest.mark.parametrize("schema", [None, SCHEMA])
@pytest.mark.parametrize(
    "make", [lambda: EXPECTED, numbered, lambda: numbered, lambda: lambda offset: numbered(offset)]
)
@pytest.mark.parametrize("batch_rows", [1, 3, 400])
def test_all_kinds_of_sources(make, schema, batch_rows):
    source = FromIterable(make(), schema)
    assert source.schema == SCHEMA
    assert source.tasks(8) == 1
    assert rows(source, batch_rows=batch_rows) == EXPECTED


def test_where_it_is_read():
    assert not FromIterable(EXPECTED).in_caller
    assert not FromIterable(numbered).in_caller
    assert FromIterable(numbered()).in_caller
    assert FromIterable(map(dict, EXPECTED)).in_caller


def test_functions_and_lists_travel_and_iterators_do_not():
    for source in (FromIterable(EXPECTED), FromIterable(lambda offset: iter(EXPECTED[offset:]))):
        assert rows(cloudpickle.loads(cloudpickle.dumps(source))) == EXPECTED
    arrived = cloudpickle.loads(cloudpickle.dumps(FromIterable(numbered())))
    assert arrived.schema == SCHEMA and arrived.in_caller


def test_an_offset():
    for made in (EXPECTED, numbered, numbered(), lambda offset: numbered(offset)):
        reader = FromIterable(made).open(0, 1, offset=4)
        assert reader.read().to_pylist() == EXPECTED[4:]


def test_one_argument_with_a_default_is_no_offset():
    assert rows(FromIterable(lambda stop=3: numbered(0, stop))) == EXPECTED[:3]
    with pytest.raises(InputError, match="needs 2 arguments"):
        FromIterable(lambda a, b: [])


def test_an_iterator_is_run_through_once():
    source = FromIterable(numbered())
    assert rows(source) == EXPECTED
    with pytest.raises(InputError, match="run through by an earlier job"):
        rows(source)


def test_no_row_is_lost_to_the_look():
    source = FromIterable(numbered(0, 2500))
    assert [row["i"] for row in rows(source, batch_rows=100)] == list(range(2500))


def test_tuples_and_missing_keys():
    assert rows(FromIterable([(1, "a"), [2, None]], SCHEMA))[1] == {"i": 2, "s": None}
    assert rows(FromIterable([{"i": 1}, {"s": "x"}])) == [
        {"i": 1, "s": None},
        {"i": None, "s": "x"},
    ]
    point = collections.namedtuple("point", "x y")
    assert rows(FromIterable([point(1, 2)])) == [{"x": 1, "y": 2}]


def test_columns_in_the_order_asked_for():
    source = FromIterable(EXPECTED)
    assert rows(source, columns=("s", "i"))[3] == {"s": "3", "i": 3}
    assert [batch.num_rows for batch in items(source, columns=())] == [10]


def test_empty_sources():
    assert rows(FromIterable([], SCHEMA)) == []
    for made in ([], iter(()), lambda: []):
        with pytest.raises(InputError, match=r"no row to infer .* schema=\{column: type\}"):
            FromIterable(made)


def test_slow_rows_are_handed_on():
    def slow():
        for i in range(3):
            time.sleep(0.03)
            yield {"i": i, "s": ""}

    batches = items(FromIterable(slow, SCHEMA))
    assert len(batches) == 3


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ({"i": "x", "s": "a"}, "column 'i' expects int64, found str 'x'"),
        ({"i": 2**63, "s": "a"}, "column 'i' expects int64, found int 9223372036854775808"),
        ({"i": 1.5, "s": "a"}, "column 'i' expects int64, found float 1.5"),
        ({"i": 1, "s": 5}, "column 's' expects string, found int 5"),
        ({"i": 1, "z": 5}, "unknown column 'z'"),
        ((1,), r"expected 2 values \(i, s\), found 1"),
        (7, "expected a dict or a tuple, found int 7"),
        ("ab", "expected a dict or a tuple, found str 'ab'"),
    ],
)
def test_a_row_that_does_not_fit_is_named(bad, problem):
    reader = FromIterable([*EXPECTED, bad], SCHEMA).open(0, 1, batch_rows=3)
    read = []
    with pytest.raises(InputError, match=problem) as error:
        read.extend(batch.num_rows for batch in iter(reader.read, None))
    assert sum(read) == 9 and error.value.row == 10


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ([{"a": None}] * 3, "column 'a' holds only None in the first 3 rows"),
        ([{"a": 1}, {"a": "x"}], "column 'a' holds values of types int, str"),
        ([(1, 2)], "cannot name the columns of a tuple"),
        ([{1: 2}], "column names are strings, found 1"),
        (5, "expected an iterable or a function, found int"),
        (lambda: 5, "the function returned int, which is not iterable"),
    ],
)
def test_what_cannot_be_inferred(given, problem):
    with pytest.raises(InputError, match=problem):
        FromIterable(given)


def test_none_first_and_values_later():
    made = [{"a": None, "b": 1}] * 5 + [{"a": "x", "b": 2.5}]
    assert FromIterable(made).schema == pa.schema({"a": pa.string(), "b": pa.float64()})


NOON = datetime.datetime(2024, 1, 1, 12, 0, 0, 5)


@pytest.mark.parametrize(
    ("value", "of"),
    [
        (decimal.Decimal("1.5"), pa.int64()),
        (NOON, pa.date32()),
        (NOON, pa.timestamp("ms")),
        (NOON, pa.timestamp("us", "UTC")),
        (NOON.replace(tzinfo=datetime.UTC), pa.timestamp("us")),
        ([1, 2.5], pa.list_(pa.int64())),
        ({"x": 1.5}, pa.struct({"x": pa.int64()})),
    ],
)
def test_values_that_pyarrow_would_change_are_refused(value, of):
    assert pa.array([value], of)[0].as_py() != value
    with pytest.raises(InputError, match="column 'v' expects") as error:
        rows(FromIterable([{"v": None}, {"v": value}], pa.schema({"v": of})))
    assert error.value.row == 1


def test_values_that_convert_exactly():
    schema = pa.schema({"i": pa.int64(), "f": pa.float64(), "t": pa.timestamp("us")})
    found = rows(FromIterable([{"i": 2.0, "f": 3, "t": NOON}], schema))
    assert found == [{"i": 2, "f": 3.0, "t": NOON}]


def test_what_the_iterable_raises_comes_after_the_rows_before():
    def broken():
        yield from numbered(0, 2)
        raise KeyError("here")

    reader = FromIterable(broken, SCHEMA).open(0, 1, batch_rows=400)
    assert reader.read().num_rows == 2
    with pytest.raises(KeyError, match="here"):
        reader.read()
