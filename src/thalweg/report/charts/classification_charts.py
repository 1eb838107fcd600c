"""Charts of a classification: shares of classes, log loss, reliability, features."""

import altair as alt
import numpy as np

from thalweg.evaluation.classification_study import ClassificationStudy
from thalweg.report.charts.chart_elements import (
    HEIGHT,
    NUMBER_LABEL,
    Figure,
    RowAxis,
    base_chart,
    line_chart,
    name_colours,
    top_legend,
)

MAX_WEIGHTS = 15
"""Features whose weights are drawn, those of the largest ones."""
MAX_DOT = 400
"""The area of the largest dot of the reliability diagram, in square pixels."""


def classification_figures(study: ClassificationStudy) -> list[Figure]:
    """Every figure that the study has numbers for."""
    figures = [share_figure(study), log_loss_figure(study)]
    if len(study.reliability.rows):
        figures.append(reliability_figure(study))
    if study.weights:
        figures.append(feature_weight_figure(study))
    return figures


def share_figure(study: ClassificationStudy) -> Figure:
    """How often each class came over the rows."""
    if study.is_binary:
        return _binary_share_figure(study)
    shares = {curve.label: curve.observed.mean for curve in study.curves}
    if len(study.classes) > len(study.curves):
        shares["all others"] = 1 - np.sum(list(shares.values()), axis=0)
    chart = line_chart(
        study.curves[0].observed.last_round,
        shares,
        _share_axis("part of the rows").stack("zero"),
        f"Shares of {len(study.classes)} classes over {study.rounds:,} rows.",
        axis=RowAxis.from_study(study),
        stacked=True,
    )
    caption = (
        f"How often each class of {study.target} came. Where the areas change their "
        "height, the mix of classes changed."
    )
    return Figure("class-shares", "Classes over time", caption, chart)


def _binary_share_figure(study: ClassificationStudy) -> Figure:
    one = study.curves[1]
    series = {
        f"probability of {one.label}": one.forecast.mean,
        f"rows that were {one.label}": one.observed.mean,
    }
    chart = line_chart(
        one.observed.last_round,
        series,
        _share_axis("part of the rows"),
        f"Share of rows that were {one.label}, and its mean probability.",
        axis=RowAxis.from_study(study),
    )
    caption = (
        f"How often {study.target} was {one.label}, and how probable it was held, each "
        "as a mean of neighbouring rows. The two lines should move together."
    )
    return Figure("class-shares", "Classes over time", caption, chart)


def log_loss_figure(study: ClassificationStudy) -> Figure:
    """The mean log loss in stretches of the rows, of every classifier."""
    entries = study.ranked_entries()
    ordered = [study.tracker, *(e for e in entries if e.role != "tracker")]
    chart = line_chart(
        study.tracker.log_loss_curve.last_round,
        {entry.name: entry.log_loss_curve.mean for entry in ordered},
        alt.Y("value:Q", title="log loss")
        .scale(zero=True)
        .axis(labelExpr=NUMBER_LABEL, tickCount=5),
        f"Log loss of {len(ordered)} classifiers over {study.rounds:,} rows.",
        axis=RowAxis.from_study(study),
    )
    caption = (
        "The log loss, minus the logarithm of the probability that was given to the "
        "class that came, as a mean of neighbouring rows: lower is better, 0 is to be "
        "certain and right every time."
    )
    return Figure("log-loss", "Log loss over time", caption, chart)


def reliability_figure(study: ClassificationStudy) -> Figure:
    """How often what was given a probability came true (reliability diagram)."""
    bins = study.reliability
    points = base_chart(
        {"predicted": bins.probability, "measured": bins.frequency, "rows": bins.rows}
    )
    ends = np.array([0.0, 1.0])
    x = alt.X("predicted:Q", title=f"probability of {bins.of}").scale(domain=[0, 1])
    y = alt.Y("measured:Q", title="how often it came").scale(domain=[0, 1])
    axes = {"x": x.axis(format="%", tickCount=5), "y": y.axis(format="%", tickCount=5)}
    diagonal = base_chart({"predicted": ends, "measured": ends})
    diagonal = diagonal.mark_line(style="reference").encode(**axes)
    line = points.mark_line(style="tracker").encode(**axes)
    dots = points.mark_point(style="measured").encode(
        **axes,
        size=alt.Size("rows:Q", legend=None).scale(range=[10, MAX_DOT], zero=True),
        tooltip=[
            alt.Tooltip("predicted:Q", title="probability", format=".1%"),
            alt.Tooltip("measured:Q", title="how often it came", format=".1%"),
            alt.Tooltip("rows:Q", title="rows", format=","),
        ],
    )
    chart = (diagonal + line + dots).properties(
        width="container",
        height=HEIGHT,
        description="How often classes came, against their probabilities.",
    )
    caption = (
        "Rows are put together by their probability; a larger dot stands for more of "
        "them. On the dashed line probabilities can be taken at their word. Below it "
        "they were too high, above it too low. The mean distance is "
        f"{100 * bins.error:.1f} percentage points."
    )
    title = "Are the probabilities right?"
    return Figure("reliability", title, caption, chart, narrow=True)


def feature_weight_figure(study: ClassificationStudy) -> Figure:
    """The weights of the features at the end, the largest first."""
    largest = dict(list(study.weights.items())[:MAX_WEIGHTS])
    names, leanings = list(largest), study.leanings or {}
    is_signed = len(study.classes) == 2 and study.leanings is not None
    # Of more classes than two the size of a bar does not say for which it speaks.
    labels = [
        f"{name}, for {leanings[name]}" if leanings and not is_signed else name
        for name in names
    ]
    columns = {
        "feature": np.array(labels),
        "weight": np.array([*largest.values()]),
        "name": np.array(
            [f"for {leanings[name]}" if is_signed else "" for name in names]
        ),
    }
    bars = base_chart(columns).mark_bar(style="measured").encode(
        x=alt.X("weight:Q", title="weight").axis(labelExpr=NUMBER_LABEL, tickCount=5),
        y=alt.Y("feature:N", title=None, sort=labels).axis(labelLimit=260),
        tooltip=[
            alt.Tooltip("feature:N", title="feature"),
            alt.Tooltip("weight:Q", title="weight", format=",.3~r"),
        ],
    )  # fmt: skip
    if is_signed:
        sides = [f"for {label}" for label in reversed(study.classes)]
        bars = bars.encode(color=name_colours(sides, top_legend(sides, "square", 150)))
    chart = alt.layer(bars).properties(
        width="container",
        height=max(20 * len(largest), 60),
        description=f"Weights of {len(largest)} features after the last row.",
    )
    caption = _weight_caption(study, len(largest), is_signed)
    return Figure("feature-weights", "What the features say", caption, chart)


def _weight_caption(study: ClassificationStudy, shown: int, is_signed: bool) -> str:
    which = "The weights" if shown == len(study.weights) else (
        f"The {shown} largest of {len(study.weights):,} weights"
    )  # fmt: skip
    of = f"for {study.classes[1]}" if study.is_binary else "for or against a class"
    if is_signed:
        against, of = study.classes
        of = f"for {of} (bars to the right) or for {against} (to the left)"
    elif study.leanings:
        of = "for or against classes; the one it speaks for most stands beside it"
    caption = (
        f"{which} of the features after the last row: how much a feature that is "
        f"larger than usual, by one standard deviation, speaks {of}."
    )
    if study.identifiers:
        columns = " and ".join(map(repr, study.identifiers))
        look = "looks" if len(study.identifiers) == 1 else "look"
        caption += f" Left out: {columns}, which {look} like identifiers."
    return caption


def _share_axis(title: str) -> alt.Y:
    axis = alt.Y("value:Q", title=title).scale(domain=[0, 1])
    return axis.axis(format="%", tickCount=5)
