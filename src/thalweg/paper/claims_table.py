"""The claims as a table: for a terminal, as Markdown and as CSV."""

import csv
import io
from statistics import median

from thalweg.paper.claim_result import ClaimResult
from thalweg.paper.reproduction import Reproduction

HEADER = (
    "claim", "learner", "stream", "regret against", "β", "theory", "bound", "fitted",
    "95 % interval", "regret / bound", "constant of the rate",
    "why the theory's exponent is outside the interval",
)  # fmt: skip
COMPARATORS = {
    "fixed": "best fixed point",
    "moving": "moving mean",
    "minimisers": "minimisers",
    "experts": "best expert",
}
NUMBERS = (
    "claim", "learner", "stream", "comparator", "tradeoff", "theory_exponent",
    "bound_exponent", "fitted_exponent", "fitted_low", "fitted_high",
    "ratio_to_bound", "is_lower_bound", "constant", "measured_constant", "longest",
)  # fmt: skip


def markdown_table(reproduction: Reproduction) -> str:
    """The page of all claims, with its sentences."""
    first = max(result.fit_from for result in reproduction.results)
    lines = [
        "# Every claim, measured",
        "",
        "Exponents of T: the theory's, the bound's own slope, and that fitted to the "
        f"measured regret, all over the same T: those from {first:,} on, or all where "
        "fewer than three are left. The theory's is a slope over these T too: that of "
        "log T is near 0.1 here, and falls to 0 only in the limit.",
        "",
        "The interval is Student's at 95 %, for the slope of log regret on log T by "
        "least squares, with a constant for each seed; of a lower bound, for that of "
        "the mean over seeds. Curvature counts as noise in it.",
        "",
        coverage_sentence(reproduction),
        "",
        "| " + " | ".join(HEADER) + " |",
        "|" + " --- |" * len(HEADER),
    ]
    lines += ["| " + " | ".join(claim_cells(r)) + " |" for r in reproduction.results]
    lines += ["", "## Rivals", ""]
    lines += [f"- {sentence}" for sentence in reproduction.rivals.sentences()]
    return "\n".join(lines) + "\n"


def csv_table(reproduction: Reproduction) -> str:
    """One line a claim, numbers in full precision."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(NUMBERS)
    for r in reproduction.results:
        fit = r.growth or ("", "", "")
        writer.writerow(
            (
                r.claim, r.learner, r.stream, r.comparator, r.tradeoff,
                r.theory_exponent, r.bound_exponent, *fit, r.ratio_to_bound(),
                r.is_lower_bound, r.constant, r.ratios_to_rate()[-1],
                r.unique_horizons[-1],
            )
        )  # fmt: skip
    return out.getvalue()


def claim_cells(result: ClaimResult) -> tuple[str, ...]:
    """The cells of one claim, in the order of ``HEADER``."""
    fit = result.growth
    return (
        result.claim,
        result.learner,
        result.stream,
        COMPARATORS[result.comparator],
        "" if result.tradeoff is None else f"{result.tradeoff:g}",
        format_exponent(result.theory_exponent),
        format_exponent(result.bound_exponent),
        "" if fit is None else format_exponent(fit.exponent),
        "" if fit is None else " to ".join(map(format_exponent, fit[1:])),
        f"{'≥' if result.is_lower_bound else '≤'} {result.ratio_to_bound():.3f}",
        result.tight_constant(),
        result.reason(),
    )


def coverage_sentence(reproduction: Reproduction) -> str:
    """In how many rows the theory's exponent is inside the interval.

    Also where all T are fitted: the choice of the longer ones must not go unseen. And
    how wide the intervals are: wide ones cover much.
    """
    results = reproduction.results
    longer = sum(result.theory_fits() for result in results)
    start = f"The theory's exponent lies in the interval in {longer} of {len(results)} "
    widths = [r.growth.high - r.growth.exponent for r in results if r.growth]
    end = f"Half of the intervals are wider than ±{median(widths):.2f}"
    if all(result.fits_all_horizons() for result in results):
        return f"{start}rows. {end}: few seeds and few T make them wide."
    every = sum(result.theory_fits_all_horizons() for result in results)
    first = min(results[0].horizons)
    return f"{start}rows; fitted to all T from {first:,} on, in {every}. {end}."


def format_exponent(value: float) -> str:
    """Two decimals, and never -0.00."""
    return f"{round(value, 2) + 0.0:.2f}"
