"""Errors over the rows, how large they are, and how often bands hold the value."""

import altair as alt
import numpy as np

from thalweg.evaluation.downsampling import Curve
from thalweg.evaluation.study import Entry, Histogram, PredictionBands, Study
from thalweg.report.charts.chart_elements import (
    HEIGHT,
    MAX_LINES,
    NUMBER_LABEL,
    TOOLTIP_FORMAT,
    Figure,
    RowAxis,
    base_chart,
    join_names,
    line_chart,
    log_ticks,
)
from thalweg.report.error_comparison import capitalise, method_words
from thalweg.report.number_text import format_count, format_percent, with_unit
from thalweg.types import FloatArray

HEADROOM = 1.25
"""A line that ends above this multiple of the Tracker's and of persistence's error
leaves the chart, so that it does not press the others flat."""
SETTLED_FRACTION = 0.05
"""The fraction of the rows after which a ratio of sums is stable enough for limits."""


def charted_entries(study: Study) -> list[Entry]:
    """The learners that get a line, at most as many as there are colours.

    These are the Tracker, persistence, the best fixed discount, no discount, the best
    of every other role, and then those with the least error.
    """
    fixed = study.entries_of_role("fixed")
    discounted = [entry for entry in fixed if entry.discount != 1]
    undiscounted = [entry for entry in fixed if entry.discount == 1]
    first = [study.tracker, study.persistence, *discounted[:1], *undiscounted[:1]]
    for role in ("paper", "rival", "peer"):
        first.extend(study.entries_of_role(role)[:1])
    first.extend(study.ranked_entries())
    return list(dict.fromkeys(first))[:MAX_LINES]


def cumulative_error_figure(study: Study) -> Figure:
    """The sum of the squared errors so far of each learner."""
    entries = charted_entries(study)
    ends = {entry.name: float(entry.cumulative.mean[-1]) for entry in entries}
    top = HEADROOM * max(ends[study.tracker.name], ends[study.persistence.name])
    chart = line_chart(
        study.tracker.cumulative.last_round,
        {entry.name: entry.cumulative.mean for entry in entries},
        alt.Y("value:Q", title="squared errors, added up")
        .scale(domain=[0, top or 1.0], nice=False)
        .axis(labelExpr=NUMBER_LABEL, tickCount=5),
        f"Cumulative squared error of {len(entries)} learners over {study.rounds:,} "
        f"rows. At the end the Tracker's is {study.tracker.cumulative.mean[-1]:.4g}, "
        f"persistence's {study.persistence.cumulative.mean[-1]:.4g}.",
        axis=RowAxis.from_study(study),
    )
    caption = (
        "The sum of all squared errors so far: the flatter, the better. Where a line "
        "gets steeper, the forecasts of that learner became worse."
    )
    return Figure(
        "cumulative-error",
        "Cumulative error",
        caption + _off_chart_note(ends, top) + _omission_note(study, entries),
        chart,
    )


def relative_error_figure(study: Study) -> Figure:
    """The cumulative error of each learner divided by persistence's."""
    entries = charted_entries(study)
    base = study.persistence.cumulative.mean
    ratios = {entry.name: _ratios(entry.cumulative.mean, base) for entry in entries}
    bottom, top = _limits(study, ratios)
    chart = line_chart(
        study.tracker.cumulative.last_round,
        ratios,
        alt.Y("value:Q", title="squared error so far over persistence's")
        .scale(type="log", domain=[bottom, top], nice=False)
        .axis(labelExpr=NUMBER_LABEL, values=log_ticks(bottom, top)),
        f"Error so far of {len(entries)} learners divided by that of persistence.",
        legend_names=[name for name, ratio in ratios.items() if _is_within(ratio, top)],
        axis=RowAxis.from_study(study),
    )
    ends = {name: float(ratio[-1]) for name, ratio in ratios.items()}
    caption = (
        "The same sums divided by persistence's, whose forecast is the last known "
        "value: below 1 a learner was worth running so far. The scale is logarithmic: "
        "0.5 is as far from 1 as 2 is."
    )
    return Figure(
        "error-against-persistence",
        "Error against persistence",
        caption + _off_chart_note(ends, top),
        chart,
    )


def _ratios(error: FloatArray, base: FloatArray) -> FloatArray:
    ratios = np.full(len(base), np.nan)
    np.divide(error, base, out=ratios, where=base > 0)
    return ratios


def _limits(study: Study, ratios: dict[str, FloatArray]) -> tuple[float, float]:
    """From the least ratio to the Tracker's largest, once the ratios have settled."""
    rows, first = study.tracker.cumulative.last_round, study.first_scored_round
    later = rows >= first + SETTLED_FRACTION * (study.rounds - first)
    settled = {
        name: ratio[later & np.isfinite(ratio)] for name, ratio in ratios.items()
    }
    all_ratios = np.concatenate([*settled.values(), [1.0]])
    tracker_ratios = np.append(settled[study.tracker.name], 1.0)
    positive = all_ratios[all_ratios > 0]
    return float(positive.min()) / HEADROOM, HEADROOM * float(tracker_ratios.max())


def _is_within(ratio: FloatArray, top: float) -> bool:
    """Whether any of the line is below the top, or all of it is unknown."""
    return bool((ratio <= top).any() or np.isnan(ratio).all())


def _off_chart_note(ends: dict[str, float], top: float) -> str:
    """The sentence that names the learners whose lines leave the chart at the top."""
    above = [name for name, end in ends.items() if not end <= top]
    return f" Out of the frame: {join_names(above)}." if above else ""


def _omission_note(study: Study, entries: list[Entry]) -> str:
    """The sentence that counts the learners without a line."""
    missing = len(study.entries) - len(entries)
    if not missing:
        return ""
    others = "one more is" if missing == 1 else f"{missing} more are"
    return f" {len(entries)} learners are drawn; {others} in the table."


WINDOWS = 25
"""Errors and coverage over time are means over a window of rows of this part of all."""
BINS = 41
"""Bars of the histogram: an odd number, so that one is centred at zero."""
SHOWN_PART = 0.99
"""The part of all errors that the histogram shows."""
OWN = "forecast"


def error_over_time_figure(study: Study) -> Figure | None:
    """The mean absolute error of the last rows, beside the best simple method."""
    best = study.best_simple_method
    own, other = study.tracker.absolute_errors, best.absolute_errors
    if own is None or other is None:
        return None
    window = _window(own)
    mean = rolling_mean(own, window)
    if not np.isfinite(mean).any():
        return None
    lines = {
        OWN: mean,
        method_words(best): rolling_mean(other, window),
    }
    rows = format_count(window * int(own.last_round[0]))
    chart = line_chart(
        own.last_round,
        lines,
        alt.Y("value:Q", title="mean error")
        .scale(zero=True)
        .axis(labelExpr=NUMBER_LABEL, tickCount=5),
        f"Mean absolute error over time, of the forecast and of {method_words(best)}.",
        axis=RowAxis.from_study(study),
    )
    caption = (
        f"By how much forecasts were off, on average over the {rows} rows before each "
        f"point; lower is better. Beside the forecast: {method_words(best)}, the best "
        "simple method."
    )
    return Figure("error", "Error over time", caption, chart)


def residual_figure(study: Study, residuals: Histogram) -> Figure:
    """How often errors of each size came."""
    edges, counts = display_bins(residuals)
    total = float(residuals.counts.sum())
    columns = {"from": edges[:-1], "to": edges[1:], "part": counts / total}
    bars = base_chart(columns).mark_bar(style="bar")
    x = (
        alt.X("from:Q", bin="binned", title="actual value minus forecast")
        .scale(nice=False, zero=False, domain=[float(edges[0]), float(edges[-1])])
        .axis(labelExpr=NUMBER_LABEL, tickCount=7, grid=False)
    )
    y = alt.Y("part:Q", title="part of the rows").axis(format="~%", tickCount=5)
    tooltip = [
        alt.Tooltip("from:Q", title="error from", format=TOOLTIP_FORMAT),
        alt.Tooltip("to:Q", title="to", format=TOOLTIP_FORMAT),
        alt.Tooltip("part:Q", title="part of the rows", format=".2~%"),
    ]
    zero = base_chart({"zero": np.zeros(1)}).mark_rule(style="reference")
    chart = alt.layer(
        bars.encode(x=x, x2="to:Q", y=y, tooltip=tooltip), zero.encode(x="zero:Q")
    ).properties(
        width="container",
        height=HEIGHT - 60,
        description="Histogram of the errors of the forecasts.",
    )
    half, most = (
        with_unit(absolute_quantile(residuals, level), study.target)
        for level in (0.5, 0.9)
    )
    beyond = 1 - counts.sum() / total
    caption = (
        f"Half of all forecasts were off by less than about {half}, nine in ten by "
        f"less than about {most}. Right of the dashed line the value was above its "
        f"forecast."
    )
    if beyond > 0:
        caption += f" {capitalise(format_percent(float(beyond)))} of the rows had "
        caption += "errors beyond this chart."
    return Figure("residuals", "How large the errors are", caption, chart)


def coverage_figure(study: Study, bands: PredictionBands) -> Figure | None:
    """How often the bands held the value, over time; None where too few did or not."""
    window = _window(bands.covered)
    measured = rolling_mean(bands.covered, window)
    if not np.isfinite(measured).any():
        return None
    nominal = np.full(len(measured), bands.nominal)
    low = min(float(np.nanmin(measured)), bands.nominal)
    promise = f"{format_percent(bands.nominal)} that it should hold"
    chart = line_chart(
        bands.covered.last_round,
        {"values within the band": measured, promise: nominal},
        alt.Y("value:Q", title="part of the rows")
        .scale(domain=[max(0.0, np.floor(10 * low - 0.5) / 10), 1.0], nice=False)
        .axis(format="%", tickCount=5),
        "How often values lay in the band around their forecast, over time.",
        axis=RowAxis.from_study(study),
    )
    rows = format_count(window * int(bands.covered.last_round[0]))
    caption = (
        f"How often the value lay in the band around its forecast, in the {rows} rows "
        f"before each point. Below the dotted line the bands were too narrow, above it "
        f"wider than necessary."
    )
    return Figure("coverage", "Do the bands keep their promise?", caption, chart)


def rolling_mean(curve: Curve, window: int) -> FloatArray:
    """The mean of the last ``window`` buckets.

    Buckets without a number do not count; it is NaN where fewer than half have one.
    """
    known = np.isfinite(curve.mean)
    sums = np.cumsum(np.append(0.0, np.where(known, curve.mean, 0.0)))
    counts = np.cumsum(np.append(0, known))
    ends = np.arange(1, len(curve) + 1)
    starts = np.maximum(ends - window, 0)
    count = counts[ends] - counts[starts]
    means = np.full(len(curve), np.nan)
    enough = count >= max(window // 2, 1)
    np.divide(sums[ends] - sums[starts], count, out=means, where=enough)
    return means


def display_bins(residuals: Histogram) -> tuple[FloatArray, FloatArray]:
    """Bins of equal width around zero, and how many errors lie in each.

    Bins of the histogram that lie across an edge are divided by their widths.
    """
    top = absolute_quantile(residuals, SHOWN_PART)
    edges = np.linspace(-top, top, BINS + 1)
    sums = np.append(0.0, np.cumsum(residuals.counts))
    return edges, np.diff(np.interp(edges, residuals.edges, sums))


def absolute_quantile(residuals: Histogram, level: float) -> float:
    """The size below which this share of the errors stays, to a sixteenth."""
    sizes = np.maximum(np.abs(residuals.edges[:-1]), np.abs(residuals.edges[1:]))
    order = np.argsort(sizes, kind="stable")
    share = np.cumsum(residuals.counts[order]) / residuals.counts.sum()
    place = min(int(np.searchsorted(share, level)), len(order) - 1)
    return float(sizes[order][place])


def _window(curve: Curve) -> int:
    """Buckets of the rolling means: a part of all, and at least two."""
    return max(len(curve) // WINDOWS, 2)
