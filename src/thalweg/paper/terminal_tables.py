"""The claims as tables of a terminal: what ``thalweg reproduce`` prints."""

from rich.console import Console
from rich.table import Table

from thalweg.paper.claim_result import ClaimResult
from thalweg.paper.claims_table import coverage_sentence, format_exponent
from thalweg.paper.reproduction import Reproduction
from thalweg.report.console import new_table, print_sentence

OUTSIDE = "†"
FOOTNOTE = (
    f"{OUTSIDE} The theory's exponent lies outside the interval. In brackets: the part "
    "of the regret that the leading term is, at the first T fitted and at the last. A "
    "reason is given where that part comes nearer to 100% and the exponent differs in "
    "the direction that the reason explains. The saved Markdown has all sentences."
)
NO_REASON = "No reason follows from what was measured:"


def print_reproduction(console: Console, reproduction: Reproduction) -> None:
    """Print the claims, their constants, why exponents differ, and the rivals."""
    console.print(_claim_table(reproduction))
    print_sentence(console, coverage_sentence(reproduction))
    console.print()
    console.print(_constant_table(reproduction))
    _print_reasons(console, reproduction)
    console.print(_rival_table(reproduction))
    for sentence in reproduction.rivals.sentences():
        print_sentence(console, sentence)


def _claim_table(reproduction: Reproduction) -> Table:
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


def _claim_cells(result: ClaimResult) -> tuple[str, ...]:
    """Two lines a claim, so that a table of all fits into 80 columns."""
    fit, fitted = result.growth, ""
    if fit is not None:
        mark = " " if result.theory_fits() else OUTSIDE
        exponent = format_exponent(fit.exponent)
        fitted = f"{exponent}{mark}\n±{fit.high - fit.exponent:.2f} "
    return (
        _claim_and_tradeoff(result),
        f"{result.learner}\n{result.stream}",
        result.comparator,
        format_exponent(result.theory_exponent),
        format_exponent(result.bound_exponent),
        fitted,
        f"{'≥' if result.is_lower_bound else '≤'}{result.ratio_to_bound():.3f}",
    )


def _claim_and_tradeoff(result: ClaimResult) -> str:
    beta = "" if result.tradeoff is None else f"\nβ = {result.tradeoff:g}"
    return f"{result.claim}{beta}"


def _constant_table(reproduction: Reproduction) -> Table:
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


def _print_reasons(console: Console, reproduction: Reproduction) -> None:
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


def _claim_with_parts(result: ClaimResult) -> str:
    """The claim, and in brackets how its regret compares with its leading term."""
    name = _claim_and_tradeoff(result).replace("\n", " ")
    parts = result.leading_parts()
    if parts is None:
        ratios = ", ".join(f"{ratio:.3g}" for ratio in result.ratios_to_rate())
        return f"{name} (over the rate, from the shortest T to the longest: {ratios})"
    return f"{name} ({', '.join(f'{part:.0%}' for part in parts)})"


def _rival_table(reproduction: Reproduction) -> Table:
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
