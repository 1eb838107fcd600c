"""``thalweg bench``: speed, side by side with others, in one run."""

import sys
import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from thalweg.cli.bench_tables import comparison, tables
from thalweg.errors import InvalidParameterError, PersistenceError
from thalweg.lab.bench import SECTIONS, BenchPlan, BenchResults, run_bench
from thalweg.lab.bench.bench_figure import bench_figure
from thalweg.models import Online

WIDTH = 100


def bench(
    quick: Annotated[
        bool, typer.Option(help="Fewer sizes and repetitions: under a minute.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(help=f"A section, may be repeated: {', '.join(SECTIONS)}."),
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(help="Numbers of features, such as 4,8,16.")
    ] = None,
    json: Annotated[
        Path, typer.Option(help="Where to keep the numbers for a later run.")
    ] = Path("out/bench.json"),
    against: Annotated[
        Path | None, typer.Option(help="JSON of an earlier run to compare with.")
    ] = None,
    figure: Annotated[
        Path, typer.Option(help="Where to draw time against n: .png, .svg, .pdf.")
    ] = Path("out/bench.png"),
) -> None:
    """Time thalweg beside other libraries on the same stream, on one thread.

    Predictions are compared first. Repetitions are interleaved; figures are medians of
    processor time. Only ratios mean anything on another machine. What is promised
    stands at the end.
    """
    console = Console()
    if not console.is_terminal:
        console.width = WIDTH
    try:
        plan = _plan(quick, only, sizes)
        old = None if against is None else BenchResults.load(against)
        for path in (json, figure):
            path.parent.mkdir(parents=True, exist_ok=True)
    except (InvalidParameterError, PersistenceError, OSError) as error:
        console.print(str(error), style="red")
        raise typer.Exit(2) from None
    results = run_bench(plan, partial(Online, intercept=False), Progress())
    for part in tables(results):
        console.print(part)
    if old is not None:
        for part in comparison(results, old):
            console.print(part)
    results.save(json)
    saved = [json]
    if results.in_section("call") or results.in_section("array"):
        bench_figure(results).save(str(figure), scale_factor=2)
        saved.append(figure)
    console.print(f"Saved {' and '.join(map(str, saved))}.")


class Progress:
    """A line on stderr. No thread redraws it: that would be timed as well."""

    def __init__(self) -> None:
        self.began = time.perf_counter()

    def __call__(self, word: str) -> None:
        """Say what was just done."""
        spent = time.perf_counter() - self.began
        line = f"{spent:4.0f} s  {word}"
        end = "\r" if sys.stderr.isatty() else "\n"
        print(f"{line:<60}", end=end, file=sys.stderr, flush=True)


def _plan(quick: bool, only: list[str] | None, sizes: str | None) -> BenchPlan:
    chosen = tuple(only or SECTIONS)
    try:
        given = tuple(int(n) for n in sizes.split(",")) if sizes else None
    except ValueError:
        raise InvalidParameterError(
            f"--sizes takes whole numbers with commas between. Got {sizes!r} instead."
        ) from None
    if quick:
        return BenchPlan.quick_plan(chosen, given)
    return BenchPlan(chosen, given) if given else BenchPlan(chosen)
