"""The figure of the bench: time a round against the number of features."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from scipy.optimize import isotonic_regression

from benchmarks.bench.bench_results import BenchResults, Timing
from benchmarks.bench.implementations import LEARNER_RUN

INK, ACCENT, GREY = "#1b2a41", "#1f77b4", "#9aa5b1"
COLOURS = {
    "thalweg": ACCENT,
    "NumPy": "#8a5a44",
    "SciPy": "#d1495b",
    "plain": "#5c677d",
    "padasip": "#e09f3e",
    "pyroomacoustics": "#6d597a",
    "River": "#2a9d8f",
    "scikit-learn": "#7f8c3b",
    "bayesianbandits": "#c06c84",
    "polars-ols": "#4a7c59",
    "statsmodels": "#9a6fb0",
}
"""By the first word of an implementation's name."""
PANELS = {"call": "one call a round", "array": "whole arrays"}
LABEL_DISTANCE = 0.17
"""Decades between two labels, so that they can be read."""
WIDTH, HEIGHT = 340, 420


def speed_chart(results: BenchResults) -> Any:
    """One panel a section, one line an implementation, its name at the line's end."""
    timings = [
        timing
        for timing in results.timings
        if timing.section in PANELS and timing.name != LEARNER_RUN
    ]
    times = [timing.ns / 1e3 for timing in timings]
    limits = [min(times) * 0.6, max(times) * 1.8]
    panels = [
        _panel(
            [timing for timing in timings if timing.section == section], title, limits
        )
        for section, title in PANELS.items()
        if results.in_section(section)
    ]
    title = alt.TitleParams(
        "Time for one round of recursive least squares",
        subtitle="predict, then learn; one core, medians; the same stream for all "
        "(SGD is another algorithm, for its cost only)",
    )
    return (
        alt.hconcat(*panels, spacing=30)
        .properties(title=title)
        .configure(background="white", font="Helvetica, Arial, sans-serif")
        .configure_title(fontSize=14, anchor="start", color=INK, offset=10)
        .configure_axis(gridColor="#e8ebf0", domainColor=GREY, labelColor=INK)
        .configure_view(stroke=None)
    )


def line_labels(timings: Sequence[Timing]) -> list[dict[str, Any]]:
    """The name of each line at its end, moved apart where two would overlap.

    Of all positions at least ``LABEL_DISTANCE`` from each other they are the nearest to
    the ends in least squares, which isotonic regression finds.
    """
    last = {
        timing.name: timing for timing in sorted(timings, key=lambda timing: timing.n)
    }
    right = max(timing.n for timing in timings)
    ends = sorted(last.values(), key=lambda timing: timing.ns)
    inner = [timing for timing in ends if timing.n < right]
    outer = [timing for timing in ends if timing.n == right]
    steps = LABEL_DISTANCE * np.arange(len(outer))
    line_ends = np.log10([timing.ns for timing in outer])
    positions = isotonic_regression(line_ends - steps).x + steps
    labels = [
        (timing, 10**position)
        for timing, position in zip(outer, positions, strict=True)
    ]
    labels += [(timing, timing.ns * 10**LABEL_DISTANCE) for timing in inner]
    return [_point(timing, float(ns)) for timing, ns in labels]


def _panel(timings: Sequence[Timing], title: str, limits: list[float]) -> Any:
    sizes = sorted({timing.n for timing in timings})
    points = [_point(timing, timing.ns) for timing in timings]
    x = alt.X("n:Q", title="features n").scale(type="log", base=2, nice=False)
    y = (
        alt.Y("µs:Q", title="µs a round")
        .scale(type="log", domain=limits, nice=False)
        .axis(values=[10.0**k for k in range(-2, 6)], format="~g")
    )
    colour = alt.Color("library:N", legend=None).scale(
        domain=list(COLOURS), range=list(COLOURS.values())
    )
    base = _chart(points).encode(
        x=x.axis(values=sizes, grid=False),
        y=y,
        color=colour,
        detail="name:N",
        strokeWidth=alt.condition(
            "datum.library == 'thalweg'", alt.value(3.2), alt.value(1.5)
        ),
    )
    lines = base.mark_line() + base.mark_circle(size=24, opacity=1)
    text = _chart(line_labels(timings)).mark_text(align="left", dx=8, fontSize=11)
    return (lines + text.encode(x=x, y=y, text="name:N", color=colour)).properties(
        width=WIDTH, height=HEIGHT, title=title
    )


def _point(timing: Timing, ns: float) -> dict[str, Any]:
    library = timing.name.split()[0].strip(",")
    return {"name": timing.name, "library": library, "n": timing.n, "µs": ns / 1e3}


def _chart(rows: list[dict[str, Any]]) -> Any:
    return alt.Chart(alt.Data(values=rows))  # type: ignore[no-untyped-call]
