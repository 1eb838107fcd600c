"""Functional variation: how much the losses themselves change from round to round.

Also known as: variation budget (Besbes, Gur & Zeevi, *Non-stationary Stochastic
Optimization*), temporal variability. Unlike a path length it knows no comparator.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thalweg.domains import Ball, Box, Domain
from thalweg.errors import InvalidParameterError, UnsupportedLossError
from thalweg.losses import LinearLoss, LinearMap, Loss, SquaredError, Tracking
from thalweg.regret.best_point import (
    check_hindsight_block,
    comparator_losses,
    least_squares_rows,
)
from thalweg.types import Block, FloatArray

BISECTIONS = 120
"""Number of halvings of an interval with a multiplier or minimiser: beyond rounding."""

MIN_RADIUS = 1e-150
"""Minimum size of a box (of one point), so that nothing is divided by zero."""


@dataclass(frozen=True, eq=False)
class FunctionalVariation:
    """Σ sup|f_t - f_{t-1}| over a domain lies between ``low`` and ``high``."""

    lower: FloatArray  # (T-1,) attained by |f_t - f_{t-1}|, t = 2..T, at some point
    upper: FloatArray  # (T-1,) no point exceeds this

    @property
    def low(self) -> float:
        return float(self.lower.sum())

    @property
    def high(self) -> float:
        return float(self.upper.sum())


class Quadratics(NamedTuple):
    """½zᵀMz - qᵀz + c, one a change of the loss."""

    curvature: FloatArray  # (B, r, r) M
    slope: FloatArray  # (B, r) q
    constant: FloatArray  # (B,) c

    def value(self, z: FloatArray) -> FloatArray:
        """The values at one point each, (B, r) to (B,)."""
        bent = np.einsum("bi,bij,bj->b", z, self.curvature, z) / 2
        return np.asarray(bent - np.einsum("bi,bi->b", self.slope, z) + self.constant)

    def negate(self) -> "Quadratics":
        return Quadratics(*(-part for part in self))


class Maximum(NamedTuple):
    """The maximum of each quadratic on a ball, between a value and a dual value."""

    point: FloatArray  # (B, r), in the ball
    lower: FloatArray  # (B,) the value there
    upper: FloatArray  # (B,) by duality


def functional_variation(
    block: Block, loss: Loss, domain: Domain
) -> FunctionalVariation:
    """Σ sup over the domain of |f_t(θ) - f_{t-1}(θ)|, for t = 2..T.

    Exact to rounding, low = high, for ``SquaredError`` and ``Tracking`` on a ``Ball``
    or ``Box`` and for ``LinearMap`` on a ``Ball``, in O(T) times the cost of a round.
    Elsewhere a certified bracket: squared losses on a ball around the domain from
    above, other losses of a linear prediction by the ranges of f_t and f_{t-1}, which
    may be loose; from below the values at points of the domain.
    """
    block = check_hindsight_block(block, loss)
    if isinstance(loss, SquaredError) and np.ndim(block.y) > 1:
        raise UnsupportedLossError(
            "The functional variation is found for one target a round. "
            f"Got {np.shape(block.y)[1]} of them instead."
        )
    size = np.shape(block.y if block.x is None else block.x)[-1]
    domain = domain.in_dimension(size)
    if not np.isfinite(domain.radius):
        raise InvalidParameterError(
            "The functional variation needs a domain of finite radius. "
            f"Got {domain!r} instead."
        )
    if isinstance(loss, Tracking):
        return _tracking_variation(block, loss, domain)
    if isinstance(loss, SquaredError) and isinstance(domain, Box):
        return _exact(_box_extremes(block, domain))
    if isinstance(loss, SquaredError | LinearMap):
        return _least_squares_variation(block, loss, domain)
    if isinstance(loss, LinearLoss) and loss.rank_one:
        return _linear_loss_variation(block, loss, domain)
    raise UnsupportedLossError(
        "The functional variation is found for squared losses and losses of a linear "
        f"prediction alone. Got {loss!r} instead."
    )


def _exact(largest: FloatArray) -> FunctionalVariation:
    return FunctionalVariation(largest, largest)


def _tracking_variation(
    block: Block, loss: Tracking, domain: Domain
) -> FunctionalVariation:
    """Of ½w‖θ-y‖²: the change is ½(w-w′)‖θ‖² - (wy-w′y′)·θ + c."""
    weight, y = block.weights, np.asarray(block.y, np.float64)
    bend = np.diff(weight)
    slope = np.diff(weight[:, None] * y, axis=0)
    constant = np.diff(weight * (y**2).sum(axis=1)) / 2
    if isinstance(domain, Box):
        # One coordinate at a time: the largest of a sum is the sum of the largest.
        low, high = (np.broadcast_to(end, slope.shape) for end in _box_ends(domain))
        extremes = [
            constant + end.sum(axis=1)
            for end in _quadratic_range(bend[:, None], slope, low, high)
        ]
        return _exact(np.abs(extremes).max(axis=0))
    # Only ‖θ‖ and q·θ enter: the extremes on a ball lie on the line through q.
    size = np.linalg.norm(slope, axis=1)
    unit = np.divide(
        slope, size[:, None], out=np.zeros_like(slope), where=size[:, None] > 0
    )
    unit[size == 0] = np.eye(slope.shape[1])[0]
    line = Quadratics(bend[:, None, None], size[:, None], constant)
    return _bracket(line, unit[:, None, :], block, loss, domain, np.zeros(1))


def _least_squares_variation(
    block: Block, loss: Loss, domain: Domain
) -> FunctionalVariation:
    """Of ½‖Aθ-b‖²: a quadratic on the span of the rows of two rounds."""
    A, b = least_squares_rows(block, loss)
    n = A.shape[2]
    center = _center(domain, n)
    rows = np.concatenate([A[1:], A[:-1]], axis=1)  # (T-1, 2m, n)
    target = np.concatenate([b[1:, :, 0], b[:-1, :, 0]], axis=1) - rows @ center
    sign = np.repeat([1.0, -1.0], A.shape[1])
    basis = np.broadcast_to(np.eye(n), (len(rows), n, n))
    if rows.shape[1] < n:
        basis = np.swapaxes(np.linalg.qr(np.swapaxes(rows, 1, 2))[0], 1, 2)
    map_of_z = rows @ np.swapaxes(basis, 1, 2)
    signed = sign[:, None] * map_of_z
    quadratics = Quadratics(
        np.swapaxes(map_of_z, 1, 2) @ signed,
        np.einsum("bmr,bm->br", signed, target),
        (sign * target**2).sum(axis=1) / 2,
    )
    return _bracket(quadratics, basis, block, loss, domain, center)


def _bracket(
    quadratics: Quadratics, basis: FloatArray, block: Block, loss: Loss,
    domain: Domain, center: FloatArray,
) -> FunctionalVariation:  # fmt: skip
    """Extremes on the ball around the domain; θ = center + zᵀ·basis, (B, r, n)."""
    radius = domain.radius
    if isinstance(domain, Box):
        low, high = _box_ends(domain)
        radius = max(float(np.linalg.norm(high - low)) / 2, MIN_RADIUS)
    maxima = [_maximise(part, radius) for part in (quadratics, quadratics.negate())]
    upper = np.maximum(maxima[0].upper, maxima[1].upper)
    if isinstance(domain, Ball):
        lower = np.maximum(maxima[0].lower, maxima[1].lower)
        return FunctionalVariation(lower, np.maximum(upper, lower))
    points = [center + np.einsum("br,brn->bn", m.point, basis) for m in maxima]
    lower = _largest_change(points, block, loss, domain)
    return FunctionalVariation(lower, np.maximum(upper, lower))


def _maximise(quadratics: Quadratics, radius: float) -> Maximum:
    """The maximum of each quadratic over ‖z‖ ≤ D: a trust-region problem.

    By the S-lemma it is min ½λD² + ½Σ β²/(λ-μ) + c over λ ≥ max{0, μ_1}, where μ are
    the eigenvalues of M and β the coordinates of -q: every such λ bounds it from above.
    The minimum is where z = β/(λ-μ) has length D, or at the end.
    """
    mu, vectors = np.linalg.eigh(quadratics.curvature)  # ascending
    beta = -np.einsum("bij,bi->bj", vectors, quadratics.slope)
    least = np.maximum(mu[:, -1], 0.0)
    below, above = np.zeros(len(mu)), np.linalg.norm(beta, axis=1) / radius
    gap = least[:, None] - mu
    for _ in range(BISECTIONS):
        middle = (below + above) / 2
        length = np.linalg.norm(_divide(beta, gap + middle[:, None]), axis=1)
        inside = length <= radius
        above = np.where(inside, middle, above)
        below = np.where(inside, below, middle)
    z = _divide(beta, gap + above[:, None])
    spread = _divide(beta**2, gap + above[:, None]).sum(axis=1)
    upper = ((least + above) * radius**2 + spread) / 2 + quadratics.constant
    # Where λ is at its end, the way to the sphere along the top eigenvector is free.
    rest = np.maximum(radius**2 - (z**2).sum(axis=1), 0.0)
    filled = z.copy()
    filled[:, -1] += np.where(z[:, -1] < 0, -1, 1) * (
        np.sqrt(rest + z[:, -1] ** 2) - np.abs(z[:, -1])
    )
    points = [np.einsum("bij,bj->bi", vectors, point) for point in (z, filled)]
    values = [quadratics.value(point) for point in points]
    better = values[1] > values[0]
    point = np.where(better[:, None], points[1], points[0])
    return Maximum(point, np.maximum(*values), upper)


def _divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """The quotient, 0 where the numerator is."""
    out = np.zeros_like(numerator)
    np.divide(numerator, denominator, out=out, where=numerator != 0)
    return out


def _box_extremes(block: Block, domain: Box) -> FloatArray:
    """sup|½w(x·θ-y)² - ½w′(x′·θ-y′)²| over a box, each.

    Only (x·θ, x′·θ) enters, and of a box that is a polygon, a zonotope. The change is
    convex in the one and concave in the other, so that its extremes lie on the edges.
    """
    low, high = _box_ends(domain)
    x, y = np.asarray(block.x, np.float64), np.asarray(block.y, np.float64)
    pairs = np.stack([x[1:], x[:-1]], axis=2)  # (T-1, n, 2)
    edges = pairs * (high - low)[:, None]
    # From the lowest vertex the edges go round by their angle; the way back mirrors it.
    flip = (edges[..., 1] < 0) | ((edges[..., 1] == 0) & (edges[..., 0] < 0))
    edges = np.where(flip[..., None], -edges, edges)
    order = np.argsort(np.arctan2(edges[..., 1], edges[..., 0]), axis=1)
    edges = np.take_along_axis(edges, order[..., None], axis=1)
    middle = np.einsum("bni,n->bi", pairs, (low + high) / 2)
    first = middle - edges.sum(axis=1) / 2
    starts = first[:, None] + np.cumsum(edges, axis=1) - edges
    starts = np.concatenate([starts, 2 * middle[:, None] - starts], axis=1)
    edges = np.concatenate([edges, -edges], axis=1)  # (T-1, 2n, 2)
    weight = block.weights
    signed = np.stack([weight[1:], -weight[:-1]], axis=1)[:, None]
    residual = starts - np.stack([y[1:], y[:-1]], axis=1)[:, None]
    # On an edge the change is ½as² - bs + c, for s from 0 to 1.
    bend = (signed * edges**2).sum(axis=2)
    slope = -(signed * edges * residual).sum(axis=2)
    constant = (signed * residual**2).sum(axis=2) / 2
    ends = _quadratic_range(bend, slope, np.zeros_like(bend), np.ones_like(bend))
    return np.asarray(np.abs([constant + end for end in ends]).max(axis=(0, 2)))


def _quadratic_range(
    bend: FloatArray, slope: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The least and the greatest ½as² - bs for low ≤ s ≤ high, elementwise."""
    flat = bend == 0
    best = slope / np.where(flat, 1.0, bend)
    best = np.clip(np.where(flat, low, best), low, high)
    values = [s * (bend * s / 2 - slope) for s in (low, high, best)]
    return np.min(values, axis=0), np.max(values, axis=0)


def _linear_loss_variation(
    block: Block, loss: LinearLoss, domain: Domain
) -> FunctionalVariation:
    """Of φ(x·θ, y): no change is larger than the ranges of both losses allow."""
    x, y = np.asarray(block.x, np.float64), np.asarray(block.y, np.float64)
    low, high = -domain.support(-x), domain.support(x)
    most = np.maximum(loss.phi(low, y), loss.phi(high, y)) * block.weights
    least = _lower_end(loss, low, high, y) * block.weights
    upper = np.maximum(most[1:] - least[:-1], most[:-1] - least[1:])
    size = np.linalg.norm(x, axis=1, keepdims=True)
    # Far out along ±x the nearest point of the domain is almost extreme.
    far = 1e6 * max(1.0, domain.radius) * _divide(x, np.where(size > 0, size, 1.0))
    points = [side * far[at] for side in (1, -1) for at in (slice(1, None), slice(-1))]
    points.append(np.zeros_like(far[1:]))
    lower = _largest_change(points, block, loss, domain)
    return FunctionalVariation(lower, np.maximum(upper, lower))


def _lower_end(
    loss: LinearLoss, low: FloatArray, high: FloatArray, y: FloatArray
) -> FloatArray:
    """A lower bound on φ between low and high: where two tangents meet."""
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        rises = loss.slope(middle, y) > 0
        low, high = np.where(rises, low, middle), np.where(rises, middle, high)
    drop = np.maximum(-loss.slope(low, y), 0.0) * (high - low)
    return np.asarray(loss.phi(low, y) - drop)


def _largest_change(
    points: list[FloatArray], block: Block, loss: Loss, domain: Domain
) -> FloatArray:
    """The largest |f_t - f_{t-1}| at the nearest points of the domain, (T-1,)."""
    largest = np.zeros(len(block) - 1)
    for candidates in points:
        inside = np.array([domain.project(point) for point in candidates])
        inside = inside.reshape(candidates.shape)
        after = comparator_losses(block[1:], loss, inside)
        before = comparator_losses(block[:-1], loss, inside)
        largest = np.maximum(largest, np.abs(after - before))
    return largest


def _box_ends(domain: Box) -> tuple[FloatArray, FloatArray]:
    return np.asarray(domain.low, np.float64), np.asarray(domain.high, np.float64)


def _center(domain: Domain, n: int) -> FloatArray:
    """The centre of the ball that is put around the domain."""
    if isinstance(domain, Box):
        low, high = _box_ends(domain)
        return np.asarray((low + high) / 2)
    return np.zeros(n)
