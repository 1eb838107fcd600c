"""Regret bounds of algorithms that the paper cites, for comparison with its own.

Their constants are recalled, not read, but for ``constant_step`` and
``leading_history``, whose proofs are short and stand in the docstrings. Other texts
write D for the diameter, which is twice the ``radius`` of a ``Problem``.
"""

import math
from collections.abc import Callable

import numpy as np

from thalweg import checks
from thalweg.bounds.problem import (
    Problem,
    require_strong_convexity,
    resolve_horizon,
    zero_product,
)
from thalweg.errors import InvalidParameterError

IntervalRegret = Callable[[int], float]
"""A bound on the static regret of a learner on its first L rounds, for every L."""


def online_newton_step(problem: Problem, horizon: int | None = None) -> float:
    """5(1/α + GD) n log T, static regret of ``OnlineNewtonStep``; D the diameter.

    Hazan, Agarwal & Kale (2007), *Logarithmic Regret Algorithms for Online Convex
    Optimization*, Machine Learning 69; recalled, not read. T ≥ 2.
    """
    T = resolve_horizon(problem, horizon)
    checks.require_argument("online_newton_step", "horizon", T, "[2, inf)")
    alpha = problem.exp_concavity
    scale = (1 / alpha if alpha else math.inf) + _gradient_range(problem)
    return 5 * scale * problem.dimension * math.log(T)


def online_gradient_descent(problem: Problem, horizon: int | None = None) -> float:
    """(3/2)GD√T, static regret of ``OnlineGradientDescent`` with steps D/G√t.

    Zinkevich (2003), *Online Convex Programming and Generalized Infinitesimal Gradient
    Ascent*, ICML, with the step of later textbooks; recalled, not read. D the diameter.
    """
    T = resolve_horizon(problem, horizon)
    return 1.5 * _gradient_range(problem) * math.sqrt(T)


def ader(problem: Problem, path_length: float, horizon: int | None = None) -> float:
    """(3G/4)√(2T(7D² + 4DV)) + (GD√(2T)/4)(1 + 2 log(k+1)), dynamic regret of ``Ader``.

    k = ⌊½log₂(1 + 4V/7D)⌋ + 1 is the expert whose step suits V, D the diameter and GD
    the range of a loss. Zhang, Lu & Zhou (2018), *Adaptive Online Learning in Dynamic
    Environments*, NeurIPS; recalled, not read.
    """
    T, V = resolve_horizon(problem, horizon), path_length
    checks.require_argument("ader", "path_length", V, "[0, inf)")
    checks.require_argument("ader", "radius", problem.radius, "(0, inf)")
    G, D = problem.gradient_bound, 2 * problem.radius
    k = math.floor(0.5 * math.log2(1 + 4 * V / (7 * D))) + 1
    descent = 0.75 * G * math.sqrt(2 * T * (7 * D * D + 4 * D * V))
    return descent + G * D * math.sqrt(2 * T) / 4 * (1 + 2 * math.log(k + 1))


def leading_history(
    problem: Problem,
    path_length: float,
    interval_regret: IntervalRegret,
    horizon: int | None = None,
) -> float:
    """Dynamic regret of ``FollowTheLeadingHistory``: min over k of kR(L) + GLV.

    L = ⌈T/k⌉ rounds an interval, R(L) = (⌊log₂L⌋+1)(log T/α + A(L)), and A(L) =
    ``interval_regret(L)`` bounds the static regret of the expert on L rounds.

    The argument is Hazan & Seshadhri's (2009), recalled; the constants are ours. The
    copy that starts in round r has weight 1/r at least; the shares of later copies
    leave r/s of it until round s: over its life the mixture loses log(s)/α to it. Of
    the copies alive in round s one started in the first half of any interval that ends
    there, so that ⌊log₂L⌋+1 lives cover the interval. And a comparator that stays for
    an interval where the path was at its start is nowhere farther from it than V(I).
    """
    T, V = resolve_horizon(problem, horizon), path_length
    checks.require_argument("leading_history", "path_length", V, "[0, inf)")
    alpha = problem.exp_concavity
    if not alpha:
        raise InvalidParameterError(
            f"Following the leading history needs α > 0. Got {problem!r} instead."
        )
    least = math.inf
    # Numbers of intervals in steps of a few per cent: each of them is a valid bound.
    for pieces in np.unique(np.geomspace(1, T, 200).astype(int)).tolist():
        length = math.ceil(T / pieces)
        lives = math.floor(math.log2(length)) + 1
        on_interval = lives * (math.log(T) / alpha + interval_regret(length))
        moved = zero_product(problem.gradient_bound, length, V)
        least = min(least, pieces * on_interval + moved)
    return least


def constant_step(
    problem: Problem,
    path_length: float,
    *,
    averaging: float = 1.0,
    start_distance: float | None = None,
) -> float:
    """G(u/hℓ)(‖θ_1-θ*_1‖ + V*), regret of ``ConstantStepGradient`` to the minimisers.

    For its ``smoothness`` = u and ``averaging`` = h. Mokhtari, Shahrampour, Jadbabaie &
    Ribeiro (2016) have the order 1 + V*; the constant is ours: a projected step of 1/u
    takes θ to θ* by a factor 1 - ℓ/u (as in ``smooth_dynamic``), averaging leaves
    1 - hℓ/u, and Σ‖θ_t-θ*_t‖ is at most (‖θ_1-θ*_1‖ + V*) over what is lacking to 1.

    ``path_length`` is V*, ``start_distance`` ‖θ_1-θ*_1‖, by default the most, 2D.
    """
    checks.require_argument("constant_step", "path_length", path_length, "[0, inf)")
    checks.require_argument("constant_step", "averaging", averaging, "(0, 1]")
    ratio = problem.smoothness / require_strong_convexity(problem)
    start = 2 * problem.radius if start_distance is None else start_distance
    distance = start + path_length
    return zero_product(problem.gradient_bound, ratio / averaging, distance)


def _gradient_range(problem: Problem) -> float:
    """GD, D the diameter: by how much a loss can vary over the domain."""
    return zero_product(problem.gradient_bound, 2 * problem.radius)
