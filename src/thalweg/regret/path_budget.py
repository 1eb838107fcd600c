"""The best path of a given length in hindsight, with a proof of how good it is."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError, UnsupportedLossError
from thalweg.kernels.hindsight import fused_lasso, riccati
from thalweg.losses import SquaredError
from thalweg.types import Block, FloatArray

TOLERANCE = 1e-6
"""The relative gap between loss and lower bound at which a solve ends."""
COLLINEAR_TOLERANCE = 1e-13
"""Minimum singular value relative to the largest, with columns of length 1: smaller
ones are rounding."""
TERMINAL_WEIGHT = 1e10
"""κ = 1e10·T·(XᵀX)⁺ closes the dual path; 1e4 leaves it open if |x_t| varies a lot."""
MAX_SCALE = 1.5
"""Limit of the certificate's scalar, which is 1 at the optimum and may explode by
rounding."""
ROUNDING = 1e-13
"""The rounding error of a sum of many terms, relative to the sum of their sizes."""
MAX_NEWTON_STEPS = 80
"""Limit of the number of Newton steps; 10 to 40 are usual."""


@dataclass(frozen=True, eq=False)
class HindsightPath:
    """A path no longer than its budget, and a lower bound on the loss of such paths."""

    theta: FloatArray  # (T, n)
    loss: float  # the loss of theta: an upper bound on the least loss
    lower: float  # a lower bound on the loss of every path within the budget
    path_length: float  # Σ‖θ_{t+1} - θ_t‖, at most the budget
    price: float  # λ: what one more unit of path is worth
    budget: float  # V

    @property
    def gap(self) -> float:
        """(loss - lower) / loss: how far from proven optimal; 1 says nothing is."""
        return (self.loss - self.lower) / self.loss if self.loss else 0.0

    def merge(self, other: "HindsightPath") -> "HindsightPath":
        """The better path of the two with the better bound of the two."""
        path = min(self, other, key=lambda each: each.loss)
        bound = max(self, other, key=lambda each: each.lower)
        return replace(path, lower=bound.lower, price=bound.price)

    def lower_at(self, path_length: Any) -> Any:
        """A lower bound for other budgets too: the line through this one, slope -λ."""
        less = self.budget - path_length if self.price else np.zeros_like(path_length)
        return self.lower + self.price * less


def best_path(block: Block, loss: Any, path_length: float) -> HindsightPath:
    r"""The sequence of points with the least total loss among those of length V.

    .. math:: \min \sum_t ½ w_t (y_t - x_t·θ_t)^2, \quad \sum_t ‖θ_{t+1} - θ_t‖ ≤ V

    ``path_length`` is V in [0, ∞]. V = 0 gives the best fixed point. Squared error with
    one target only; weights enter as √w x and √w y. Features within 1e-13 of collinear
    count as collinear. For n = 1 the path is exact to rounding; for n > 1 an
    interior-point method ends at a gap of 1e-6, or says what gap it reached: where the
    least loss is below a thousandth of the best fixed point's, that may be more.
    """
    if not (isinstance(path_length, int | float | np.number) and path_length >= 0):
        raise InvalidParameterError(
            "The 'path_length' parameter of best_path must be in [0, inf]. "
            f"Got {path_length!r} instead."
        )
    return PathSolver(block, loss).solve(float(path_length))


class PathSolver:
    """Solves for the best path of a block, measured from its best fixed point θ̂.

    Its arrays are in units, powers of two, in which the largest |x| and |y| are near
    1; ``y`` is the residual of θ̂, so that loss* ≪ ½‖y‖² is not lost to rounding.
    """

    def __init__(self, block: Block, loss: Any) -> None:
        x, y = _weighted_rows(block, loss)
        unit_x, self.unit_y = _power_of_two(x), _power_of_two(y)
        self.unit_theta = self.unit_y / unit_x
        self.x, self.target = x / unit_x, y / self.unit_y
        self.featureless = _squared_norms(self.x) == 0  # no θ makes a difference there
        q, triangle = np.linalg.qr(self.x)
        left, inverse = _column_space(triangle)
        self.basis = np.where(self.featureless[:, None], 0.0, q @ left)
        self.theta = inverse @ (self.basis.T @ self.target)
        self.theta += inverse @ (self.basis.T @ (self.target - self.x @ self.theta))
        self.y = self.target - self.x @ self.theta
        size = np.abs(self.target) + np.abs(self.x) @ np.abs(self.theta)
        self.noise = 4 * np.finfo(float).eps * size  # in y, from the subtraction
        self.axes, self.kappa = _principal_axes(triangle, TERMINAL_WEIGHT * len(y))

    @property
    def floor(self) -> float:
        """The loss that no path can go below."""
        return float(self.unit_y**2 * 0.5 * np.sum(self.target[self.featureless] ** 2))

    def solve(self, budget: float, tolerance: float = TOLERANCE) -> HindsightPath:
        """The best path of at most this length."""
        V, through = budget / self.unit_theta, self._interpolating_path()
        dual_norm = _max_dual_norm(self.x, self.y)
        best = self._certify(np.zeros_like(self.x), self.y, V)
        is_rounding = np.linalg.norm(self.y) <= np.linalg.norm(self.noise)
        if V == 0 or is_rounding or dual_norm <= ROUNDING * np.abs(self.y).sum():
            return best
        if V >= _path_length(through):
            return self._certify(through, np.where(self.featureless, self.y, 0.0), V)
        if self.x.shape[1] == 1:
            best = self._solve_scalar(V, dual_norm)
            if best.gap <= tolerance:
                return best
        return self._solve_interior_point(V, best, dual_norm, tolerance)

    def _interpolating_path(self) -> FloatArray:
        """A path that leaves no error, through the point nearest θ̂ in each round."""
        square = np.where(
            self.featureless, 1.0, np.maximum(_squared_norms(self.x), 1e-300)
        )
        return _fill_unseen(self.x * (self.y / square)[:, None], ~self.featureless)

    def _solve_scalar(self, V: float, dual_norm: float) -> HindsightPath:
        """The exact path for n = 1: a fused lasso (total variation) over all rounds."""
        seen, z = ~self.featureless, np.zeros_like(self.x)
        z[seen, 0] = fused_lasso.best_path(self.x[seen, 0], self.y[seen], V, dual_norm)
        path = _fill_unseen(z, seen)
        return self._certify(path, self.y - (self.x * path)[:, 0], V)

    def _solve_interior_point(
        self, V: float, best: HindsightPath, dual_norm: float, tol: float
    ) -> HindsightPath:
        """The path for n > 1: Newton steps until the certificate closes the gap."""
        # Turned so that a weak direction is a coordinate of its own, and its large
        # entry of κ leaves the others alone. Lengths of paths do not change.
        x, y, r = self.x @ self.axes, self.y, self._project_dual(self.y)
        it = riccati.initial_iterate(r, np.cumsum(x * r[:, None], axis=0), V)
        price, slow = 1.5 * dual_norm, 0
        min_size = 0.5e-8 * (y @ y)  # a gap relative to less is all rounding
        for step in range(MAX_NEWTON_STEPS):
            price, length, gap = riccati.newton_step(x, y, self.kappa, V, price, it)
            slow = slow + 1 if length < 0.1 else 0
            stuck = length < 1e-9 or slow > 4 or step == MAX_NEWTON_STEPS - 1
            size = max(0.5 * (it.r @ it.r), min_size)
            if stuck or gap < 1.5 * tol * size:
                best = best.merge(self._certify(it.z @ self.axes.T, it.r, V))
                gap_left = (best.loss - best.lower) / self.unit_y**2
                if stuck or gap_left < tol * size or gap < 1e-4 * tol * size:
                    break
        return best

    def _project_dual(self, r: FloatArray) -> FloatArray:
        """The part of r with Xᵀr = 0, projected twice.

        Once would leave rounding, which collinear features blow up.
        """
        once = r - self.basis @ (self.basis.T @ r)
        return np.asarray(once - self.basis @ (self.basis.T @ once))

    def _shrink_to_budget(self, V: float, z: FloatArray) -> FloatArray:
        """θ̂ + z, with z shrunk until no rounding makes the path longer than V."""
        for _ in range(5):
            length = _path_length(self.theta + z)
            if length <= V:
                return np.asarray(self.theta + z)
            z = z * (V / length * (1 - 1e-14))
        return np.asarray(self.theta + 0 * z)

    def _certify(self, z: FloatArray, r: FloatArray, V: float) -> HindsightPath:
        """The path θ̂ + z, with a lower bound from the dual point r.

        For any r with Xᵀr = 0 and S_t = Σ_{s≤t} x_s r_s, no path of length V has a loss
        below r·y - ½‖r‖² - V max‖S_t‖; nor for cr in the place of r, with the best c.
        """
        r = self._project_dual(r)
        dual_norm, rr = _max_dual_norm(self.x, r), r @ r
        path_cost = V * dual_norm if dual_norm else 0.0  # V may be infinite
        slope, lower, scale = r @ self.y - path_cost, 0.0, 0.0
        if slope > 0:
            c = min(MAX_SCALE, slope / rr)
            sums = np.abs(r) @ np.abs(self.y) + path_cost + rr
            rounding = np.abs(r) @ self.noise + ROUNDING * sums
            value = c * (slope - 0.5 * c * rr - rounding)
            lower, scale = (value, c) if value > 0 else (0.0, 0.0)
        theta = self._shrink_to_budget(V, z)
        error = self.target - np.einsum("ti,ti->t", self.x, theta)
        return HindsightPath(
            theta=theta * self.unit_theta,
            loss=float(0.5 * (error @ error) * self.unit_y**2),
            lower=float(lower * self.unit_y**2),
            path_length=_path_length(theta) * self.unit_theta,
            price=float(scale * dual_norm * self.unit_y**2 / self.unit_theta),
            budget=V * self.unit_theta,
        )


def _weighted_rows(block: Block, loss: Any) -> tuple[FloatArray, FloatArray]:
    """√w x and √w y of a valid block."""
    if type(loss) is not SquaredError:
        raise UnsupportedLossError(
            f"A path budget needs SquaredError and one target. Got {loss!r} instead."
        )
    x: Any = getattr(block, "x", None)
    n = np.shape(x)[1] if np.ndim(x) == 2 else 1
    block = checks.check_block(block, loss, np.zeros(max(n, 1)))
    root = np.sqrt(np.ones(len(block)) if block.weight is None else block.weight)
    return root[:, None] * block.x, root * block.y


def _power_of_two(values: FloatArray) -> float:
    """The power of two next below the largest size: dividing by it loses nothing."""
    largest = np.abs(values).max()
    return float(2.0 ** np.floor(np.log2(largest))) if largest else 1.0


def _column_space(triangle: FloatArray) -> tuple[FloatArray, FloatArray]:
    """U and B for x = QR, R the ``triangle``: QU an orthonormal basis of x, xB = QU."""
    columns = np.sqrt(_squared_norms(triangle.T))
    columns[columns == 0] = 1.0  # so that units of single features do not matter
    left, singular, right = np.linalg.svd(triangle / columns, full_matrices=False)
    rank = singular > COLLINEAR_TOLERANCE * singular[0]
    return left[:, rank], (right[rank].T / singular[rank]) / columns[:, None]


def _principal_axes(triangle: FloatArray, size: float) -> tuple[FloatArray, FloatArray]:
    """The principal axes of x = QR, and size·(XᵀX)⁺ in them."""
    _, singular, right = np.linalg.svd(triangle)
    positive = singular[singular > COLLINEAR_TOLERANCE * singular[0]]
    diagonal = np.pad(size / positive**2, (0, len(right) - len(positive)))
    return np.ascontiguousarray(right.T), np.diag(diagonal)


def _max_dual_norm(x: FloatArray, r: FloatArray) -> float:
    """max over t < T of ‖S_t‖, S_t = Σ_{s≤t} x_s r_s."""
    S = np.cumsum(x * r[:, None], axis=0)[:-1]
    return float(np.sqrt(_squared_norms(S).max(initial=0.0)))


def _path_length(path: FloatArray) -> float:
    """Σ‖z_{t+1} - z_t‖."""
    return float(np.sqrt(_squared_norms(np.diff(path, axis=0))).sum())


def _squared_norms(rows: FloatArray) -> FloatArray:
    """‖row‖² of each row."""
    return np.asarray(np.einsum("ti,ti->t", rows, rows))


def _fill_unseen(path: FloatArray, seen: FloatArray) -> FloatArray:
    """The path with each unseen round at the point before it, or the first after."""
    last = np.maximum.accumulate(np.where(seen, np.arange(len(path)), 0))
    return path[np.maximum(last, np.argmax(seen))]
