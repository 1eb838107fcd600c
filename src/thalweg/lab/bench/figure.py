"""The figure of the bench: time a round against the number of features."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from scipy.optimize import isotonic_regression

from thalweg.lab.bench import Found, Row
from thalweg.lab.bench.ours import LEARNER

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
"""By the first word of a contender's name."""
PANELS = {"call": "one call a round", "array": "whole arrays"}
APART = 0.17
"""Decades between two labels, so that they can be read."""
WIDTH, HEIGHT = 340, 420


def figure(found: Found) -> Any:
    """One panel a section, one line a contender, its name at the line's end."""
    shown = [row for row in found.rows if row.section in PANELS and row.name != LEARNER]
    times = [row.ns / 1e3 for row in shown]
    limits = [min(times) * 0.6, max(times) * 1.8]
    drawn = [
        _panel([row for row in shown if row.section == section], title, limits)
        for section, title in PANELS.items()
        if found.of(section)
    ]
    title = alt.TitleParams(
        "Time for one round of recursive least squares",
        subtitle="predict, then learn; one core, medians; the same stream for all "
        "(SGD is another algorithm, for its cost only)",
    )
    return (
        alt.hconcat(*drawn, spacing=30)
        .properties(title=title)
        .configure(background="white", font="Helvetica, Arial, sans-serif")
        .configure_title(fontSize=14, anchor="start", color=INK, offset=10)
        .configure_axis(gridColor="#e8ebf0", domainColor=GREY, labelColor=INK)
        .configure_view(stroke=None)
    )


def labels(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The name of each line at its end, moved apart where two would overlap.

    Of all places at least ``APART`` from each other, those nearest to the ends.
    """
    last = {row.name: row for row in sorted(rows, key=lambda row: row.n)}
    right = max(row.n for row in rows)
    ends = sorted(last.values(), key=lambda row: row.ns)
    inner = [row for row in ends if row.n < right]
    outer = [row for row in ends if row.n == right]
    steps = APART * np.arange(len(outer))
    wanted = np.log10([row.ns for row in outer])
    places = isotonic_regression(wanted - steps).x + steps
    placed = [(row, 10**place) for row, place in zip(outer, places, strict=True)]
    placed += [(row, row.ns * 10**APART) for row in inner]
    return [_point(row, float(ns)) for row, ns in placed]


def _panel(rows: Sequence[Row], title: str, limits: list[float]) -> Any:
    sizes = sorted({row.n for row in rows})
    points = [_point(row, row.ns) for row in rows]
    x = alt.X("n:Q", title="features n").scale(type="log", base=2, nice=False)
    y = (
        alt.Y("µs:Q", title="µs a round")
        .scale(type="log", domain=limits, nice=False)
        .axis(values=[10.0**k for k in range(-2, 6)], format="~g")
    )
    colour = alt.Color("who:N", legend=None).scale(
        domain=list(COLOURS), range=list(COLOURS.values())
    )
    base = _chart(points).encode(
        x=x.axis(values=sizes, grid=False),
        y=y,
        color=colour,
        detail="name:N",
        strokeWidth=alt.condition(
            "datum.who == 'thalweg'", alt.value(3.2), alt.value(1.5)
        ),
    )
    lines = base.mark_line() + base.mark_circle(size=24, opacity=1)
    text = _chart(labels(rows)).mark_text(align="left", dx=8, fontSize=11)
    return (lines + text.encode(x=x, y=y, text="name:N", color=colour)).properties(
        width=WIDTH, height=HEIGHT, title=title
    )


def _point(row: Row, ns: float) -> dict[str, Any]:
    who = row.name.split()[0].strip(",")
    return {"name": row.name, "who": who, "n": row.n, "µs": ns / 1e3}


def _chart(rows: list[dict[str, Any]]) -> Any:
    return alt.Chart(alt.Data(values=rows))  # type: ignore[no-untyped-call]
