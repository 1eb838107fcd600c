"""The least loss in hindsight for every path length, between proven bounds."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thalweg.errors import InvalidParameterError
from thalweg.regret.path_budget import HindsightPath, PathSolver
from thalweg.types import Block, FloatArray

TOLERANCE = 1e-5
"""Relative gap of a single solve: far below any width between points."""
FAR_END = 1e-3
"""Share of the best fixed point's avoidable loss that is left where the curve ends."""
MIN_SPACING = 1e-6
"""Minimum relative distance of two budgets: closer ones add no information."""
MAX_POINTS = 1000
"""Limit of the number of budgets solved if ``points`` is not given."""


@dataclass(frozen=True, eq=False)
class Frontier:
    """The least loss of a path of length V, as a function of V: convex, never rising.

    It lies below the chords between attained points, as a mix of two paths is a path,
    and above the tangent of each point, whose slope is minus the price.
    """

    path_length: FloatArray  # (K,) V, rising from 0
    upper: FloatArray  # (K,) attained within each V
    lower: FloatArray  # (K,) proven for each V
    price: FloatArray  # (K,) λ, the slope of a lower bound that holds for all V
    floor: float  # the loss of rounds without features, which no path avoids
    paths: tuple[FloatArray, ...] | None = None  # K of (T, n), with ``keep_paths``

    @property
    def width(self) -> float:
        """The widest relative bracket, anywhere between 0 and the last point."""
        # Between neighbours and crossings both bounds are straight, so that their
        # ratio is monotone: the widest place is one of these.
        places = np.concatenate([self.path_length, self.crossings()])
        return float(self.gap_at(places).max())

    def bounds_at(self, path_length: Any) -> tuple[Any, Any]:
        """(lower, upper) around the least loss of a path of this length.

        Takes a number or an array of them. Beyond the last point the upper bound stays.
        """
        V = np.asarray(path_length, np.float64)
        if not (V >= 0).all():
            raise InvalidParameterError(
                "The 'path_length' parameter of bounds_at must be in [0, inf]. "
                f"Got {path_length!r} instead."
            )
        upper = np.interp(V, self.path_length, self.upper)
        within = np.minimum(V, np.finfo(np.float64).max)[..., None]
        with np.errstate(over="ignore"):  # distant tangents may overflow to -∞
            tangents = self.lower + self.price * (self.path_length - within)
        lower = np.maximum(tangents.max(axis=-1), self.floor)
        return (lower, upper) if V.ndim else (float(lower), float(upper))

    def regret_at(self, total_loss: float, path_length: float) -> tuple[float, float]:
        """(low, high) around the regret against the best path of this length."""
        lower, upper = self.bounds_at(path_length)
        return total_loss - upper, total_loss - lower

    def matching_path_length(self, total_loss: float) -> tuple[float, float]:
        """(low, high) around the least V at which the hindsight loss is at most this.

        0 if the best fixed point has such a loss; high is infinite below the last
        point, and low too if no path reaches the loss.
        """
        high = np.inf
        if total_loss >= self.upper[-1]:
            k = int((self.upper <= total_loss).argmax())
            # np.interp wants rising positions, and the loss falls.
            ends = np.array([k, max(k - 1, 0)])
            high = float(
                np.interp(total_loss, self.upper[ends], self.path_length[ends])
            )
        steep = self.price > 0
        if total_loss < max(self.floor, self.lower[~steep].max(initial=0.0)):
            return np.inf, high
        beyond = (self.lower - total_loss)[steep] / self.price[steep]
        low = (self.path_length[steep] + beyond).max(initial=0.0)
        return float(low), high

    def crossings(self) -> FloatArray:
        """(K-1,) where the tangents of neighbours cross: the widest bracket between."""
        V, level = self.path_length, self.lower + self.price * self.path_length
        bend = np.maximum(self.price[:-1] - self.price[1:], np.finfo(float).tiny)
        with np.errstate(over="ignore"):
            meet = (level[:-1] - level[1:]) / bend
        return np.clip(meet, V[:-1], V[1:])

    def gap_at(self, path_length: Any) -> Any:
        """The relative bracket (upper - lower) / upper."""
        lower, upper = self.bounds_at(path_length)
        return (upper - lower) / np.where(upper > 0, upper, 1.0)


def frontier(
    block: Block,
    loss: Any,
    points: int | None = None,
    width: float = 0.02,
    longest: float | None = None,
    keep_paths: bool = False,
) -> Frontier:
    """The least loss in hindsight for every path length V.

    The sandwich algorithm: solve at V = 0 and at the far end, then again and again
    where the tangents of two neighbours cross and the bracket is widest, until it is
    at most ``width`` everywhere, relatively, or ``points`` budgets have been solved.

    ``longest`` is the V to end at. By default the curve ends where a thousandth of what
    a path can save at all is left to save: beyond that a path only follows the noise.
    ``keep_paths`` keeps the comparators, K arrays (T, n).
    """
    _check_arguments(points, width, longest)
    solver = PathSolver(block, loss)
    max_points = MAX_POINTS if points is None else points
    solutions = [_solve(solver, 0.0, keep_paths)]
    if longest is None:
        _extend_to_far_end(solver, solutions, max_points, keep_paths)
    elif longest > 0:
        solutions.append(_solve(solver, longest, keep_paths))
    while True:
        curve = _curve(solutions, solver.floor, keep_paths)
        V = curve.crossings()
        apart = np.minimum(V - curve.path_length[:-1], curve.path_length[1:] - V)
        wide = np.where(apart > MIN_SPACING * V, curve.gap_at(V), 0.0)
        if len(solutions) >= max_points or not wide.max(initial=0.0) > width:
            return curve
        solutions.append(_solve(solver, float(V[wide.argmax()]), keep_paths))


def _check_arguments(points: int | None, width: float, longest: float | None) -> None:
    rules = {
        "points": (points is None or points >= 2, points, "at least 2"),
        "width": (width >= 0, width, "in [0, inf)"),
        "longest": (0 <= (longest or 0.0) < np.inf, longest, "in [0, inf)"),
    }
    for name, (holds, value, rule) in rules.items():
        if not holds:
            raise InvalidParameterError(
                f"The {name!r} parameter of frontier must be {rule}. "
                f"Got {value!r} instead."
            )


def _extend_to_far_end(
    solver: PathSolver,
    solutions: list[HindsightPath],
    max_points: int,
    keep_paths: bool,
) -> None:
    """Add budgets until almost nothing is left to save.

    Newton on √(loss - floor), which near its end falls almost straight, towards half
    of the target, as steps towards the target itself would become ever shorter.
    """
    target = FAR_END * (solutions[0].loss - solver.floor)
    while len(solutions) < max_points:
        last = solutions[-1]
        left = last.loss - solver.floor
        if left <= target or last.price == 0:
            return
        step = 2 * (left - np.sqrt(0.5 * target * left)) / last.price
        solutions.append(_solve(solver, last.budget + step, keep_paths))


def _solve(solver: PathSolver, V: float, keep_paths: bool) -> HindsightPath:
    path = solver.solve(V, TOLERANCE)
    # A copy, as a view of no rows would keep them all.
    return path if keep_paths else replace(path, theta=path.theta[:0].copy())


def _curve(solutions: list[HindsightPath], floor: float, keep_paths: bool) -> Frontier:
    """The best upper and lower bounds that all solutions together give."""
    solutions = sorted(solutions, key=lambda path: path.budget)
    V = np.array([path.budget for path in solutions])
    tangents = np.array([path.lower_at(V) for path in solutions])  # (line, place)
    best = tangents.argmax(axis=0)
    return Frontier(
        path_length=V,
        upper=_lower_hull(V, np.array([path.loss for path in solutions])),
        lower=tangents.max(axis=0),
        price=np.array([path.price for path in solutions])[best],
        floor=floor,
        paths=tuple(path.theta for path in solutions) if keep_paths else None,
    )


def _lower_hull(V: FloatArray, loss: FloatArray) -> FloatArray:
    """The convex curve under points (V, loss), which mixes of their paths attain."""
    falling = np.minimum.accumulate(loss)
    corners: list[int] = []
    for k in range(len(V)):
        # A corner at or above the line past it is no corner of the curve.
        while len(corners) > 1:
            a, b = corners[-2:]
            rise = (falling[b] - falling[a]) * (V[k] - V[a])
            if rise < (falling[k] - falling[a]) * (V[b] - V[a]):
                break
            corners.pop()
        corners.append(k)
    return np.asarray(np.interp(V, V[corners], falling[corners]))
