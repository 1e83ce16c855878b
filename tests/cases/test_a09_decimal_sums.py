"""A09: sums of decimals are exact, of the declared type, or an error."""

from decimal import Decimal

import pyarrow as pa
import pytest

import ambergate as ag


def money(*values, precision=7, scale=2):
    of = pa.decimal128(precision, scale)
    table = pa.table({"k": [1] * len(values), "v": pa.array(list(values), of)})
    return ag.from_arrow(table).group_by("k").agg(t=ag.sum("v"))


def test_three_amounts(everywhere):
    stream = money(Decimal("99999.99"), Decimal("99999.99"), Decimal("1.00"))
    table = everywhere(stream)
    assert table["t"].to_pylist() == [Decimal("200000.98")]
    assert table.schema == stream.schema
    assert table.schema.field("t").type == pa.decimal128(38, 2)


def test_two_thousand_amounts(everywhere):
    table = everywhere(money(*[Decimal("99999.99")] * 2000))
    assert table["t"].to_pylist() == [Decimal("199999980.00")]


def test_a_running_sum(everywhere):
    values = pa.array([Decimal("99999.99")] * 3, pa.decimal128(7, 2))
    stream = ag.from_arrow(pa.table({"k": [1] * 3, "v": values})).group_by("k")
    table = everywhere(stream.running(t=ag.sum("v")))
    assert sorted(table["t"].to_pylist())[-1] == Decimal("299999.97")


@pytest.mark.parametrize("batch_rows", [1, 1024])
def test_too_large_is_an_error(backend, batch_rows):
    largest = Decimal(10**38 - 1)
    with pytest.raises(ag.JobFailed, match="column 'v'"):
        money(largest, largest, precision=38, scale=0).collect(
            backend=backend, workers=2, batch_rows=batch_rows
        )
