"""``thalweg reproduce``: the paper's claims as experiments."""

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from thalweg.cli import options
from thalweg.cli.console import (
    new_table,
    print_saved_files,
    print_sentence,
    progress_bar,
    stderr_console,
    stdout_console,
)
from thalweg.cli.runs.storage import make_folder, storage_errors
from thalweg.lab import paper

if TYPE_CHECKING:
    from thalweg.lab.paper import ClaimResult, Reproduction

WIDTH = 100
"""Columns of the terminal that the tables use at most."""
OUTSIDE = "†"
FOOTNOTE = (
    f"{OUTSIDE} The theory's exponent lies outside the interval. In brackets: the part "
    "of the regret that the leading term is, at the first T fitted and at the last. A "
    "reason is given where that part comes nearer to 100% and the exponent differs in "
    "the direction that the reason explains. The saved Markdown has all sentences."
)
NO_REASON = "No reason follows from what was measured:"


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
        _print(reproduction, saved)
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


def _print(reproduction: "Reproduction", saved: list[Path]) -> None:
    console = stdout_console(WIDTH)
    console.print(_claim_table(reproduction))
    print_sentence(console, paper.coverage_sentence(reproduction))
    console.print()
    console.print(_constant_table(reproduction))
    _print_reasons(console, reproduction)
    console.print(_rival_table(reproduction))
    for sentence in reproduction.rivals.sentences():
        print_sentence(console, sentence)
    print_saved_files(console, saved)


def _claim_table(reproduction: "Reproduction") -> Table:
    first = max(result.fit_from for result in reproduction.results)
    table = new_table(f"How regret grows with T: exponents, fitted to T ≥ {first:,}")
    table.add_column("claim", no_wrap=True)
    table.add_column("learner, stream", no_wrap=True)
    table.add_column("against", no_wrap=True)
    for name in ("theory", "bound", "fitted", "/bound"):
        table.add_column(name, justify="right", no_wrap=True)
    table.pad_edge = False
    for result in reproduction.results:
        table.add_row(*_claim_cells(result))
    return table


def _claim_cells(result: "ClaimResult") -> tuple[str, ...]:
    """Two lines a claim, so that a table of all fits into 80 columns."""
    fit, fitted = result.growth, ""
    if fit is not None:
        mark = " " if result.theory_fits() else OUTSIDE
        exponent = paper.format_exponent(fit.exponent)
        fitted = f"{exponent}{mark}\n±{fit.high - fit.exponent:.2f} "
    return (
        _claim_and_tradeoff(result),
        f"{result.learner}\n{result.stream}",
        result.comparator,
        paper.format_exponent(result.theory_exponent),
        paper.format_exponent(result.bound_exponent),
        fitted,
        f"{'≥' if result.is_lower_bound else '≤'}{result.ratio_to_bound():.3f}",
    )


def _claim_and_tradeoff(result: "ClaimResult") -> str:
    beta = "" if result.tradeoff is None else f"\nβ = {result.tradeoff:g}"
    return f"{result.claim}{beta}"


def _constant_table(reproduction: "Reproduction") -> Table:
    """Regret over the rate, by T, and what it tends to where that is known."""
    horizons = max((r.unique_horizons for r in reproduction.results), key=len)
    table = new_table("Regret over the theory's rate, by T, and its limit")
    table.add_column("claim", no_wrap=True)
    for horizon in horizons:
        table.add_column(f"{horizon // 1000}k", justify="right", no_wrap=True)
    table.add_column("limit", justify="right", no_wrap=True)
    table.add_column("formula, or why none")
    for result in reproduction.results:
        ratios = [f"{ratio:.3g}" for ratio in result.ratios_to_rate()]
        padding = [""] * (len(horizons) - len(ratios))
        limit = "" if result.constant is None else f"{result.constant:.3g}"
        cells = [_claim_and_tradeoff(result), *ratios, *padding, limit]
        table.add_row(*cells, result.tightness)
    return table


def _print_reasons(console: Console, reproduction: "Reproduction") -> None:
    """Why a theory's exponent is outside its interval, where it is: one line a reason.

    A sentence on each claim is in the Markdown.
    """
    claims_by_reason = dict[str, list[str]]()
    for result in reproduction.results:
        if result.reason():
            reason = result.explanation() or NO_REASON
            claims_by_reason.setdefault(reason, []).append(_claim_with_parts(result))
    if claims_by_reason:
        print_sentence(console, FOOTNOTE)
    for reason, names in claims_by_reason.items():
        print_sentence(console, f"{reason} {', '.join(names)}.", "- ")
    console.print()


def _claim_with_parts(result: "ClaimResult") -> str:
    """The claim, and in brackets how its regret compares with its leading term."""
    name = _claim_and_tradeoff(result).replace("\n", " ")
    parts = result.leading_parts()
    if parts is None:
        ratios = ", ".join(f"{ratio:.3g}" for ratio in result.ratios_to_rate())
        return f"{name} (over the rate, from the shortest T to the longest: {ratios})"
    return f"{name} ({', '.join(f'{part:.0%}' for part in parts)})"


def _rival_table(reproduction: "Reproduction") -> Table:
    """Dynamic regret of every learner, and in brackets its part of its own bound."""
    rivals = reproduction.rivals
    title = (
        f"Dynamic regret, T = {rivals.horizon} (its part of the learner's own bound)"
    )
    table = new_table(title)
    table.add_column("stream")
    for name in rivals.learners:
        table.add_column(name, justify="right")
    rows = zip(rivals.kinds, rivals.regret, rivals.bound, strict=True)
    for kind, regrets, limits in rows:
        cells = []
        for regret, bound in zip(regrets, limits, strict=True):
            part = "" if bound is None else f" ({regret / bound:.3f})"
            cells.append(f"{regret:.1f}{part}")
        table.add_row(kind, *cells)
    return table
