"""Weather records of three airports: when was it hottest so far? A running aggregate, in order.

Also shows a job that is stopped at an exact row, stepped row by row, and let go again.

    python examples/weather_records.py [FOLDER]   FOLDER as of `make data`
"""

import tempfile
from pathlib import Path

from archives import unpack_flights

import ambergate as ag
from ambergate import col
from ambergate.tables import format_table


def main() -> None:
    """Find the hours that broke the record of their airport."""
    with tempfile.TemporaryDirectory(prefix="weather-") as scratch:
        folder = Path(scratch)
        unpack_flights(folder)
        records = (
            ag.read_csv(folder / "weather.csv", null_values=["NA"], name="weather")
            .select("origin", "time_hour", "temp")
            .filter(col("temp").is_not_null(), name="measured")
            .group_by("origin")
            .running(hottest=ag.max("temp"), hours=ag.count(), name="so far")
            .filter((col("temp") == col("hottest")) & (col("hours") > 24), name="record")
        )
        with ag.start(records.to_table(name="records"), workers=2, paused=True) as job:
            job["so far"].break_at({0: 5000})
            job.resume()
            stop = job.wait_for_stop(timeout="30s")
            print(f"held at {stop}: {stop.row}")
            for _ in range(3):
                job["so far"].step(task=0)
                print(f"  next: {job['so far'].held(task=0)}")
            print(job["so far"].inspect(task=0)["tables"])
            job.resume()
            job.wait(timeout="60s")
            table = job.result("records")
        print(format_table(table.sort_by("time_hour"), rows=12))
        by_hand: dict[str, float] = {}
        rows = ag.read_csv(folder / "weather.csv", null_values=["NA"]).collect(backend="inline")
        for row in rows.to_pylist():
            if row["temp"] is not None:
                by_hand[row["origin"]] = max(row["temp"], by_hand.get(row["origin"], row["temp"]))
        ours: dict[str, float] = {}
        for row in table.to_pylist():
            ours[row["origin"]] = max(row["temp"], ours.get(row["origin"], row["temp"]))
        assert ours == by_hand
        print(f"\n{table.num_rows} records; the last of each airport is its hottest hour: {ours}")


if __name__ == "__main__":
    main()
