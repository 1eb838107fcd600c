"""``thalweg reproduce``: the paper's theorems as experiments."""

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from thalweg.cli import options
from thalweg.cli.console import (
    new_table,
    print_saved_files,
    progress_bar,
    stderr_console,
    stdout_console,
)
from thalweg.cli.runs.storage import make_folder, storage_errors
from thalweg.lab import paper

if TYPE_CHECKING:
    from thalweg.lab.paper import Reproduction, TheoremResult


def reproduce(
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Shorter streams and fewer seeds: under a minute."
        ),
    ] = False,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for the figures and the JSON.",
            rich_help_panel=options.OUTPUT,
            metavar="FOLDER",
        ),
    ] = Path("out/reproduce"),
    json: options.Json = False,
) -> None:
    """Measure every rate of the paper against its bound, and compare the rivals.

    Prints two tables, and saves figures (PNG and SVG) and all numbers (JSON).

    Exit codes: 0 done, 1 a bound was broken, 2 something could not be saved.
    """
    make_folder(out)
    with progress_bar("", float(paper.count_steps(quick))) as bar:
        reproduction = paper.reproduce(quick, bar.advance)
    numbers, text = out / "reproduce.json", dumps(reproduction.as_dict(), indent=1)
    with storage_errors(out):
        numbers.write_text(text)
        saved = [*paper.save_figures(reproduction, out), numbers]
    if json:
        typer.echo(text)
    else:
        console = stdout_console()
        console.print(_rate_table(reproduction))
        console.print(_rival_table(reproduction))
        print_saved_files(console, saved)
    if broken := [result for result in reproduction.results if result.max_ratio() > 1]:
        stderr_console().print(f"{len(broken)} bounds did not hold.", style="bold red")
        raise typer.Exit(1)


def _rate_table(reproduction: "Reproduction") -> Table:
    table = new_table("How regret grows with T: exponents")
    for name in ("claim", "setting", "β"):
        table.add_column(name, no_wrap=True)
    for name in ("theory", "fitted", "95 %", "/ bound"):
        table.add_column(name, justify="right", no_wrap=True)
    for result in reproduction.results:
        table.add_row(*_rate_cells(result))
    return table


def _rate_cells(result: "TheoremResult") -> tuple[str, ...]:
    fit = result.growth
    beta = "" if result.tradeoff is None else f"{result.tradeoff:g}"
    worst = result.max_ratio()
    ratio = 1 / worst if result.is_lower_bound else worst
    return (
        result.claim,
        result.setting,
        beta,
        f"{result.predicted:.2f}",
        "" if fit is None else f"{fit.exponent:.2f}",
        "" if fit is None else f"±{fit.high - fit.exponent:.2f}",
        f"{'≥' if result.is_lower_bound else '≤'} {ratio:.3f}",
    )


def _rival_table(reproduction: "Reproduction") -> Table:
    rivals = reproduction.rivals
    table = new_table(f"Dynamic regret against the truth, T = {rivals.horizon}")
    table.add_column("stream")
    for name in rivals.learners:
        table.add_column(name, justify="right")
    for kind, row in zip(rivals.kinds, rivals.regret, strict=True):
        table.add_row(kind, *(f"{value:.2f}" for value in row))
    return table
