"""A08: sums never wrap; those of floats repeat bit for bit at one parallelism."""

import pyarrow as pa
import pytest

import ambergate as ag

SUMS = {
    "int32": (pa.array([2**31 - 1] * 3, pa.int32()), 3 * (2**31 - 1)),
    "int8": (pa.array([100] * 127, pa.int8()), 12_700),
    "uint64": (pa.array([2**63, 2**63 - 1], pa.uint64()), 2**64 - 1),
    "negative": (pa.array([-(2**62)] * 2, pa.int64()), -(2**63)),
    "beyond, and back": (pa.array([2**62, 2**62, -(2**62)], pa.int64()), 2**62),
}


@pytest.mark.parametrize("what", SUMS)
def test_sums_that_fit_after_all(everywhere, what):
    values, expected = SUMS[what]
    stream = ag.from_arrow(pa.table({"k": [1] * len(values), "v": values}))
    assert everywhere(stream.group_by("k").agg(t=ag.sum("v")))["t"].to_pylist() == [expected]
    assert everywhere(stream.agg(t=ag.sum("v")))["t"].to_pylist() == [expected]


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("batch_rows", [1, 1024])
@pytest.mark.parametrize("way", ["group", "all", "running"])
def test_a_sum_that_does_not_fit_is_an_error_with_its_column(backend, workers, batch_rows, way):
    stream = ag.from_arrow(pa.table({"k": [1, 1], "v": pa.array([2**62] * 2, pa.int64())}))
    made = {
        "group": lambda: stream.group_by("k").agg(t=ag.sum("v"), name="sums"),
        "all": lambda: stream.agg(t=ag.sum("v"), name="sums"),
        "running": lambda: stream.group_by("k").running(t=ag.sum("v"), name="sums"),
    }[way]()
    with pytest.raises(ag.JobFailed, match="column 'v'") as caught:
        made.collect(backend=backend, workers=workers, batch_rows=batch_rows)
    assert caught.value.operator == "sums"
    assert "OverflowOfSum" in caught.value.type_name


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_million_tenths(backend, workers):
    stream = ag.from_arrow({"v": [0.1] * 1_000_000}).agg(t=ag.sum("v"), m=ag.mean("v"))
    first, second = (stream.collect(backend=backend, workers=workers) for _ in range(2))
    assert first["t"][0].as_py() == pytest.approx(100_000, rel=1e-9)
    assert first["m"][0].as_py() == pytest.approx(0.1, rel=1e-9)
    assert first["t"][0].as_py() == second["t"][0].as_py()


def test_the_naive_way_wraps():
    assert pa.compute.sum(pa.array([2**62] * 2, pa.int64())).as_py() == -(2**63)
