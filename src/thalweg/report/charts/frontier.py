"""What hindsight could have done, and how near to it the learners came."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from thalweg.evaluation.study import Hindsight, Mark, Study
from thalweg.report.charts.errors import drawn
from thalweg.report.charts.lines import (
    HEIGHT,
    IN_TOOLTIP,
    MOST_LINES,
    NUMBER,
    Figure,
    by_name,
    legend,
    listed,
    log_ticks,
    shown_by_legend,
    table,
)
from thalweg.types import FloatArray

SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
)
SIZES = 280, 100
"""Pixels that the first mark and the last one cover."""
UNIT = "in variances of the target"
STEPS = 120
"""A straight chord is bent on a logarithmic axis: it takes this many pieces."""


@dataclass(frozen=True)
class Frame:
    """The path lengths and losses that are shown."""

    left: float
    right: float
    bottom: float
    top: float

    @classmethod
    def around(cls, hindsight: Hindsight, marks: Sequence[Mark]) -> "Frame":
        """From below the shortest path that saves anything; to twice the best fixed
        point's loss, and down to a fraction of the best learner's: further right a
        path merely repeats the noise."""
        lengths = [*hindsight.path_length, *(mark.path_length for mark in marks)]
        losses = [hindsight.loss[0], *(mark.loss for mark in marks)]
        left, right = _ends(lengths)
        least, _ = _ends(losses)
        top = max(hindsight.loss[0], marks[0].loss if marks else 0.0, least)
        scale = 1 / hindsight.rounds
        return cls(left / 2, 2 * right, scale * least / 5, 2 * scale * float(top))

    def axes(self) -> dict[str, Any]:
        """Both logarithmic."""
        x = alt.X("V:Q", title="how far the coefficients move (path length)").scale(
            type="log", domain=[self.left, self.right], nice=False
        )
        y = alt.Y("loss:Q", title=f"loss a round, {UNIT}").scale(
            type="log", domain=[self.bottom, self.top], nice=False
        )
        across, up = log_ticks(self.left, self.right), log_ticks(self.bottom, self.top)
        return {
            "x": x.axis(labelExpr=NUMBER, values=across),
            "y": y.axis(labelExpr=NUMBER, values=up),
        }


def frontier(study: Study, hindsight: Hindsight) -> Figure:
    """The least loss of a path of each length, and the learners marked on it."""
    names = _colour_order(study, hindsight)
    known = [mark for mark in hindsight.marks if np.isfinite(mark.path_length)]
    marks = [mark for name in names for mark in known if mark.name == name]
    frame = Frame.around(hindsight, marks)
    within = [mark for mark in marks if mark.loss / hindsight.rounds <= frame.top]
    chart = _curve(hindsight, frame)
    if within:
        chart += _marks(hindsight, within, names, frame)
    beyond = [mark.name for mark in marks if mark not in within]
    return Figure(
        "hindsight-frontier",
        "What hindsight could have done",
        _said(hindsight) + (f" Above the frame: {listed(beyond)}." if beyond else ""),
        chart.properties(
            width="container",
            height=HEIGHT + 40,
            description="The least loss in hindsight for every path length, with "
            f"{len(within)} learners marked on it.",
        ),
    )


def _said(hindsight: Hindsight) -> str:
    gap = (hindsight.loss - hindsight.lower) / np.where(
        hindsight.loss, hindsight.loss, 1
    )
    return (
        "The line is the least loss, half a squared error, that any path of "
        "coefficients could have had, chosen in hindsight, for every length of path: "
        "left the best that never moves, further right those that move more. A "
        "learner is marked where hindsight loses as much as it did: the further right, "
        "the faster a world it kept up with. At the left edge are those that the best "
        "fixed point beats. "
        "At the lengths that were solved for it is proven to lie at most "
        f"{max(100 * float(gap.max()), 0.01):.2g} % too high."
    )


def _curve(hindsight: Hindsight, frame: Frame) -> Any:
    V = hindsight.path_length
    pieces = np.geomspace(frame.left, max(frame.left, V[-1]), STEPS)
    fine = np.unique(np.append(pieces, V[V > 0]))
    least = np.interp(fine, V, hindsight.loss) / hindsight.rounds
    curve = table({"V": fine, "loss": np.where(least > 0, least, np.nan)})
    tooltip = [
        alt.Tooltip("V:Q", title="path length", format=".3~g"),
        alt.Tooltip("loss:Q", title="least loss a round", format=IN_TOOLTIP),
    ]
    line = curve.mark_line(style="frontier", clip=True)
    unseen = {"style": "touch", "size": 90, "opacity": 0, "aria": False}
    touch = curve.mark_point(clip=True, **unseen)
    axes = frame.axes()
    return line.encode(**axes) + touch.encode(**axes, tooltip=tooltip)


def _marks(
    hindsight: Hindsight, marks: Sequence[Mark], names: Sequence[str], frame: Frame
) -> Any:
    present = [mark.name for mark in marks]
    lengths = np.array([mark.path_length for mark in marks])
    losses = np.array([mark.loss for mark in marks]) / hindsight.rounds
    places = {"V": np.maximum(lengths, frame.left), "length": lengths, "loss": losses}
    # Where several are in one place, the later ones lie smaller on top.
    sizes = np.linspace(*SIZES, len(marks))
    shown, shared = shown_by_legend(present), legend(present, "circle", 110)
    shape = alt.Shape("name:N", legend=shared)
    return (
        table({"name": present, "size": sizes, **places})
        .mark_point(style="learner")
        .encode(
            **frame.axes(),
            color=by_name(names, shared),
            shape=shape.scale(domain=list(names), range=list(SHAPES[: len(names)])),
            size=alt.Size("size:Q", scale=None, legend=None),
            opacity=alt.condition(shown, alt.value(1), alt.value(0)),
            tooltip=[
                alt.Tooltip("name:N", title="learner"),
                alt.Tooltip("length:Q", title="path length", format=".3~g"),
                alt.Tooltip("loss:Q", title="loss a round", format=IN_TOOLTIP),
            ],
        )
        .add_params(shown)
    )


def _colour_order(study: Study, hindsight: Hindsight) -> list[str]:
    """Names as in the charts of errors, so that colours mean the same here."""
    names = [entry.name for entry in drawn(study)]
    names += [mark.name for mark in hindsight.marks]
    return list(dict.fromkeys(names))[:MOST_LINES]


def _ends(values: Sequence[float] | FloatArray) -> tuple[float, float]:
    """The least and the largest that a logarithmic axis can show."""
    positive = [float(value) for value in values if 0 < value < np.inf] or [1.0]
    return min(positive), max(positive)
