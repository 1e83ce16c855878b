import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.type_names import parse_type

FLAT = [
    pa.null(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(),
    pa.uint32(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.string(), pa.binary(),
    pa.large_string(), pa.large_binary(), pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"),
    pa.time64("us"), pa.time64("ns"), pa.timestamp("s"), pa.timestamp("us"), pa.timestamp("ns"),
    pa.timestamp("us", "UTC"), pa.timestamp("ms", "Europe/Berlin"), pa.timestamp("ms", "+01:00"),
    pa.duration("us"), pa.decimal128(10, 2), pa.decimal128(38, -3), pa.decimal256(50, 5),
    pa.binary(16),
]  # fmt: skip
NAMES = st.sampled_from(["a", "b c", "größe", "x_1"])
TYPES = st.recursive(
    st.sampled_from(FLAT),
    lambda inner: st.one_of(
        inner.map(pa.list_),
        inner.map(pa.large_list),
        inner.map(lambda item: pa.list_(item, 3)),
        st.lists(st.tuples(NAMES, inner, st.booleans()), max_size=3).map(
            lambda fields: pa.struct(
                [pa.field(n, kind, null or kind == pa.null()) for n, kind, null in fields]
            )
        ),
        st.tuples(st.sampled_from(FLAT[1:20]), inner, st.booleans()).map(lambda p: pa.map_(*p)),
        st.sampled_from(FLAT[2:20]).map(lambda values: pa.dictionary(pa.int32(), values)),
    ),
    max_leaves=5,
)


@settings(max_examples=100, deadline=None)
@given(TYPES)
def test_the_text_of_a_type_is_its_name(kind):
    assert parse_type(str(kind)) == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("double", pa.float64()),
        (" utf8 ", pa.string()),
        ("list<int64>", pa.list_(pa.int64())),
        ("decimal128(10,2)", pa.decimal128(10, 2)),
        ("date32", pa.date32()),
        ("dictionary<int32, string>", pa.dictionary(pa.int32(), pa.string())),
        ("timestamp[us,tz=UTC]", pa.timestamp("us", "UTC")),
        ("struct<a:int64,b:list<string>>",
         pa.struct([("a", pa.int64()), ("b", pa.list_(pa.string()))])),
        (pa.int8(), pa.int8()),
    ],
)  # fmt: skip
def test_other_spellings(name, kind):
    assert parse_type(name) == kind


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("int46", "'int64'"),
        ("int", "'int64'"),
        ("timestamp", "'timestamp[us]'"),
        ("timestamp[min]", "'timestamp[us]'"),
        ("timestamp[us", "'timestamp[us]'"),
        ("list<int65>", "'int64'"),
        ("list<>", "int64"),
        ("decimal128(99, 2)", "precision"),
        ("decimal128(x)", "'decimal128(10, 2)'"),
        ("sting", "'string'"),
        ("int64 int64", "int64"),
        ("", "'int64'"),
        ("struct<int64>", "'struct<a: int64>'"),
    ],
)
def test_an_unknown_name_gets_near_names(name, near):
    with pytest.raises(ValueError, match="unknown type") as caught:
        parse_type(name)
    assert near in str(caught.value)


def test_a_python_type_is_refused_with_its_arrow_name():
    with pytest.raises(TypeError, match="write 'int64'"):
        parse_type(int)
    with pytest.raises(TypeError, match="got 7"):
        parse_type(7)
