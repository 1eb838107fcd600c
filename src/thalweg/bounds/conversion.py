"""From adaptive regret to dynamic regret: a bound by partitions into intervals.

On an interval I of rounds, min Σ f_t(θ) is at most 2|I|V(I) above Σ min f_t, where V(I)
sums sup|f_t - f_{t-1}| over the rounds of I but the first. So the regret on the
intervals of a partition bounds dynamic regret: Zhang, Yang, Jin & Zhou, *Dynamic Regret
of Strongly Adaptive Methods* (arXiv 1701.07570; we read only the abstract, and the
proof in docs/derivations/adaptive-to-dynamic.md is ours).
"""

import math
from typing import Any

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.types import FloatArray


def adaptive_to_dynamic(
    variation: Any, interval_regret: Any, pieces: int | None = None
) -> float:
    """Regret against the minimisers of every round: the least over all partitions.

    min Σ_I [R(|I|) + 2|I|V(I)] over partitions of T rounds into intervals I, at most
    ``pieces`` of them if given; found exactly in O(T²) time, O(kT²) for k pieces.

    ``variation``, shape (T-1,), has sup|f_t - f_{t-1}| over the domain for t = 2..T, or
    an upper bound: ``regret.functional_variation(...).upper``. ``interval_regret`` is
    R, shape (T,): a bound on the regret on every interval of 1, 2, ..., T rounds; one
    number, such as ``regret.adaptive(...).high``, is for intervals of all lengths.
    """
    steps = _check_amounts("variation", np.asarray(variation), 1)
    T = len(steps) + 1
    regret = _check_interval_regret(interval_regret, T)
    path = np.append(0.0, np.cumsum(steps))  # V of the rounds s to t is path[t]-path[s]
    if pieces is None:
        best = np.zeros(T + 1)
        for stop in range(1, T + 1):
            best[stop] = _last_interval(best, regret, path, stop)
        return float(best[T])
    checks.require_argument("adaptive_to_dynamic", "pieces", pieces, "[1, inf)")
    best = np.append(0.0, np.full(T, math.inf))
    least = math.inf
    for _ in range(min(pieces, T)):
        stops = range(1, T + 1)
        best = np.append(
            math.inf, [_last_interval(best, regret, path, stop) for stop in stops]
        )
        least = min(least, best[T])
    return float(least)


def adaptive_to_dynamic_by_total(
    horizon: int, total_variation: float, interval_regret: Any
) -> float:
    """The same where only Σ sup|f_t - f_{t-1}| = V over all rounds is known.

    min over k of Σ R(|I|) + 2⌈T/k⌉V, for k intervals of ⌈T/k⌉ and ⌊T/k⌋ rounds. With
    R = O(log T) the best k is of order √(TV / log T), and the bound √(TV log T).
    ``horizon`` is T; ``interval_regret`` as in ``adaptive_to_dynamic``.
    """
    checks.require_argument(
        "adaptive_to_dynamic_by_total", "horizon", horizon, "[1, inf)"
    )
    checks.require_argument(
        "adaptive_to_dynamic_by_total", "total_variation", total_variation, "[0, inf)"
    )
    regret = _check_interval_regret(interval_regret, horizon)
    k = np.arange(1, horizon + 1)
    short, longer = horizon // k, horizon % k
    regrets = (k - longer) * regret[short - 1]
    # No interval is longer than the others where k divides T.
    above = np.minimum(short, horizon - 1)
    regrets = regrets + np.where(longer > 0, longer * regret[above], 0.0)
    longest = short + (longer > 0)
    return float((regrets + 2 * longest * total_variation).min())


def _last_interval(
    best: FloatArray, regret: FloatArray, path: FloatArray, stop: int
) -> float:
    """The least over the starts of an interval that ends before round ``stop``.

    ``best`` has the least cost of all rounds before each start.
    """
    starts = np.arange(stop)
    length = stop - starts
    moved = path[stop - 1] - path[starts]
    return float((best[starts] + regret[length - 1] + 2 * length * moved).min())


def _check_interval_regret(interval_regret: Any, horizon: int) -> FloatArray:
    """R(1), ..., R(T), from one number for all or from all of them."""
    values = np.asarray(interval_regret)
    if values.ndim == 0:
        values = np.full(horizon, interval_regret)
    regret = _check_amounts("interval_regret", values, 1)
    if len(regret) != horizon:
        raise InvalidParameterError(
            "The 'interval_regret' parameter must be a number, or one for each length "
            f"up to {horizon} rounds. Got {len(regret)} of them instead."
        )
    return regret


def _check_amounts(name: str, values: Any, ndim: int) -> FloatArray:
    """An array of numbers that are not negative; infinity is allowed."""
    array = np.asarray(
        checks.check_numbers(name, values, InvalidParameterError), np.float64
    )
    if array.ndim != ndim or not (array >= 0).all():
        raise InvalidParameterError(
            f"The {name!r} parameter must hold numbers that are at least 0, in an "
            f"array of {ndim} axis. Got {values!r} instead."
        )
    return array
