"""The flights that left New York City in 2013, joined with the weather at the hour they left.

Reads 336,776 flights, 26,115 weather records and 16 airlines out of the archive of a Python
package, on two worker processes. Half-way through the join both tasks are held at an exact row;
the program looks at what they hold, shows that no row is missing, lets them go, and compares the
result with one computed by pyarrow alone.

    python examples/flights.py [FOLDER]      FOLDER holds the archives; `make data` fetches them
"""

import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from archives import unpack_flights

import ambergate as ag
from ambergate import col
from ambergate.tables import format_table

HOLD_AT = 60_000  # rows of a join task: about 13,000 weather records, then 47,000 flights


def sky(precip, wind_speed, visib):
    """A word for the weather; any of the three may be missing."""
    if precip is not None and precip > 0:
        return "rain or snow"
    if visib is not None and visib < 3:
        return "fog"
    if wind_speed is not None and wind_speed > 20:
        return "wind"
    return "fair"


def dataflow(folder: Path, target: Path):
    """Flights, their airline and weather; delays grouped by both. Two sinks, one job."""
    flights = ag.read_csv(folder / "flights.csv", null_values=["NA"], name="flights")
    weather = ag.read_csv(folder / "weather.csv", null_values=["NA"], name="weather")
    airlines = ag.read_csv(folder / "airlines.csv", name="airlines")
    delays = (
        flights.select("origin", "time_hour", "carrier", "dep_delay")
        .join(
            weather.select("origin", "time_hour", "precip", "wind_speed", "visib"),
            on=["origin", "time_hour"],
            how="left",
            name="with weather",
        )
        .map(sky, columns=["precip", "wind_speed", "visib"], returns={"sky": "string"}, name="sky")
        .join(airlines, on="carrier", name="with airline")
        .group_by("name", "sky")
        .agg(flights=ag.count(), flown=col("dep_delay").count(), delay=ag.mean("dep_delay"))
        .with_columns(cancelled=col("flights") - col("flown"))
        .sort("name", "sky")
    )
    return delays.to_table(name="delays"), delays.write_parquet(str(target), name="file")


def by_pyarrow(folder: Path) -> pa.Table:
    """The same result by pyarrow's own join and group-by: one process, all rows at once."""
    nulls = pa.csv.ConvertOptions(null_values=["NA"], strings_can_be_null=True)
    flights = pa.csv.read_csv(folder / "flights.csv", convert_options=nulls)
    weather = pa.csv.read_csv(folder / "weather.csv", convert_options=nulls)
    airlines = pa.csv.read_csv(folder / "airlines.csv")
    wide = (
        flights.select(["origin", "time_hour", "carrier", "dep_delay"])
        .join(
            weather.select(["origin", "time_hour", "precip", "wind_speed", "visib"]),
            ["origin", "time_hour"],
            join_type="left outer",
        )
        .join(airlines, "carrier", join_type="inner")
    )
    wet = pc.fill_null(pc.greater(wide["precip"], 0), False)
    foggy = pc.fill_null(pc.less(wide["visib"], 3), False)
    windy = pc.fill_null(pc.greater(wide["wind_speed"], 20), False)
    word = pc.case_when(pc.make_struct(wet, foggy, windy), "rain or snow", "fog", "wind", "fair")
    grouped = (
        wide.append_column("sky", word)
        .group_by(["name", "sky"])
        .aggregate(
            [
                ("dep_delay", "count", pc.CountOptions("all")),
                ("dep_delay", "count"),
                ("dep_delay", "mean"),
            ]
        )
    )
    names = ["name", "sky", "flights", "flown", "delay"]
    return grouped.rename_columns(names).sort_by([("name", "ascending"), ("sky", "ascending")])


def show_stop(job: ag.Job) -> None:
    """Hold both join tasks at a row, look, and count what is in flight."""
    job["with weather"].break_at({0: HOLD_AT, 1: HOLD_AT})
    job.resume()
    stop = job.wait_for_stop(timeout="60s")
    print(f"\nheld: {stop}")
    print(f"  the row it holds: {stop.row}")
    for task in range(job["with weather"].tasks):
        seen = job["with weather"].inspect(task)
        print(
            f"  task {task}: {seen['state']} at position {seen['position']:,}; "
            f"rows by input {seen['positions_by_input']}; "
            f"{seen['queued_rows']:,} rows wait before it"
        )
    report = job.pause()
    read = sum(job["flights"].positions.values()) + sum(job["weather"].positions.values())
    met = sum(job["with weather"].positions.values())
    print(f"  rows in flight in the whole job: {report.in_flight_rows:,}")
    print(f"  read so far: {read:,} flights and weather records; {met:,} have met in the join")
    before = job.stats()
    time.sleep(0.3)
    assert job.stats().equals(before), "something moved while the job was paused"
    print("  nothing moved for 0.3 s: every counter is the same in two readings")


def same(ours: pa.Table, theirs: pa.Table) -> bool:
    """Equal rows; means to 1e-9 relative."""
    theirs = theirs.to_pylist()
    return len(theirs) == ours.num_rows and all(
        all(
            abs(mine[key] - value) <= 1e-9 * abs(value)
            if isinstance(value, float)
            else mine[key] == value
            for key, value in other.items()
        )
        for mine, other in zip(ours.to_pylist(), theirs, strict=True)
    )


def main() -> None:
    """Run the job, stop it on the way, check the end."""
    with tempfile.TemporaryDirectory(prefix="flights-") as scratch:
        folder = Path(scratch)
        unpack_flights(folder)
        target = folder / "delays.parquet"
        table, file = dataflow(folder, target)
        print(table.explain(workers=2))
        with ag.start(table, file, workers=2, paused=True) as job:
            began = time.perf_counter()
            show_stop(job)
            held = time.perf_counter()
            job.resume()
            job.wait(timeout="120s")
            took = time.perf_counter() - held
            result = job.result("delays")
            flights = sum(job["flights"].positions.values())
        print(
            f"\nresumed and finished in {took:.2f} s ({flights / (took + held - began):,.0f} "
            "flights a second over the whole job, the stop included)\n"
        )
        print(format_table(result, rows=64))
        written = pa.parquet.read_table(target)
        assert written.num_rows == result.num_rows
        assert same(result, by_pyarrow(folder)), "the result differs from pyarrow's"
        print(
            f"\n{result.num_rows} rows, the same as pyarrow computes; "
            f"{flights:,} flights, none lost, none doubled"
        )


if __name__ == "__main__":
    main()
