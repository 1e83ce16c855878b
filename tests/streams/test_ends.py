"""Where streams end: files, folders, functions, tables; several ends in one job; names."""

import inspect

import pyarrow as pa
import pytest

import ambergate as ag
from ambergate import col
from tests.sequences import rows_of, seq

N = 300
WRITERS = {
    "csv": ("write_csv", ag.read_csv),
    "jsonl": ("write_json", ag.read_json),
    "parquet": ("write_parquet", ag.read_parquet),
}


@pytest.fixture(params=WRITERS)
def form(request):
    """An ending, the method that writes it, the function that reads it."""
    return (request.param, *WRITERS[request.param])


def read(path, form):
    return rows_of(form[2](path).select(*seq(1).schema.names).collect(backend="inline"))


def expected():
    return rows_of(seq(N).collect(backend="inline"))


def test_one_file(backend, tmp_path, form):
    target = tmp_path / f"rows.{form[0]}"
    ag.run(getattr(seq(N), form[1])(str(target), name="out"), backend=backend, workers=2)
    assert [each.name for each in tmp_path.iterdir()] == [target.name]
    assert read(target, form) == expected()


def test_a_folder_has_one_part_for_each_task(backend, tmp_path, form):
    target = f"{tmp_path}/parts/"
    ag.run(getattr(seq(N), form[1])(target, parallelism=3), backend=backend, workers=2)
    names = sorted(each.name for each in (tmp_path / "parts").iterdir())
    assert names == [f"part-{number:05}.{form[0]}" for number in range(3)]
    assert read(tmp_path / "parts", form) == expected()


@pytest.mark.parametrize("name", ["rows.x", "parts/"])
def test_what_exists_is_kept_unless_told_to_replace(backend, tmp_path, form, name):
    def write(stream, **options):
        ag.run(getattr(stream, form[1])(f"{tmp_path}/{name}", **options), backend=backend)

    write(seq(N))
    with pytest.raises(ag.AmbergateError, match='if_exists="replace"'):
        write(seq(5))
    assert read(tmp_path / name, form) == expected()
    write(seq(5), if_exists="replace")
    assert read(tmp_path / name, form) == rows_of(seq(5).collect(backend="inline"))


def test_nothing_is_visible_before_the_end(backend, tmp_path, form):
    target = tmp_path / "out" / f"rows.{form[0]}"
    stream = seq(20_000).filter(col("v") >= 0, name="all", parallelism=4)
    with ag.start(
        getattr(stream, form[1])(str(target)), backend=backend, workers=2, paused=True
    ) as job:
        job["all"].break_at({0: 4000})
        job.resume()
        job.wait_for_stop(timeout="30s")
        assert not target.exists()
        job.stop()
    assert not target.exists()
    assert not target.parent.exists() or list(target.parent.iterdir()) == []


def test_a_job_that_fails_commits_none_of_its_files(backend, tmp_path):
    def fails_late(v):
        if v == 997:
            raise ValueError("late")
        return v

    source = seq(1000)
    good = source.write_csv(f"{tmp_path}/good.csv")
    bad = source.map(fails_late, columns=["v"], returns={"v": "int64"})
    with pytest.raises(ag.JobFailed, match="late"):
        ag.run(good, bad.write_csv(f"{tmp_path}/bad/"), backend=backend, workers=2)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_several_ends_in_one_job(backend, tmp_path):
    source = seq(N)
    low = source.filter(col("v") < 500)
    job = ag.run(
        low.to_table(name="low"),
        low.agg(n=ag.count()).to_table(name="count"),
        source.write_parquet(str(tmp_path / "all.parquet")),
        source.group_by("key").agg(t=ag.sum("v")).to_table(),
        backend=backend,
        workers=2,
        batch_rows=7,
    )
    rows = [number for number in range(N) if number * 7919 % 1000 < 500]
    assert sorted(job.result("low")["id"].to_pylist()) == rows
    assert job.result("count").to_pylist() == [{"n": len(rows)}]
    assert job.result("to_table").num_rows == 10
    assert read(tmp_path / "all.parquet", ("parquet", *WRITERS["parquet"])) == expected()
    with pytest.raises(ag.AmbergateError, match="needs a name"):
        job.result()


def test_one_stream_with_two_ends_is_read_once(backend):
    pulled = []

    def numbers():
        for number in range(10):
            pulled.append(number)
            yield {"x": number}

    source = ag.from_iter(numbers(), schema={"x": "int64"})
    job = ag.run(source.to_table(name="a"), source.to_table(name="b"), backend=backend)
    assert job.result("a") == job.result("b")
    assert pulled == list(range(10))


def test_for_each_sees_every_row_once(backend, tmp_path):
    def note(number, key):
        (tmp_path / f"{number}-{key}").touch()

    ag.run(seq(50).for_each(note, columns=["id", "key"], name="say"), backend=backend, workers=2)
    assert len(list(tmp_path.iterdir())) == 50

    def note_row(row):
        (tmp_path / f"row-{row.id}").touch()

    ag.run(seq(50).for_each(note_row, parallelism=2), backend=backend, workers=2)
    assert len(list(tmp_path.glob("row-*"))) == 50


def test_collect_of_no_rows_has_the_schema(backend):
    made = seq(10).filter(col("v") < 0).with_columns(x=col("v") / 2)
    table = made.collect(backend=backend, workers=2)
    assert (table.num_rows, table.schema) == (0, made.schema)


# name= and parallelism=

STEPS = {
    "filter": lambda s, **o: s.filter(col("v") > 1, **o),
    "filter_function": lambda s, **o: s.filter(lambda v: v > 1, columns=["v"], **o),
    "select": lambda s, **o: s.select("v", **o),
    "with_columns": lambda s, **o: s.with_columns(x=col("v"), **o),
    "drop": lambda s, **o: s.drop("v", **o),
    "map": lambda s, **o: s.map(abs, columns=["v"], returns={"v": "int64"}, **o),
    "flat_map": lambda s, **o: s.flat_map(range, columns=["w"], returns={"e": "int64"}, **o),
    "map_batches": lambda s, **o: s.map_batches(
        lambda batch: batch.select(["v"]), returns={"v": "int64"}, **o
    ),
    "union": lambda s, **o: s.union(s, **o),
    "distinct": lambda s, **o: s.distinct("key", **o),
    "join": lambda s, **o: s.join(s, on="id", **o),
    "group_by": lambda s, **o: s.group_by("key").agg(n=ag.count(), **o),
    "running": lambda s, **o: s.group_by("key").running(n=ag.count(), **o),
}
SINGLE = {
    "agg": lambda s, **o: s.agg(n=ag.count(), **o),
    "sort": lambda s, **o: s.sort("v", **o),
    "top": lambda s, **o: s.top(3, by="v", **o),
    "limit": lambda s, **o: s.limit(3, **o),
    "head": lambda s, **o: s.head(3, **o),
}


@pytest.mark.parametrize("what", [*STEPS, *SINGLE])
def test_name_and_parallelism(what):
    tasks = 3 if what in STEPS else 1
    made = {**STEPS, **SINGLE}[what](seq(40), name="mine", parallelism=tasks)
    job = ag.run(made.to_table(name="end", parallelism=2), backend="inline", workers=2)
    found = {}
    for row in job.stats().to_pylist():
        found.setdefault(row["operator"], []).append(row["task"])
    assert found["mine"] == list(range(tasks))
    assert found["end"] == [0, 1]
    assert job["mine"].tasks == tasks


def test_every_method_that_adds_an_operator_takes_both():
    adds = [*STEPS, *SINGLE, "explode", "write_csv", "write_json", "write_parquet", "for_each"]
    grouped = type(seq(1).group_by("key"))
    for name in adds:
        owner = grouped if name in ("group_by", "running") else ag.Stream
        attribute = {"group_by": "agg", "filter_function": "filter"}.get(name, name)
        parameters = inspect.signature(getattr(owner, attribute)).parameters
        for option in ("name", "parallelism"):
            assert parameters[option].kind is inspect.Parameter.KEYWORD_ONLY, (name, option)


def test_sources_take_both(tmp_path):
    for write, path in (
        ("write_csv", "a.csv"),
        ("write_json", "a.jsonl"),
        ("write_parquet", "a.p"),
    ):
        ag.run(getattr(seq(20), write)(str(tmp_path / path)), backend="inline")
    made = [
        ag.read_csv(tmp_path / "a.csv", name="mine", parallelism=1),
        ag.read_json(tmp_path / "a.jsonl", name="mine", parallelism=1),
        ag.read_parquet(tmp_path / "a.p", name="mine", parallelism=1),
        ag.from_arrow({"id": [1]}, name="mine", parallelism=1),
        ag.from_iter([{"id": 1}], name="mine", parallelism=1),
    ]
    for each in made:
        assert each.explain().splitlines()[0].startswith("mine  [")


def test_a_column_called_name_or_parallelism(backend):
    table = pa.table({"name": ["a", "b"], "parallelism": [1, 2]})
    made = ag.from_arrow(table).select(
        "name", (col("parallelism") * 2).alias("parallelism"), name="both"
    )
    found = made.collect(backend=backend)
    assert rows_of(found) == [("a", 2), ("b", 4)]
