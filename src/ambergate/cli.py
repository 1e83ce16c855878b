"""The command line: ``ambergate run FILE.py[:name]`` and ``ambergate demo``."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import click

from ambergate.errors import AmbergateError
from ambergate.tables import format_table


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ambergate")
def main() -> None:
    """A dataflow engine that stops at an exact row, is looked into, repaired and let go again."""


@main.command()
@click.argument("target", metavar="FILE.py[:name]")
@click.option("--workers", "-w", type=click.IntRange(1), help="Worker processes.")
@click.option("--backend", type=click.Choice(["local", "inline"]), default="local")
@click.option("--batch-rows", type=click.IntRange(1), help="Rows of a source's batches at most.")
@click.option("--explain", is_flag=True, help="Print the plan and run nothing.")
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
def run(
    target: str,
    workers: int | None,
    backend: str,
    batch_rows: int | None,
    explain: bool,
    quiet: bool,
) -> None:
    """Run the dataflow in FILE.py: the sinks, or the stream, in its variable NAME.

    Without a name every sink that is a global of the file is run, as one job. The rows of a
    stream, and of to_table sinks, are printed.
    """
    from ambergate import engine, jobs
    from ambergate.stream import Sink, Stream

    path, _, name = target.partition(":")
    try:
        sinks = _sinks(path, name, Sink, Stream)
        if explain:
            click.echo(engine.explain([sink.node for sink in sinks], workers, backend))
            return
        job = jobs.run(
            *sinks,
            workers=workers,
            backend=backend,
            batch_rows=batch_rows,
            progress=False if quiet else None,
        )
    except AmbergateError as error:
        raise click.ClickException(str(error)) from None
    for operator in job._controller.plan.operators:
        if operator.kind == "to_table":
            click.echo(format_table(job.result(operator.name)))


@main.command()
def demo() -> None:
    """Watch a small job that is held at an exact row, looked into, and let go again."""
    from ambergate.demo import demo as show

    show(click.echo)


def _sinks(path: str, name: str, sink_type: type, stream_type: type) -> list[Any]:
    if not Path(path).is_file():
        raise click.ClickException(f"there is no file {path}")
    sys.path.insert(0, str(Path(path).resolve().parent))
    found = runpy.run_path(path, run_name="__ambergate__")
    if name:
        if name not in found:
            raise click.ClickException(f"{path} has no global {name!r}")
        chosen = found[name] if isinstance(found[name], list | tuple) else [found[name]]
    else:
        chosen = [each for each in found.values() if isinstance(each, sink_type)]
        if not chosen:
            chosen = [each for each in found.values() if isinstance(each, stream_type)][-1:]
    sinks = [each.to_table() if isinstance(each, stream_type) else each for each in chosen]
    if not sinks or not all(isinstance(each, sink_type) for each in sinks):
        raise click.ClickException(
            f"{target_text(path, name)} holds no dataflow: make a stream or a sink a global of it"
        )
    return sinks


def target_text(path: str, name: str) -> str:
    """FILE.py:name as the user wrote it."""
    return f"{path}:{name}" if name else path


if __name__ == "__main__":
    main()
