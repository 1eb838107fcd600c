"""Discounted online Newton: Algorithm 1, quasi-Newton and full Newton."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from thalweg import checks
from thalweg.domains import Ball, Domain
from thalweg.errors import InvalidParameterError, UnsupportedLossError
from thalweg.kernels import ud_factor as factors
from thalweg.kernels.newton import MAX_GRADIENT_EXPONENT, newton
from thalweg.kernels.ud_factor import forget, learn, solve
from thalweg.kernels.windup import cap_covariance
from thalweg.learners.base import Learner
from thalweg.learners.feature_changes import FeatureChange, move_into
from thalweg.learners.kernel_arrays import KernelArrays
from thalweg.losses import Constants, LinearLoss, Loss, Round
from thalweg.losses.base import inverse
from thalweg.types import Block, FloatArray, Trace

Curvature = Literal["gradient", "hessian"]


class NewtonState(NamedTuple):
    """The state of discounted Newton."""

    theta: FloatArray  # (n,) θ_t
    factor: FloatArray  # (n+3, n) the factors of P_{t-1}, packed: kernels/ud_factor.py

    @property
    def information(self) -> FloatArray:
        """P_{t-1}, shape (n, n)."""
        return np.asarray(factors.information(self.factor))

    @property
    def covariance(self) -> FloatArray:
        """The inverse of P_{t-1}, shape (n, n)."""
        return np.asarray(factors.covariance(self.factor))


# A file of another layout of the UD factor is refused.
NewtonState.layout_version = factors.LAYOUT.version  # type: ignore[attr-defined]


@dataclass(frozen=True)
class DiscountedNewton(Learner[NewtonState]):
    r"""Newton steps on a discounted curvature: Yuan & Lamperski (2020), Algorithm 1.

    Also known as: online Newton step with a forgetting factor.

    .. math:: P_t = \gamma P_{t-1} + \nabla_t \nabla_t^\top
              \quad\text{or}\quad P_t = \gamma P_{t-1} + H_t, \qquad
              \theta_{t+1} = \Pi_S^{P_t}(\theta_t - \tfrac1\eta P_t^{-1} \nabla_t)

    ``discount`` is γ in (0, 1]. ``newton_step`` is 1/η > 0. ``ridge`` is ε > 0 in
    P_0 = εI. ``curvature`` chooses quasi-Newton (``"gradient"``) or full Newton
    (``"hessian"``). Π is the nearest point of ``domain`` in the norm of P_t.
    ``quadratic_only`` refuses losses that are not quadratic. ``from_theorem`` sets all
    of them as the three cases of Theorem 1 ask.

    Departure, against covariance windup: P stays above rounding in directions that
    nothing excites (kernels/windup.py).
    A step costs O(n²), also a full one where the Hessian has rank one, and O(n³) more
    when it leaves the domain.
    """

    discount: float = 0.99
    newton_step: float = 1.0
    ridge: float = 1.0
    curvature: Curvature = "gradient"
    domain: Domain = Ball(10.0)
    quadratic_only: bool = False

    def __post_init__(self) -> None:
        checks.require_type(self, "domain", Domain)
        checks.require_interval(self, "discount", "(0, 1]")
        checks.require_interval(self, "newton_step", "(0, inf)")
        checks.require_interval(self, "ridge", "(0, inf)")
        checks.require_choice(self, "curvature", get_args(Curvature))
        checks.require_choice(self, "quadratic_only", (False, True))

    @classmethod
    def from_theorem(
        cls, case: int, constants: Constants, domain: Domain, discount: float,
        ridge: float = 1.0,
    ) -> "DiscountedNewton":  # fmt: skip
        """Theorem 1's settings: case 1 exp-concave, 2 strongly convex, 3 quadratic.

        η is ½min{1/(4GD), α}, ℓ/u and 1. The theorem is stated for ε = ``ridge`` = 1.
        Constants do not show whether a loss is quadratic; in case 3 that is checked
        when it is played.
        """
        ell, u, alpha, G = constants
        eta = {
            1: 0.5 * min(inverse(4 * G * domain.radius), alpha),
            2: ell * inverse(u),
            3: 1.0,
        }.get(case, 0.0)
        if not 0 < eta < np.inf:
            raise InvalidParameterError(
                f"Theorem 1 has cases 1, 2 and 3, each with η > 0. Got case {case!r} "
                f"with η = {eta} from {constants!r} instead."
            )
        kind: Curvature = "gradient" if case == 1 else "hessian"
        return cls(discount, 1 / eta, ridge, kind, domain, quadratic_only=case == 3)

    def init(self, theta: Any) -> NewtonState:
        theta = checks.check_start(self, theta, ndim=(1,))
        checks.require_start_in_domain(self, self.domain, theta)
        checks.require_ridge_in_range(self, theta)
        return NewtonState(theta, factors.prior(self.ridge, theta))

    def check_loss(self, loss: Loss) -> None:
        super().check_loss(loss)
        if self.quadratic_only and not loss.is_quadratic:
            raise UnsupportedLossError(
                "DiscountedNewton as case 3 of Theorem 1 sets it learns from quadratic "
                f"losses, those with is_quadratic. Got {loss!r} instead."
            )

    def update(self, state: NewtonState, f: Round) -> NewtonState:
        f = self.check_round(state, f)
        theta, factor = state.theta, state.factor.copy()
        quasi = self.curvature == "gradient"
        grad = limit_gradient(f.grad(theta)) if quasi else f.grad(theta)
        forget(factor, self.discount**f.elapsed)
        rows = grad[None] if quasi else f.hess_root(theta)
        step = learn_and_solve(factor, rows, grad)
        point = theta - self.newton_step * step
        cap_covariance(factor, *np.empty((2, theta.size), theta.dtype))
        return NewtonState(self._project(point, factor), factor)

    def _change_features(
        self, state: NewtonState, change: FeatureChange
    ) -> NewtonState:
        theta = move_into(self.domain, change.apply(state.theta))
        return NewtonState(theta, change.apply_to_factor(state.factor, self.ridge))

    def _project(self, point: FloatArray, factor: FloatArray) -> FloatArray:
        if self.domain.contains(point):
            return point
        return self.domain.project_in(point, scaled_information(factor)).point

    def has_compiled_run(self, loss: Loss, theta: FloatArray) -> bool:
        # The fast path is the kernel, for losses with a code in kernels/losses.py and
        # domains with ``limits``; the slow path is ``update``, round by round.
        linear = isinstance(loss, LinearLoss) and loss.has_kernel
        return linear and self.domain.limits(theta) is not None

    def _play(
        self, state: NewtonState, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[NewtonState, Trace]:
        limits = self.domain.limits(state.theta)
        if limits is None or not (isinstance(loss, LinearLoss) and loss.has_kernel):
            return super()._play(state, loss, block, record)
        theta, factor = state.theta.copy(), state.factor.copy()
        arrays = KernelArrays.from_block(theta, block, record)
        gamma, newton_step, full = self._kernel_settings
        t = 0
        while t < len(block):
            t = newton(
                theta, factor, gamma, newton_step, full,
                loss.code, loss.shape_parameter, *limits, *arrays, t,
            )  # fmt: skip
            theta[:] = self._project(theta, factor)
        return NewtonState(theta, factor), arrays.trace()

    @property
    def _kernel_settings(self) -> tuple[float, float, bool]:
        return (
            float(self.discount), float(self.newton_step), self.curvature == "hessian"
        )  # fmt: skip


def limit_gradient(grad: FloatArray) -> FloatArray:
    """The gradient, scaled down where its square would overflow.

    An infinite entry counts as the largest number, and NaN as 0.
    """
    limit = np.finfo(grad.dtype).max ** MAX_GRADIENT_EXPONENT
    size = np.abs(grad).max()
    if size <= limit:
        return grad
    finite = np.nan_to_num(grad, nan=0.0)
    size = np.abs(finite).max()
    return finite * grad.dtype.type(limit / size) if size > limit else finite


def scaled_information(factor: FloatArray) -> FloatArray:
    """P in a unit in which its largest entry is 1.

    The nearest point does not change with the unit of P, which may be extreme.
    """
    n, tiny = factor.shape[1], np.finfo(factor.dtype).tiny
    with np.errstate(over="ignore", invalid="ignore"):  # project_in takes any P
        if np.diagonal(factor).min() < tiny**0.5:
            factor = factor.copy()
            pivots = np.maximum(np.diagonal(factor), tiny)
            factor[range(n), range(n)] = pivots / pivots.min()
        information = factors.information(factor)
        return np.asarray(information / information.max())


def learn_and_solve(
    factor: FloatArray, rows: FloatArray, grad: FloatArray
) -> FloatArray:
    """P ← P + Σ vvᵀ over the rows v, in place; P⁻¹∇ for the new P is returned."""
    # Where P has almost vanished, its inverse is known only in directions learnt.
    # With ∇ = Σ r_i v_i, P⁻¹∇ is least squares of r on v, done row by row.
    r = np.linalg.lstsq(rows.T, grad)[0]
    step, gain = np.zeros_like(grad), np.empty_like(grad)
    for v, r_i in zip(rows, r, strict=True):
        learn(factor, v, gain)  # gain = P⁻¹v
        step += gain * (r_i - v @ step)
    rest = grad - rows.T @ r
    rounding = np.sqrt(np.finfo(grad.dtype).eps)
    with np.errstate(over="ignore"):  # an infinite norm leaves no rest
        has_rest = np.linalg.norm(rest) > rounding * np.linalg.norm(grad)
    if has_rest:
        solve(factor, rest, gain)
        step += gain
    return step
