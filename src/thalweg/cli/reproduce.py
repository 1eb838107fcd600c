"""``thalweg reproduce``: the paper's claims as experiments."""

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thalweg import paper
from thalweg.cli import options
from thalweg.report.console import (
    print_saved_files,
    progress_bar,
    stderr_console,
    stdout_console,
)
from thalweg.runs.storage import make_folder, storage_errors

if TYPE_CHECKING:
    from thalweg.paper import Reproduction

WIDTH = 100
"""Columns of the terminal that the tables use at most."""


def reproduce(
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Shorter streams and fewer seeds: about a minute on two idle cores, "
            "most of it to compile kernels the first time.",
        ),
    ] = False,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for the figures, the tables and the JSON.",
            rich_help_panel=options.OUTPUT,
            metavar="FOLDER",
        ),
    ] = Path("out/reproduce"),
    json: options.Json = False,
) -> None:
    """Measure every rate of the paper against its bound, and compare the rivals.

    Prints the claims with theory's, bound's and fitted exponents, the constants of the
    tight streams, and where rivals win. Saves figures (PNG and SVG), the claims
    (Markdown and CSV) and all numbers (JSON).

    Exit codes: 0 done, 1 a bound was broken, 2 something could not be saved.
    """
    make_folder(out)
    with progress_bar("", float(paper.count_steps(quick))) as bar:
        reproduction = paper.reproduce(quick, bar.advance)
    text = dumps(reproduction.as_dict(), indent=1, ensure_ascii=False)
    saved = _save(reproduction, text, out)
    if json:
        typer.echo(text)
    else:
        console = stdout_console(WIDTH)
        paper.print_reproduction(console, reproduction)
        print_saved_files(console, saved)
    if broken := [result for result in reproduction.results if not result.holds()]:
        stderr_console().print(f"{len(broken)} bounds did not hold.", style="bold red")
        raise typer.Exit(1)


def _save(reproduction: "Reproduction", text: str, out: Path) -> list[Path]:
    pages = {
        (out / "claims").with_suffix(".md"): paper.markdown_table(reproduction),
        out / "claims.csv": paper.csv_table(reproduction),
        out / "reproduce.json": text,
    }
    with storage_errors(out):
        for path, content in pages.items():
            path.write_text(content, encoding="utf-8")
        return [*paper.save_figures(reproduction, out), *pages]
