"""How far forecasts were from what hindsight could have done, and may be at most."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from thalweg import bounds, regret
from thalweg.domains import Ball
from thalweg.evaluation.contestants import LOSS, PAPER
from thalweg.evaluation.study import Hindsight, Mark, Regret
from thalweg.kernels.tracker.layout import MAX_LOSS
from thalweg.learners.tracker import TrackerState, interval_regret
from thalweg.types import Block, FloatArray, Trace

POINTS = 24
"""Budgets of the frontier that are solved."""
SEARCHED = 2000
"""Rounds up to which all intervals are searched; beyond, the worst is bracketed."""


@dataclass(frozen=True, eq=False)
class Comparators:
    """The best fixed point, a path that moves, and a ball around all of it."""

    fixed: FloatArray  # (n,)
    path: FloatArray  # (T, n)
    domain: Ball

    @classmethod
    def of(cls, block: Block) -> "Comparators":
        """The path is the best that moves as far as the fixed point is from zero."""
        nothing = Trace.from_predictions(np.zeros(len(block)), block, LOSS)
        fixed = regret.static(nothing, block, LOSS).comparator
        path = regret.best_path(block, LOSS, float(np.linalg.norm(fixed))).theta
        farthest = np.linalg.norm(np.vstack([path, fixed]), axis=1).max()
        return cls(fixed, path, Ball(max(1.0, float(farthest))))


def regrets(
    block: Block, forecasts: Mapping[str, FloatArray], comparators: Comparators,
    bounded: bool = True,
) -> tuple[Regret, ...]:  # fmt: skip
    """Static, dynamic and worst-interval regret of each.

    And the bounds of the paper's mixture, unless its labels come late.
    """
    problem = bounds.Problem.of(LOSS, comparators.domain, block)
    length, found = regret.path_length(comparators.path), []
    for name, said in forecasts.items():
        proven = bounded and name == PAPER.name
        trace = Trace.from_predictions(said, block, LOSS)
        static = regret.static(trace, block, LOSS).total
        dynamic = regret.dynamic(trace, block, LOSS, comparators.path).total
        worst = regret.adaptive(trace, block, LOSS, SEARCHED).low
        found += [
            Regret(name, "static", static, _allowed(problem, 0.0) if proven else None),
            Regret(
                name, "dynamic", dynamic, _allowed(problem, length) if proven else None
            ),
            Regret(name, "interval", worst, None),
        ]
    return tuple(found)


def _allowed(problem: bounds.Problem, path_length: float) -> float:
    return bounds.experts_newton(problem, path_length, case=3, static=True, sharp=True)


def to_its_expert(
    said: FloatArray, naive: FloatArray, y: FloatArray, error: float
) -> Regret:
    """The Tracker's regret to its expert "last value", on the interval that is worst.

    ``error`` is the largest of any of its experts. From the second round on: in the
    first none votes.
    """
    lost = np.append(0.0, np.cumsum((y - said)[1:] ** 2 - (y - naive)[1:] ** 2) / 2)
    last = int((lost - np.minimum.accumulate(lost)).argmax())
    first = int(lost[: last + 1].argmin())
    bound = interval_regret(error, first + 1, max(last, first + 1))
    worst = float(lost[last] - lost[first])
    return Regret("Tracker, against last value", "interval", worst, bound)


def largest_error(state: TrackerState) -> float:
    """The largest error that any expert of the Tracker made while it voted."""
    return float(np.sqrt(state.packed[MAX_LOSS]))


def frontier(block: Block, forecasts: Mapping[str, FloatArray]) -> Hindsight:
    """The least loss for every path length; each forecast where its loss lies on it."""
    curve = regret.frontier(block, LOSS, points=POINTS)
    marks = []
    for name, said in forecasts.items():
        total = float(Trace.from_predictions(said, block, LOSS).loss.sum())
        _, V = curve.matching_path_length(total)
        if np.isfinite(V):
            marks.append(Mark(name, V, total))
    return Hindsight(
        curve.path_length, curve.upper, curve.lower, tuple(marks), len(block)
    )
