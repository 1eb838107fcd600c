"""``thalweg reproduce``: the paper's theorems as experiments."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from thalweg.evaluation import Reproduction, steps
from thalweg.evaluation import reproduce as run
from thalweg.evaluation.reproduce import Result
from thalweg.report.reproduction import figures


def reproduce(
    quick: Annotated[
        bool, typer.Option(help="Shorter streams and fewer seeds: under a minute.")
    ] = False,
    out: Annotated[
        Path, typer.Option(help="Folder for the figures and the JSON.")
    ] = Path("out/reproduce"),
) -> None:
    """Measure every rate of the paper beside its bound, and compare the rivals.

    Prints two tables, and saves figures (PNG and SVG) and all numbers (JSON).
    """
    console = Console()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        console.print(
            f"The folder {out} cannot be made: {error.strerror}.", style="red"
        )
        raise typer.Exit(2) from None
    found = _with_progress(console, quick)
    console.print(_rates(found))
    console.print(_rivals(found))
    numbers = out / "reproduce.json"
    numbers.write_text(json.dumps(found.as_dict(), indent=1))
    saved = [*figures(found, out), numbers]
    console.print(f"Saved in {out}: {', '.join(path.name for path in saved)}")
    if broken := [result for result in found.results if result.tightest > 1]:
        console.print(f"{len(broken)} bounds did not hold.", style="bold red")
        raise typer.Exit(1)


def _with_progress(console: Console, quick: bool) -> Reproduction:
    columns = (BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=steps(quick))

        def advance(word: str) -> None:
            progress.update(task, advance=1, description=word)

        return run(quick, advance)


def _rates(found: Reproduction) -> Table:
    table = _table("How regret grows with T: exponents")
    for name in ("claim", "setting", "β"):
        table.add_column(name, no_wrap=True)
    for name in ("theory", "fitted", "95 %", "/ bound"):
        table.add_column(name, justify="right", no_wrap=True)
    for result in found.results:
        table.add_row(*_row(result))
    return table


def _row(result: Result) -> tuple[str, ...]:
    fit = result.growth
    beta = "" if result.tradeoff is None else f"{result.tradeoff:g}"
    ratio = 1 / result.tightest if result.lower else result.tightest
    return (
        result.claim,
        result.setting,
        beta,
        f"{result.predicted:.2f}",
        "" if fit is None else f"{fit.exponent:.2f}",
        "" if fit is None else f"±{fit.high - fit.exponent:.2f}",
        f"{'≥' if result.lower else '≤'} {ratio:.3f}",
    )


def _rivals(found: Reproduction) -> Table:
    compared = found.contest
    table = _table(f"Dynamic regret against the truth, T = {compared.horizon}")
    table.add_column("stream")
    for name in compared.learners:
        table.add_column(name, justify="right")
    for kind, row in zip(compared.kinds, compared.regret, strict=True):
        table.add_row(kind, *(f"{value:.2f}" for value in row))
    return table


def _table(title: str) -> Table:
    return Table(
        title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
