"""Comparators in hindsight: their losses, and the best fixed point of a block."""

from typing import Any, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.domains import Domain, Everywhere
from thalweg.errors import (
    InvalidParameterError,
    StreamError,
    ThalwegError,
    UnsupportedLossError,
)
from thalweg.losses import LinearLoss, LinearMap, Loss, Round, SquaredError, Tracking
from thalweg.types import Block, FloatArray, Trace

QUADRATIC = (SquaredError, LinearMap, Tracking)
"""The losses that are ½‖Aθ - b‖² in every round."""


def check_hindsight_block(block: Block, loss: Loss) -> Block:
    """The block as finite arrays of the shapes ``loss`` declares; no θ is needed."""
    if not isinstance(block, Block):
        kind = type(block).__name__
        raise StreamError(f"Regret is measured on a Block of rounds. Got a {kind}.")
    shape: tuple[int, ...] = np.shape(block.y)[1:] or (1,)
    if block.x is not None:
        several = isinstance(loss, SquaredError) and np.ndim(block.y) == 2
        shape = (*np.shape(block.x)[-1:], *(shape if several else ()))
    return checks.check_block(block, loss, np.zeros(shape))


def trace_losses(trace: Trace, block: Block) -> FloatArray:
    """The loss of the trace in each round of the block, as float64."""
    losses = np.asarray(trace.loss, np.float64)
    if losses.shape != (len(block),):
        raise StreamError(
            f"A trace needs one loss a round. Got shape {losses.shape} for "
            f"{len(block)} rounds."
        )
    if not np.isfinite(losses).all():
        worst = int(np.isfinite(losses).argmin())
        raise StreamError(
            f"A trace needs finite losses. Round {worst} has {losses[worst]}."
        )
    return losses


def comparator_losses(block: Block, loss: Loss, points: Any) -> FloatArray:
    """The weighted loss of one point a round, (T, n) or (T, n, k): shape (T,)."""
    points = np.asarray(points, np.float64)
    try:
        bare = loss.prediction_loss(_predictions(block, points), np.asarray(block.y))
    except UnsupportedLossError:  # a loss of θ itself, or of Python functions
        rounds = zip(block.rounds(), points, strict=True)
        return np.array([Round(loss, *f).value(z) for f, z in rounds])
    return np.asarray(block.weights * bare)


def least_squares_rows(block: Block, loss: Loss) -> tuple[FloatArray, FloatArray]:
    """A (T, m, n) and b (T, m, k) with round t's loss ½‖A_tθ - b_t‖².

    θ is (n, k) with k = 1 but for several targets. ``Tracking`` has the one feature 1,
    and the coordinates of its point are k targets.
    """
    if not isinstance(loss, QUADRATIC):
        names = ", ".join(kind.__name__ for kind in QUADRATIC)
        raise UnsupportedLossError(f"This needs one of {names}. Got {loss!r} instead.")
    y = np.asarray(block.y, np.float64)
    if isinstance(loss, Tracking):
        A, b = np.ones((len(y), 1, 1)), y[:, None, :]
    elif isinstance(loss, LinearMap):
        A, b = np.asarray(block.x, np.float64), y[:, :, None]
    else:
        A = np.asarray(block.x, np.float64)[:, None, :]
        b = y.reshape(len(y), 1, -1)
    root = np.sqrt(block.weights)[:, None, None]
    return root * A, root * b


def _predictions(block: Block, points: FloatArray) -> FloatArray:
    if block.x is None:
        return points
    x = np.asarray(block.x, np.float64)
    maps = "tmn,tn->tm" if x.ndim == 3 else "tn,tn...->t..."
    return np.asarray(np.einsum(maps, x, points))


EVERYWHERE: Domain = Everywhere()
"""The domain of a comparator unless a caller gives another."""
GAP_TARGET = 1e-16
"""Gap, relative to the first loss, at which Newton's steps end."""
MAX_GAP = 1e-8
"""Limit of the gap of the last point, relative to the first loss."""
DAMPING = 1e-10
"""The curvature added, relative to the mean, where a Hessian may be singular."""
MAX_NEWTON_STEPS = 300
"""Limit of the number of Newton steps; 5 to 30 are usual."""


class FixedPoint(NamedTuple):
    """A point, and by how much its loss can exceed the least."""

    point: FloatArray
    gap: float


class TotalLoss(NamedTuple):
    """F(θ) = Σ f_t(θ), the function the best fixed point minimises."""

    loss: Loss
    block: Block

    def value(self, theta: FloatArray) -> float:
        points = np.broadcast_to(theta, (len(self.block), *theta.shape))
        return float(comparator_losses(self.block, self.loss, points).sum())

    def derivatives(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """∇F(θ) and ∇²F(θ)."""
        if not isinstance(self.loss, LinearLoss):
            rounds = [Round(self.loss, *f) for f in self.block.rounds()]
            grads = [f.grad(theta) for f in rounds]
            hesses = [f.hess(theta) for f in rounds]
            return np.sum(grads, axis=0), np.sum(hesses, axis=0)
        loss, w = self.loss, self.block.weights
        x, y = np.asarray(self.block.x, np.float64), np.asarray(self.block.y)
        p = x @ theta
        # A round of zero features leaves of the loss only its penalty on θ.
        penalty = Round(loss, np.zeros_like(theta), y[0], float(w.sum()))
        grad = x.T @ (w * loss.slope(p, y)) + penalty.grad(theta)
        hess = (x.T * (w * loss.curvature(p, y))) @ x + penalty.hess(theta)
        return grad, hess


def best_fixed_point(
    block: Block, loss: Loss, domain: Domain, start: Any = None
) -> FixedPoint:
    """argmin Σ f_t over the domain, with its certified gap.

    Least squares by a factorisation, which takes features of any scale and rank, and
    where its solution lies outside, or for other losses, by Newton's steps, each the
    nearest point of the domain in the Hessian's norm, from ``start`` on.
    """
    if isinstance(loss, QUADRATIC) and start is None:
        start = _least_squares(block, loss)
        if isinstance(loss, Tracking):
            return FixedPoint(domain.project(start), 0.0)
        if start.ndim == 2 and domain != EVERYWHERE:
            raise InvalidParameterError(
                f"A domain constrains one target. Got {start.shape[1]} in {domain!r}."
            )
        if start.ndim == 2 or domain.contains(start):
            return FixedPoint(start, 0.0)
    if start is None:
        start = np.zeros(_dimension(block, domain))
    return _newton(TotalLoss(loss, block), domain, domain.project(start))


def _least_squares(block: Block, loss: Loss) -> FloatArray:
    A, b = least_squares_rows(block, loss)
    A, b = A.reshape(-1, A.shape[-1]), b.reshape(-1, b.shape[-1])
    # At equal lengths no column is taken for the rounding of another.
    length = np.linalg.norm(A, axis=0)
    length[length == 0] = 1.0
    solution = np.linalg.lstsq(A / length, b)[0] / length[:, None]
    several = isinstance(loss, SquaredError) and np.ndim(block.y) == 2
    return np.asarray(solution if several else solution.ravel())


def _newton(total: TotalLoss, domain: Domain, theta: FloatArray) -> FixedPoint:
    """Damped Newton steps (Levenberg & Marquardt) until the gap is closed.

    The damping makes a singular Hessian invertible, and the steps those of a proximal
    method, which need no unique minimiser. It grows whenever a step fails to descend.
    """
    value, damping, scale = total.value(theta), DAMPING, 0.0
    for _ in range(MAX_NEWTON_STEPS):
        grad, hess = total.derivatives(theta)
        scale = scale or abs(value) + float(np.linalg.norm(grad))
        gap = _gap(domain, theta, grad, theta - _step(grad, hess, DAMPING)[0])
        if gap <= GAP_TARGET * scale or damping > 1 / DAMPING:
            break
        step, damped = _step(grad, hess, damping)
        candidate = domain.project_in(theta - step, damped).point
        candidate_value = total.value(candidate)
        if candidate_value < value:
            theta, value = candidate, candidate_value
            damping = max(DAMPING, damping / 10)
        else:
            damping *= 10
    if not gap <= MAX_GAP * scale:
        raise ThalwegError(
            f"The best fixed point of {total.loss!r} was not found: after "
            f"{MAX_NEWTON_STEPS} steps its loss of {value} can be {gap} above the "
            "least."
        )
    return FixedPoint(theta, gap)


def _step(
    grad: FloatArray, hess: FloatArray, damping: float
) -> tuple[FloatArray, FloatArray]:
    """(H + dI)⁻¹∇ and H + dI, d the damping in units of H's mean curvature."""
    unit = float(np.trace(hess)) / grad.size or float(np.linalg.norm(grad)) or 1.0
    damped = hess + damping * unit * np.eye(grad.size)
    return np.linalg.solve(damped, grad), damped


def _gap(
    domain: Domain, theta: FloatArray, grad: FloatArray, newton: FloatArray
) -> float:
    """At least F(θ) - min F: the most that F's tangent plane falls on the domain.

    The plane lies below a convex F. Where the domain has no end the plane has none,
    and the model's own decrease ½∇·(θ - newton) has to do.
    """
    # A plane falls by nothing at its own point: a negative sum is rounding.
    fall = float(grad @ theta + domain.support(-grad[None])[0])
    return abs(fall if np.isfinite(fall) else 0.5 * float(grad @ (theta - newton)))


def _dimension(block: Block, domain: Domain) -> int:
    if block.x is not None:
        return int(np.shape(block.x)[-1])
    if domain.dimension is None:
        raise InvalidParameterError(
            f"The dimension shows in neither the block nor the domain {domain!r}. "
            "Give a domain that has one, such as a Box."
        )
    return domain.dimension
