"""``python -m benchmarks.bench``: the speed against other libraries, in one run."""

import sys
import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.bench.bench_figure import speed_chart
from benchmarks.bench.bench_plan import SECTIONS, BenchPlan
from benchmarks.bench.bench_results import BenchResults
from benchmarks.bench.bench_tables import comparison_tables, result_tables
from benchmarks.bench.sections import run_bench
from benchmarks.commands import make_app
from thalweg import models
from thalweg.errors import InvalidParameterError

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
        Path, typer.Option(help="File for the numbers, to compare a later run with.")
    ] = Path("out/bench.json"),
    against: Annotated[
        Path | None, typer.Option(help="JSON of an earlier run to compare with.")
    ] = None,
    figure: Annotated[
        Path, typer.Option(help="File for a chart of time against n: .png, .svg, .pdf.")
    ] = Path("out/bench.png"),
) -> None:
    """Time thalweg and other libraries on the same stream, on one thread.

    Predictions are compared first. Repetitions are interleaved; times are medians of
    processor time. Only ratios carry over to another machine. The ratios that we
    promise, and whether they hold, come last.
    """
    console = Console()
    if not console.is_terminal:
        console.width = WIDTH
    plan = _make_plan(quick, only, sizes)
    earlier = None if against is None else BenchResults.load(against)
    for path in (json, figure):
        path.parent.mkdir(parents=True, exist_ok=True)
    make_model = partial(models.Online, intercept=False)
    results = run_bench(plan, make_model, ProgressLine())
    for table in result_tables(results):
        console.print(table)
    if earlier is not None:
        for table in comparison_tables(results, earlier):
            console.print(table)
    results.save(json)
    saved = [json]
    if results.in_section("call") or results.in_section("array"):
        speed_chart(results).save(str(figure), scale_factor=2)
        saved.append(figure)
    console.print(f"Saved {' and '.join(map(str, saved))}.")


class ProgressLine:
    """A line on standard error. No thread redraws it: that would be timed as well."""

    def __init__(self) -> None:
        self.start = time.perf_counter()

    def __call__(self, step: str) -> None:
        """Print the time since the start and the step that was just done."""
        elapsed = time.perf_counter() - self.start
        line = f"{elapsed:4.0f} s  {step}"
        end = "\r" if sys.stderr.isatty() else "\n"
        print(f"{line:<60}", end=end, file=sys.stderr, flush=True)


def _make_plan(quick: bool, only: list[str] | None, sizes: str | None) -> BenchPlan:
    sections = tuple(only or SECTIONS)
    try:
        features = tuple(int(n) for n in sizes.split(",")) if sizes else None
    except ValueError:
        raise InvalidParameterError(
            f"--sizes takes whole numbers with commas between. Got {sizes!r} instead."
        ) from None
    if quick:
        return BenchPlan.quick_plan(sections, features)
    return BenchPlan(sections, features) if features else BenchPlan(sections)


APP = make_app(bench)
