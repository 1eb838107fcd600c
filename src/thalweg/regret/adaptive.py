"""Adaptive regret: the regret on the interval of rounds where it is largest.

Also known as: interval regret, strongly adaptive regret.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from thalweg import checks
from thalweg.domains import Domain
from thalweg.errors import InvalidParameterError
from thalweg.kernels.hindsight import constrained_intervals, intervals
from thalweg.losses import Loss, Tracking
from thalweg.regret.best_point import (
    EVERYWHERE,
    check_hindsight_block,
    least_squares_rows,
    trace_losses,
)
from thalweg.types import Block, FloatArray, Trace

EXHAUSTIVE_LENGTH = 128
"""Limit of the number of rounds for which all intervals are searched, at any budget."""
BRANCHES = 16
"""Number of pieces that a piece is cut into."""
COLLINEAR_TOLERANCE = 1e-13
"""Minimum singular value relative to the largest, with columns of length 1: smaller
ones are rounding."""


@dataclass(frozen=True)
class AdaptiveRegret:
    """The worst regret over all intervals lies between ``low`` and ``high``."""

    low: float  # attained on ``interval``
    high: float  # equal to low, in a domain to rounding, where all were searched
    interval: tuple[int, int]  # start and stop: the rounds block[start:stop]


class IntervalRegret(NamedTuple):
    """Bounds on the regret of the rounds start to stop."""

    high: float
    low: float
    start: int
    stop: int

    def shift(self, cut: int) -> "IntervalRegret":
        """The same interval counted from the start of the block that is cut here."""
        shifted = self.start + int(cut), self.stop + int(cut)
        return IntervalRegret(self.high, self.low, *shifted)


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


class Search(Protocol):
    """Which interval has the worst regret against the best point of a set."""

    def worst_interval(
        self, rounds: LeastSquaresRounds, before: FloatArray, after: FloatArray,
        best: float,
    ) -> IntervalRegret:  # fmt: skip
        """The worst of before[start] + regret + after[stop-1], if worse than best."""

    def worst_prefix(self, rounds: LeastSquaresRounds) -> IntervalRegret:
        """The worst of all intervals that begin with the first round."""


class UnconstrainedSearch:
    """Comparators are all points: a factorisation gives the least loss."""

    def worst_interval(
        self, rounds: LeastSquaresRounds, before: FloatArray, after: FloatArray,
        best: float,
    ) -> IntervalRegret:  # fmt: skip
        worst, first, last = intervals.worst_interval(*rounds, before, after)
        return IntervalRegret(float(worst), float(worst), first, last + 1)

    def worst_prefix(self, rounds: LeastSquaresRounds) -> IntervalRegret:
        out = np.empty(len(rounds.loss))
        intervals.scan_prefixes(*rounds, out)
        worst = float(out.max())
        return IntervalRegret(worst, worst, 0, int(out.argmax()) + 1)


class ConstrainedSearch(NamedTuple):
    """Comparators lie in {‖θ‖ ≤ radius, low ≤ θ ≤ high}, a ball or a box."""

    radius: float
    low: FloatArray  # (n,)
    high: FloatArray  # (n,)

    def worst_interval(
        self, rounds: LeastSquaresRounds, before: FloatArray, after: FloatArray,
        best: float,
    ) -> IntervalRegret:  # fmt: skip
        high, low, first, last = constrained_intervals.worst_interval_in_domain(
            *rounds, before, after, *self, best
        )
        return IntervalRegret(float(high), float(low), first, last + 1)

    def worst_prefix(self, rounds: LeastSquaresRounds) -> IntervalRegret:
        high, low, last = constrained_intervals.worst_prefix_in_domain(*rounds, *self)
        return IntervalRegret(float(high), float(low), 0, last + 1)


def adaptive(
    trace: Trace,
    block: Block,
    loss: Loss,
    exact_up_to: int = 10_000,
    domain: Domain = EVERYWHERE,
) -> AdaptiveRegret:
    """max over intervals of Σ f_t(θ_t) - min Σ f_t(θ), both sums over the interval.

    Squared losses only; the comparator is any point of ``domain``: everywhere, a
    ``Ball`` or a ``Box``. Up to ``exact_up_to`` rounds all T² intervals are searched,
    in O(T²n²). In a domain those that may be the worst take a solver besides, O(n³)
    each: at most all, O(T²n³), on drifting streams fewer than one in ten
    (docs/decisions/paper-theory.md). Beyond, the worst lies in a
    bracket found in O(Tn²), or O(Tn³): the best fixed point of an interval loses at
    least what those of its parts lose together, so that regrets of parts add up to a
    bound on that of the whole. Both hold up to the rounding of sums. In a domain
    ``high`` exceeds what was attained by the solver's certified gap, which is of the
    same size; a side of a box that has no end is left out of it.
    """
    checks.require_argument("adaptive", "exact_up_to", exact_up_to, "[1, inf)")
    block = check_hindsight_block(block, loss)
    x, y = least_squares_rows(block, loss)
    search: Search = UnconstrainedSearch()
    if domain == EVERYWHERE:
        x, y = _normalise_columns(x, y)
    else:
        search = _search_in(domain, loss, x, y)
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    rounds = LeastSquaresRounds(x, y, trace_losses(trace, block))
    if len(block) <= exact_up_to:
        high, attained = _search_all(search, rounds)
    else:
        pieces = max(BRANCHES, exact_up_to // (2 * x.shape[2] + 1))
        bracket = _bracket(search, rounds, pieces, -np.inf)
        high = bracket.upper.high
        climb = _climb(search, rounds, bracket.upper.start)
        attained = max(climb, bracket.lower, key=lambda interval: interval.low)
    high = max(high, attained.low)  # sums in another order may round to less
    return AdaptiveRegret(attained.low, high, (attained.start, attained.stop))


def _search_in(
    domain: Domain, loss: Loss, x: FloatArray, y: FloatArray
) -> ConstrainedSearch:
    """The search against points of a domain; raises where none is known."""
    checks.require_argument_type("adaptive", "domain", domain, Domain)
    n = y.shape[2] if isinstance(loss, Tracking) else x.shape[2]
    if not isinstance(loss, Tracking) and y.shape[2] > 1:
        raise InvalidParameterError(
            f"A domain constrains one target. Got {y.shape[2]} in {domain!r}."
        )
    if domain.dimension not in (None, n):
        raise InvalidParameterError(
            f"The 'domain' parameter of adaptive must have the {n} coordinates of θ. "
            f"Got {domain.dimension} instead."
        )
    limits = domain.limits(np.zeros(n))
    if limits is None:
        raise InvalidParameterError(
            "The 'domain' parameter of adaptive must be Everywhere, a Ball or a Box. "
            f"Got {domain!r} instead."
        )
    return ConstrainedSearch(*limits)


def _search_all(
    search: Search, rounds: LeastSquaresRounds
) -> tuple[float, IntervalRegret]:
    """An upper bound on the worst regret of all intervals, and one that attains it."""
    T = len(rounds.loss)
    zeros, best = np.zeros(T), IntervalRegret(-np.inf, -np.inf, 0, T)
    if isinstance(search, ConstrainedSearch):
        # The worse the best so far, the fewer intervals need the solver.
        best = _climb(search, rounds, 0)
    worst = search.worst_interval(rounds, zeros, zeros, best.low)
    attained = max(worst, best, key=lambda interval: interval.low)
    return worst.high, attained


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
    return flat.reshape(*x.shape[:2], -1), y


def _bracket(
    search: Search, rounds: LeastSquaresRounds, pieces: int, best: float
) -> Bracket:
    """Bounds on the worst regret, where it exceeds ``best``.

    An interval is a suffix of one piece, whole pieces, and a prefix of another; or a
    suffix and a prefix of neighbours; or it lies within one piece.
    """
    T = len(rounds.loss)
    if T <= EXHAUSTIVE_LENGTH:
        worst = search.worst_interval(rounds, np.zeros(T), np.zeros(T), best)
        return Bracket(worst, worst)
    cuts = np.linspace(0, T, min(pieces, T // 2) + 1).astype(int)
    parts = [rounds.interval(a, b) for a, b in pairwise(cuts)]
    whole, prefix, suffix = _summarise(search, parts)
    upper, lower = [], IntervalRegret(-np.inf, -np.inf, 0, 1)
    for part, cut in zip(parts, cuts, strict=False):
        inside = _bracket(search, part, BRANCHES, max(best, lower.low))
        upper.append(inside.upper.shift(cut))
        if inside.lower.low > lower.low:
            lower = inside.lower.shift(cut)
    for left, right, cut in zip(suffix, prefix[1:], cuts[1:], strict=False):
        ends = int(cut) - left.stop, int(cut) + right.stop
        upper.append(IntervalRegret(left.high + right.high, -np.inf, *ends))
    best = max(best, lower.low)
    upper.append(_join_pieces(search, whole, prefix, suffix, cuts, best))
    return Bracket(max(upper), lower)


def _join_pieces(
    search: Search,
    whole: LeastSquaresRounds,
    prefix: list[IntervalRegret],
    suffix: list[IntervalRegret],
    cuts: NDArray[np.int_],
    best: float,
) -> IntervalRegret:
    """A bound on the regret of intervals that hold a whole piece, and the worst."""
    before = np.array([0.0, *(max(piece.high, 0.0) for piece in suffix[:-1])])
    after = np.array([*(max(piece.high, 0.0) for piece in prefix[1:]), 0.0])
    high, _, first, stop = search.worst_interval(whole, before, after, best)
    start = cuts[first] - (suffix[first - 1].stop if before[first] else 0)
    end = cuts[stop] + (prefix[stop].stop if after[stop - 1] else 0)
    return IntervalRegret(high, -np.inf, int(start), int(end))


def _summarise(
    search: Search, parts: list[LeastSquaresRounds]
) -> tuple[LeastSquaresRounds, list[IntervalRegret], list[IntervalRegret]]:
    """Each part as one round, its worst prefix, and its worst suffix, backwards."""
    n, k = parts[0].x.shape[2], parts[0].y.shape[2]
    triangles, regrets = np.empty((len(parts), n, n + k)), np.empty(len(parts))
    for i, part in enumerate(parts):
        out = np.empty(len(part.loss))
        triangles[i] = intervals.scan_prefixes(*part, out)
        # The part of the regret that no choice of θ can change any more.
        regrets[i] = out[-1]
    x, y = np.ascontiguousarray(triangles[..., :n]), triangles[..., n:].copy()
    prefix = [search.worst_prefix(part) for part in parts]
    suffix = [search.worst_prefix(part.reverse()) for part in parts]
    return LeastSquaresRounds(x, y, regrets), prefix, suffix


def _climb(search: Search, rounds: LeastSquaresRounds, start: int) -> IntervalRegret:
    """From an interval to one that no other end and no other start makes worse."""
    best = IntervalRegret(-np.inf, -np.inf, 0, 1)
    while True:
        stop = (
            start + search.worst_prefix(rounds.interval(start, len(rounds.loss))).stop
        )
        reverse = search.worst_prefix(rounds.interval(0, stop).reverse())
        if not reverse.low > best.low:
            return best
        start = stop - reverse.stop
        best = IntervalRegret(reverse.high, reverse.low, start, stop)
