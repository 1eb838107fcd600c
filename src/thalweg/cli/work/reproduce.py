"""The paper's theorems as experiments."""

from json import dumps
from pathlib import Path

import typer
from rich.table import Table

from thalweg.cli.console import progress, remarks, results
from thalweg.cli.runs.storage import make_folder, writing
from thalweg.cli.work.show import listed, titled
from thalweg.lab.paper import Reproduction, reproduce, steps
from thalweg.lab.paper.figures import figures
from thalweg.lab.paper.reproduce import Result


def reproduce_paper(quick: bool, out: Path, json: bool) -> None:
    """Run every experiment, print two tables, and save what was found."""
    make_folder(out)
    with progress("", float(steps(quick))) as bar:
        found = reproduce(quick, bar.step)
    numbers, text = out / "reproduce.json", dumps(found.as_dict(), indent=1)
    with writing(out):
        numbers.write_text(text)
        saved = [*figures(found, out), numbers]
    if json:
        typer.echo(text)
    else:
        console = results()
        console.print(_rates(found))
        console.print(_rivals(found))
        listed(console, saved)
    if broken := [result for result in found.results if result.tightest > 1]:
        remarks().print(f"{len(broken)} bounds did not hold.", style="bold red")
        raise typer.Exit(1)


def _rates(found: Reproduction) -> Table:
    table = titled("How regret grows with T: exponents")
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
    table = titled(f"Dynamic regret against the truth, T = {compared.horizon}")
    table.add_column("stream")
    for name in compared.learners:
        table.add_column(name, justify="right")
    for kind, row in zip(compared.kinds, compared.regret, strict=True):
        table.add_row(kind, *(f"{value:.2f}" for value in row))
    return table
