"""Static regret, against a fixed point, and dynamic regret, against one that moves."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from thalweg import checks
from thalweg.domains import Domain
from thalweg.errors import StreamError, UnsupportedLossError
from thalweg.losses import (
    Functions,
    LinearLoss,
    LinearMap,
    Loss,
    SquaredError,
    Tracking,
)
from thalweg.regret.best_point import (
    EVERYWHERE,
    best_fixed_point,
    check_hindsight_block,
    comparator_losses,
    trace_losses,
)
from thalweg.types import Block, FloatArray, Trace


@dataclass(frozen=True, eq=False)
class Regret:
    """The loss of a trace beyond that of a comparator."""

    total: float  # Σ trace.loss - comparator_loss
    comparator: FloatArray  # (n,) or (n, k) a fixed point; (T, n) or (T, n, k) a path
    comparator_loss: float
    path_length: float  # V: 0 for a fixed point
    gap: float = 0.0  # the least possible comparator_loss may be this much lower


def static(
    trace: Trace, block: Block, loss: Loss, domain: Domain = EVERYWHERE
) -> Regret:
    """Σ f_t(θ_t) - min Σ f_t(θ) over the domain.

    The trace may be any forecaster's; ``domain`` binds the comparator alone. For
    squared losses the minimum is exact up to rounding, for others Newton's steps end
    at a gap of about rounding, certified on a bounded domain, or raise above 1e-8.
    """
    block = check_hindsight_block(block, loss)
    total = float(trace_losses(trace, block).sum())
    point, gap = best_fixed_point(block, loss, domain)
    points = np.broadcast_to(point, (len(block), *point.shape))
    comparator_loss = float(comparator_losses(block, loss, points).sum())
    return Regret(total - comparator_loss, point, comparator_loss, 0.0, gap)


MAX_STEP_RATIO = 1e12
"""Limit of a step in units of the first: such a step has reached the domain's face."""


@dataclass(frozen=True, eq=False)
class Minimisers:
    """A minimiser θ*_t of every round's loss."""

    points: FloatArray  # (T, n)
    path_length: float  # V*
    selection: str  # which minimiser, where a round has several


def path_length(sequence: Any) -> float:
    """V = Σ ‖z_t - z_{t-1}‖ over t ≥ 2, for points of any shape."""
    points = np.asarray(sequence, np.float64)
    moves = np.diff(points.reshape(len(points), -1), axis=0)
    return float(np.linalg.norm(moves, axis=1).sum())


def dynamic(trace: Trace, block: Block, loss: Loss, comparator: Any) -> Regret:
    """Σ f_t(θ_t) - f_t(z_t) for a sequence z, (T, n), or (T, n, k) for k targets.

    ``minimisers(block, loss, domain).points`` gives the regret that the paper writes
    R*_d; ``best_path(...).theta`` the most that any path of its length can give.
    """
    block = check_hindsight_block(block, loss)
    points = np.asarray(checks.check_numbers("comparator", comparator), np.float64)
    several = np.shape(block.y)[1:] if isinstance(loss, SquaredError) else ()
    size = np.shape(block.y if block.x is None else block.x)[-1]
    shape = (len(block), size, *several)
    fits = isinstance(loss, Functions) or points.shape == shape
    if points.shape[:1] != (len(block),) or not fits or not np.isfinite(points).all():
        raise StreamError(
            f"A comparator needs one finite point a round, shape {shape}. "
            f"Got shape {points.shape}."
        )
    comparator_loss = float(comparator_losses(block, loss, points).sum())
    total = float(trace_losses(trace, block).sum()) - comparator_loss
    return Regret(total, points, comparator_loss, path_length(points))


def minimisers(block: Block, loss: Loss, domain: Domain = EVERYWHERE) -> Minimisers:
    """A point of the domain with the least f_t, for every t, and their path length V*.

    The paper leaves V* open where a round has many minimisers, as regression with more
    than one feature has (erratum E14). Here each is then the one nearest to the one
    before, and the first the nearest to the domain's point nearest to the origin:
    Kaczmarz's projections, which need not give the shortest path.
    """
    block = check_hindsight_block(block, loss)
    if isinstance(loss, Tracking):
        y = np.asarray(block.y, np.float64)
        points = np.array([domain.project(target) for target in y])
        return Minimisers(points, path_length(points), "unique")
    if np.ndim(block.y) == 2 and isinstance(loss, SquaredError):
        raise UnsupportedLossError("Minimisers are found for one target a round.")
    size = np.shape(block.x)[-1] if block.x is not None else domain.dimension or 1
    domain = domain.in_dimension(size)
    z = domain.project(np.zeros(size))
    points = np.empty((len(block), size))
    for t in range(len(block)):
        z = _nearest_minimiser(z, block[t : t + 1], loss, domain)
        points[t] = z
    return Minimisers(points, path_length(points), "nearest to the one before")


def _nearest_minimiser(
    z: FloatArray, one_round: Block, loss: Loss, domain: Domain
) -> FloatArray:
    """The minimiser of one round that is nearest to z."""
    if one_round.weight is not None and one_round.weight[0] == 0:
        return z
    if isinstance(loss, LinearLoss) and loss.rank_one:
        best = loss.best_prediction(one_round.y[0])
        if best is not None:
            x = np.asarray(one_round.x[0], np.float64)
            return _nearest_level_point(z, x, best, domain)
    if isinstance(loss, LinearMap):
        A = np.asarray(one_round.x[0], np.float64)
        point = z + np.linalg.lstsq(A, one_round.y[0] - A @ z)[0]
        if domain.contains(point):
            return np.asarray(point)
    return best_fixed_point(one_round, loss, domain, start=z).point


def _nearest_level_point(
    z: FloatArray, x: FloatArray, best: float, domain: Domain
) -> FloatArray:
    """The point of the domain nearest to z among those with x·θ nearest to ``best``.

    It is Π(z - λx) for the one λ at which x·Π(z - λx), which falls as λ grows, is
    ``best``, or for λ → ±∞ where the domain does not reach that far.
    """
    energy = float(x @ x)
    step = (float(x @ z) - best) / energy if energy else 0.0
    if step == 0:
        return z
    side = np.sign(step)
    if np.isinf(step):
        if np.isinf(domain.radius):
            raise UnsupportedLossError(f"A round has no minimiser in {domain!r}.")
        step = side * domain.radius / np.sqrt(energy)
    elif domain.contains(z - step * x):
        return z - step * x

    def short_of_best(multiple: float) -> float:
        return float(side * (x @ domain.project(z - multiple * step * x) - best))

    far = 1.0
    while short_of_best(far) > 0 and far < MAX_STEP_RATIO:
        far *= 4
    if far < MAX_STEP_RATIO:
        far = brentq(short_of_best, 0.0, far, xtol=1e-300, rtol=1e-15, maxiter=500)
    return domain.project(z - far * step * x)
