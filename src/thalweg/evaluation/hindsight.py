"""Regret: losses beyond those of comparators chosen in hindsight, and their bounds."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from thalweg import bounds, regret
from thalweg.domains import Ball
from thalweg.evaluation.compared_learners import LOSS, PAPER
from thalweg.evaluation.study import Hindsight, Mark, RegretEntry
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker import TrackerState, interval_regret
from thalweg.types import Block, FloatArray, Trace

FRONTIER_POINTS, MIN_FRONTIER_POINTS = 24, 8
"""Path lengths for which the frontier is solved, and how many of them at least."""
FRONTIER_NUMBERS = 300_000
"""Numbers of a block, rounds times features, up to which all points are solved: each
takes a fifth of a second then. Of a larger one there are fewer."""
MAX_SEARCHED_ROUNDS = 2000
"""Rounds up to which all intervals are searched; beyond, the worst is bracketed."""


@dataclass(frozen=True, eq=False)
class Comparators:
    """What regret is measured to: a fixed point, a path, and a ball around both."""

    fixed: FloatArray  # (n,)
    path: FloatArray  # (T, n)
    domain: Ball

    @classmethod
    def from_block(cls, block: Block) -> "Comparators":
        """The path is the best that moves as far as the fixed point is from zero."""
        zero = Trace.from_predictions(np.zeros(len(block)), block, LOSS)
        fixed = regret.static(zero, block, LOSS).comparator
        path = regret.best_path(block, LOSS, float(np.linalg.norm(fixed))).theta
        farthest = np.linalg.norm(np.vstack([path, fixed]), axis=1).max()
        return cls(fixed, path, Ball(max(1.0, float(farthest))))


def regrets(
    block: Block, forecasts: Mapping[str, FloatArray], comparators: Comparators,
    with_bounds: bool = True,
) -> tuple[RegretEntry, ...]:  # fmt: skip
    """Static, dynamic and worst-interval regret of the forecasts of each learner.

    The paper's mixture has bounds, unless its labels come late.
    """
    problem = bounds.Problem.from_loss(LOSS, comparators.domain, block)
    length, rows = regret.path_length(comparators.path), []
    for name, forecast in forecasts.items():
        has_bound = with_bounds and name == PAPER.name
        trace = Trace.from_predictions(forecast, block, LOSS)
        static = regret.static(trace, block, LOSS).total
        dynamic = regret.dynamic(trace, block, LOSS, comparators.path).total
        worst = regret.adaptive(trace, block, LOSS, MAX_SEARCHED_ROUNDS).low
        rows += [
            RegretEntry(
                name, "static", static, _bound(problem, 0.0) if has_bound else None
            ),
            RegretEntry(
                name, "dynamic", dynamic, _bound(problem, length) if has_bound else None
            ),
            RegretEntry(name, "interval", worst, None),
        ]
    return tuple(rows)


def _bound(problem: bounds.Problem, path_length: float) -> float:
    return bounds.experts_newton(problem, path_length, case=3, static=True, sharp=True)


def regret_to_last_value(
    forecast: FloatArray, persistence: FloatArray, y: FloatArray, error: float | None
) -> RegretEntry:
    """The Tracker's regret to its expert "last value", on the interval that is worst.

    ``error`` is the largest of any of its experts; None where forecasts were pooled
    with a given one, for which no bound is proven. From the second round on: in the
    first no expert predicts.
    """
    own, other = (y - forecast)[1:] ** 2, (y - persistence)[1:] ** 2
    excess_loss = np.append(0.0, np.cumsum(own - other) / 2)
    last = int((excess_loss - np.minimum.accumulate(excess_loss)).argmax())
    first = int(excess_loss[: last + 1].argmin())
    bound = None
    if error is not None:
        bound = interval_regret(error, first + 1, max(last, first + 1))
    worst = float(excess_loss[last] - excess_loss[first])
    return RegretEntry("Tracker, against last value", "interval", worst, bound)


def largest_error(state: TrackerState) -> float | None:
    """The largest error that any expert of the Tracker made while it had a weight.

    None of one whose forecasts are pooled with a given one.
    """
    if state.packed[layout.EXTERNAL_FORECAST]:
        return None
    return float(np.sqrt(state.packed[layout.MAX_LOSS]))


def frontier_points(rounds: int, features: int) -> int:
    """How many points of the frontier are solved for a block of this size."""
    fitting = FRONTIER_POINTS * FRONTIER_NUMBERS // max(rounds * features, 1)
    return min(max(fitting, MIN_FRONTIER_POINTS), FRONTIER_POINTS)


def frontier(block: Block, forecasts: Mapping[str, FloatArray]) -> Hindsight:
    """The least loss for every path length; each forecast where its loss lies on it."""
    points = frontier_points(*np.shape(block.x))
    curve = regret.frontier(block, LOSS, points=points)
    marks = []
    for name, forecast in forecasts.items():
        total = float(Trace.from_predictions(forecast, block, LOSS).loss.sum())
        _, V = curve.matching_path_length(total)
        if np.isfinite(V):
            marks.append(Mark(name, V, total))
    return Hindsight(
        curve.path_length, curve.upper, curve.lower, tuple(marks), len(block)
    )
