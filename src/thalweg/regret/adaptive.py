"""Adaptive regret: the regret on the interval of rounds where it is largest.

Also known as: interval regret, strongly adaptive regret.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from thalweg import checks
from thalweg.kernels.hindsight import intervals
from thalweg.losses import Loss
from thalweg.regret.comparators import (
    check_hindsight_block,
    least_squares_rows,
    trace_losses,
)
from thalweg.types import Block, FloatArray, Trace

EXHAUSTIVE_LENGTH = 128
"""Rounds up to which all intervals are searched, whatever the budget."""
BRANCHES = 16
"""The number of pieces that a piece is cut into."""
COLLINEAR_TOLERANCE = 1e-13
"""Singular values below this part of the largest, columns at length 1, are rounding."""


@dataclass(frozen=True)
class AdaptiveRegret:
    """The worst regret over all intervals lies between ``low`` and ``high``."""

    low: float  # attained on ``interval``
    high: float  # equal to low where the search was exhaustive
    interval: tuple[int, int]  # start and stop: the rounds block[start:stop]


IntervalRegret = tuple[float, int, int]
"""A regret, and the start and stop of its interval."""


class Bracket(NamedTuple):
    """Bounds between which the worst regret lies."""

    upper: IntervalRegret  # an upper bound, and an interval that may come near it
    lower: IntervalRegret  # the worst of all short intervals


class LeastSquaresRounds(NamedTuple):
    """Rounds of least squares, and the losses of a trace in them."""

    x: FloatArray  # (T, m, n)
    y: FloatArray  # (T, m, k)
    loss: FloatArray  # (T,)

    def interval(self, start: int, stop: int) -> "LeastSquaresRounds":
        return LeastSquaresRounds(*(array[start:stop] for array in self))

    def reverse(self) -> "LeastSquaresRounds":
        return LeastSquaresRounds(
            *(np.ascontiguousarray(array[::-1]) for array in self)
        )


def adaptive(
    trace: Trace, block: Block, loss: Loss, exact_up_to: int = 10_000
) -> AdaptiveRegret:
    """max over intervals of Σ f_t(θ_t) - min Σ f_t(θ), both sums over the interval.

    Squared losses only; the comparator is any point. Up to ``exact_up_to`` rounds all
    T² intervals are searched, in O(T²n²). Beyond, the worst lies in a bracket found in
    O(Tn²): the best fixed point of an interval loses at least what those of its parts
    lose together, so that regrets of parts add up to a bound on that of the whole.
    Both hold up to the rounding of sums.
    """
    checks.require_argument("adaptive", "exact_up_to", exact_up_to, "[1, inf)")
    block = check_hindsight_block(block, loss)
    rounds = LeastSquaresRounds(
        *_normalise_columns(*least_squares_rows(block, loss)),
        trace_losses(trace, block),
    )
    if len(block) <= exact_up_to:
        zeros = np.zeros(len(block))
        worst, first, last = intervals.worst_interval(*rounds, zeros, zeros)
        return AdaptiveRegret(float(worst), float(worst), (first, last + 1))
    pieces = max(BRANCHES, exact_up_to // (2 * rounds.x.shape[2] + 1))
    bracket = _bracket(rounds, pieces)
    low, start, stop = max(_climb(rounds, *bracket.upper[1:]), bracket.lower)
    return AdaptiveRegret(float(low), float(bracket.upper[0]), (int(start), int(stop)))


def _normalise_columns(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Features in a basis of independent columns of length 1: the losses stay."""
    flat = x.reshape(-1, x.shape[2])
    length = np.linalg.norm(flat, axis=0)
    flat = flat[:, length > 0] / length[length > 0]
    if flat.shape[1]:
        triangle = np.linalg.qr(flat, mode="r")
        _, singular, basis = np.linalg.svd(triangle, full_matrices=False)
        independent = singular > COLLINEAR_TOLERANCE * singular[0]
        if not independent.all():
            flat = flat @ basis[independent].T
    return np.ascontiguousarray(flat.reshape(*x.shape[:2], -1)), np.ascontiguousarray(y)


def _bracket(rounds: LeastSquaresRounds, pieces: int) -> Bracket:
    """Bounds on the worst regret.

    An interval is a suffix of one piece, whole pieces, and a prefix of another; or a
    suffix and a prefix of neighbours; or it lies within one piece.
    """
    T = len(rounds.loss)
    if T <= EXHAUSTIVE_LENGTH:
        zeros = np.zeros(T)
        worst, first, last = intervals.worst_interval(*rounds, zeros, zeros)
        return Bracket((worst, first, last + 1), (worst, first, last + 1))
    cuts = np.linspace(0, T, min(pieces, T // 2) + 1).astype(int)
    parts = [rounds.interval(a, b) for a, b in pairwise(cuts)]
    whole, prefix, suffix = _summarise(parts)
    inside = [_bracket(part, BRANCHES) for part in parts]
    upper = [_shift(part.upper, cut) for part, cut in zip(inside, cuts, strict=False)]
    for i, cut in enumerate(cuts[1:-1]):
        (left, back), (right, ahead) = suffix[i], prefix[i + 1]
        upper.append((left + right, cut - int(back), cut + int(ahead)))
    before = np.append(0.0, np.maximum(suffix[:-1, 0], 0))
    after = np.append(np.maximum(prefix[1:, 0], 0), 0.0)
    high, first, last = intervals.worst_interval(*whole, before, after)
    start = cuts[first] - int(suffix[first - 1, 1] if before[first] else 0)
    stop = cuts[last + 1] + int(prefix[last + 1, 1] if after[last] else 0)
    upper.append((high, start, stop))
    lower = max(_shift(p.lower, c) for p, c in zip(inside, cuts, strict=False))
    return Bracket(max(upper), lower)


def _shift(interval_regret: IntervalRegret, cut: int) -> IntervalRegret:
    """The same interval counted from the start of the block that is cut here."""
    regret, start, stop = interval_regret
    return regret, start + int(cut), stop + int(cut)


def _summarise(
    parts: list[LeastSquaresRounds],
) -> tuple[LeastSquaresRounds, FloatArray, FloatArray]:
    """Each part as one round, and its worst prefix and suffix: regret and length."""
    n, k = parts[0].x.shape[2], parts[0].y.shape[2]
    triangles, regrets = np.empty((len(parts), n, n + k)), np.empty(len(parts))
    prefix, suffix = np.empty((2, len(parts), 2))
    for i, part in enumerate(parts):
        out = np.empty(len(part.loss))
        triangles[i] = intervals.scan_prefixes(*part, out)
        # The part of the regret that no choice of θ can change any more.
        regrets[i] = out[-1]
        prefix[i] = out.max(), out.argmax() + 1
        intervals.scan_prefixes(*part.reverse(), out)
        suffix[i] = out.max(), out.argmax() + 1
    x, y = np.ascontiguousarray(triangles[..., :n]), triangles[..., n:].copy()
    return LeastSquaresRounds(x, y, regrets), prefix, suffix


def _climb(rounds: LeastSquaresRounds, start: int, stop: int) -> IntervalRegret:
    """From an interval to one that no other end and no other start makes worse."""
    regret, T = -np.inf, len(rounds.loss)
    while True:
        out = np.empty(T - start)
        intervals.scan_prefixes(*rounds.interval(start, T), out)
        stop = start + int(out.argmax()) + 1
        out = np.empty(stop)
        intervals.scan_prefixes(*rounds.interval(0, stop).reverse(), out)
        if not out.max() > regret:
            return float(regret), start, stop
        regret, start = out.max(), stop - int(out.argmax()) - 1
