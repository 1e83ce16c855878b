from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from ambergate.errors import ExpressionError
from ambergate.expr import col, lit, max_of, min_of, when

SCHEMA = pa.schema(
    {
        "i8": pa.int8(),
        "i32": pa.int32(),
        "i64": pa.int64(),
        "u8": pa.uint8(),
        "u64": pa.uint64(),
        "f32": pa.float32(),
        "f64": pa.float64(),
        "d": pa.decimal128(10, 2),
        "b": pa.bool_(),
        "text": pa.string(),
        "large": pa.large_string(),
        "us": pa.timestamp("us"),
        "ns": pa.timestamp("ns"),
        "utc": pa.timestamp("ms", "UTC"),
        "day": pa.date32(),
        "span": pa.duration("s"),
        "list": pa.list_(pa.int16()),
        "code": pa.dictionary(pa.int32(), pa.string()),
        "none": pa.null(),
    }
)
DAY = dt.datetime(2020, 1, 2)


@pytest.mark.parametrize(
    ("expr", "of"),
    [
        (col("i8") + col("i8"), "int64"),
        (col("i8") + col("u8"), "int64"),
        (col("u64") + col("u8"), "uint64"),
        (col("u64") * 2, "uint64"),
        (col("u64") - col("i8"), "int64"),
        (col("u64") + (-1), "int64"),
        (col("i8") + 1.0, "float64"),
        (col("f32") + 1, "float32"),
        (col("f32") * col("f32"), "float32"),
        (col("f32") + col("i8"), "float64"),
        (col("f32") + col("f64"), "float64"),
        (col("i8") / col("i8"), "float64"),
        (col("f32") / 2, "float64"),
        (col("i8") // 2, "int64"),
        (col("f64") % 2, "float64"),
        (col("i8") ** 2, "int64"),
        (col("u64") ** 2, "uint64"),
        (col("i8") ** -1, "float64"),
        (col("i8") ** col("i8"), "float64"),
        (-col("i8"), "int64"),
        (col("i8").abs(), "int64"),
        (col("u8").abs(), "uint8"),
        (col("i8").floor(), "int8"),
        (col("f32").round(2), "float32"),
        (col("i8").sqrt(), "float64"),
        (col("none") + 1, "int64"),
        (col("d") + 1, "decimal128(11, 2)"),
        (col("d") * col("f64"), "float64"),
        (col("d") > 1, "bool"),
        (col("us") - col("ns"), "duration[ns]"),
        (col("us") - DAY, "duration[us]"),
        (col("day") - dt.date(2020, 1, 1), "duration[s]"),
        (col("us") + dt.timedelta(1), "timestamp[us]"),
        (dt.timedelta(1) + col("utc"), "timestamp[us, tz=UTC]"),
        (col("day") + col("span"), "timestamp[s]"),
        (col("span") * 2, "duration[s]"),
        (col("span") + col("span"), "duration[s]"),
        (col("day") < col("us"), "bool"),
        (col("i8").fill_null(0), "int8"),
        (col("i8").fill_null(300), "int16"),
        (col("i8").fill_null(0.5), "float64"),
        (col("text").fill_null("x"), "string"),
        (col("large").fill_null("x"), "large_string"),
        (col("us").fill_null(DAY), "timestamp[us]"),
        (col("d").fill_null(Decimal("1.5")), "decimal128(10, 2)"),
        (col("none").fill_null(1), "int64"),
        (col("code").fill_null("x"), "string"),
        (col("code"), "dictionary<int32, string>"),
        (min_of(col("i8"), col("u8")), "int16"),
        (max_of(col("i32"), col("f32")), "float64"),
        (max_of(col("f32"), 0), "float32"),
        (when(col("b")).then(1), "int64"),
        (when(col("b")).then("x").otherwise(col("large")), "large_string"),
        (when(col("b")).then(col("i8")).otherwise(None), "int8"),
        (col("text").str.split(" "), "list<string>"),
        (col("text").str.length(), "int64"),
        (col("large").str.upper(), "large_string"),
        (col("us").dt.year(), "int64"),
        (col("utc").dt.truncate("day"), "timestamp[ms, tz=UTC]"),
        (col("list").list.get(0), "int16"),
        (col("list").list.length(), "int64"),
        (lit(2**63), "uint64"),
        (lit("x"), "string"),
        (col("i8").is_in([1, 2.5]), "bool"),
        (col("i64").cast("decimal128(20, 0)"), "decimal128(20, 0)"),
        (col("i8").alias("x"), "int8"),
    ],
)
def test_types(expr, of):
    from ambergate.type_names import parse_type

    assert expr.type(SCHEMA).equals(parse_type(of))


@pytest.mark.parametrize(
    ("expr", "words"),
    [
        (col("texd"), ["no column 'texd'", "did you mean 'text'"]),
        (col("TEXT"), ["no column 'TEXT'", "'text'"]),
        (col("zzz"), ["no column 'zzz'", "the columns are 'i8'"]),
        (col("text") + 1, ["column 'text' (string)", "1 (int64)"]),
        (col("text") + col("text"), ["str.concat"]),
        (col("text") > 5, ["compare column 'text' (string) with 5 (int64)", 'cast("int64")']),
        (col("us") == "2020", ["column 'us' (timestamp[us])", "(string)"]),
        (col("us") < col("utc"), ["time zone"]),
        (col("list") == col("list"), ["cannot compare"]),
        (col("b") + 1, ["column 'b' (bool)"]),
        (col("i8") & True, ["needs conditions", "column 'i8' (int8)", "parentheses"]),
        (~col("i8"), ["needs conditions"]),
        (when(col("i8")).then(1), ["needs a condition"]),
        (when(col("b")).then(1).otherwise("x"), ["no type for all of", "'x'".replace("'", '"')]),
        (col("i8").fill_null("x"), ["no type for all of"]),
        (col("i64").fill_null(col("u64")), ["no type for all of"]),
        (col("i8").str.lower(), [".str.lower() needs a string", "column 'i8' (int8)"]),
        (col("text").dt.year(), [".dt.year() needs a date or timestamp"]),
        (col("day").dt.hour(), [".dt.hour()"]),
        (col("text").list.length(), ["needs a list"]),
        (col("i8").is_in([1, "x"]), ["is_in", "'x' (string)"]),
        (col("list").cast("int64"), ["cannot become int64"]),
        (lit(300, "int8"), ["300 is no value of type int8"]),
        (lit(2**70), ["fits no integer type"]),
        (col("i64") + 2**63, ["does not fit int64"]),
        (col("text").str.contains("a(?=b)"), ["cannot be used"]),
        (col("d") // 2, ["cannot divide"]),
    ],
)
def test_what_does_not_fit_names_column_expected_and_found(expr, words):
    from ambergate.kernels.evaluate import compile_expression

    with pytest.raises(ExpressionError) as caught:
        compile_expression(expr, SCHEMA)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_two_columns_of_one_name():
    schema = pa.schema([("a", pa.int64()), ("a", pa.string())])
    with pytest.raises(ExpressionError, match="2 columns are named 'a'"):
        col("a").type(schema)


def test_unknown_type_names():
    with pytest.raises(ExpressionError, match=r"int46.*int64"):
        col("a").cast("int46")
