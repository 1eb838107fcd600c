"""Recursive least squares: Yuan & Lamperski (2020), Alg. 1 and Thm. 1 case 3, η = 1."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg import checks, discounts
from thalweg.errors import InvalidParameterError
from thalweg.kernels import call_header, rls_live
from thalweg.kernels import ud_factor as factors
from thalweg.kernels.compiler.jit import entry_point
from thalweg.kernels.error_intervals import ERROR_WINDOW
from thalweg.kernels.rls import rls
from thalweg.kernels.rls_blocked.blocked import rls_blocked
from thalweg.kernels.ud_factor import drop_all_overflow, forget, learn
from thalweg.kernels.windup import cap_covariance, restore_ridge
from thalweg.learners.base import KernelCall, Learner, LiveBatch, LiveBuffer, RawState
from thalweg.learners.feature_changes import FeatureChange
from thalweg.learners.kernel_arrays import KernelArrays
from thalweg.learners.recent_errors import RecentErrors
from thalweg.losses import Loss, Round, SquaredError
from thalweg.types import Block, FloatArray, Trace


class RLSState(NamedTuple):
    """The state of recursive least squares."""

    theta: FloatArray  # (n,) or (n, k) θ_t
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
RLSState.layout_version = factors.LAYOUT.version  # type: ignore[attr-defined]


@dataclass(frozen=True, init=False)
class RecursiveLeastSquares(Learner[RLSState]):
    r"""Least squares in which a round ``k`` steps old weighs ``discount**k``.

    .. math:: P_t = \gamma P_{t-1} + x_t x_t^\top, \quad
              \theta_{t+1} = \theta_t - P_t^{-1} \nabla f_t(\theta_t)

    Also known as: exponentially weighted RLS, RLS with a forgetting factor λ (here γ);
    a Kalman filter whose state is a random walk with process noise (1/γ - 1)P_{t-1}⁻¹
    and measurement noise 1 (its texts write P for the covariance, which is P⁻¹ here).
    P_t⁻¹x_t is the gain, y_t - x_t·θ_t the innovation or a priori error. P⁻¹ is kept
    positive definite by Bierman-Thornton UD factors (kernels/ud_factor.py).

    ``discount`` is γ in (0, 1], by default 0.99; instead of it, ``half_life`` or
    ``window`` = 1/(1-γ) may be given, in rounds. ``ridge`` is ε ≥ 0 in P_0 = εI
    (regularisation): how strongly the start is held to; it is forgotten like the rest.
    With 0 there is no prior: exact least squares once n independent rows were seen,
    before that the fit nearest to the start. ``floor`` δ > 0 retains a ridge δI that is
    not forgotten, so that what is known of a feature that stays zero fades only so far;
    with ``leaky`` that retained ridge shrinks θ to zero as well (leaky RLS). θ may have
    shape (n, k): k targets then share one P. Rows that are m times too large are
    forgotten after about 2 ln(m)/(1-γ) rounds, labels alone in at most half that time.

    ``run(..., blocked=True)`` is for recorded data and n ≥ 32 or so: the same
    predictions to 1e-9 and better, several times faster (kernels/rls_blocked).

    Features may come and go. A new one (``add_features``) starts from θ = 0 and P = ε,
    as in ``init``, whatever was forgotten meanwhile: at γ = 1 that is the state of one
    that was zero in all rounds before, to the last bit; at γ < 1 the prior of such a
    one would have faded by now, and here it is fresh. Of those that go
    (``remove_features``) the covariance is marginalised, which is what zeros from now
    on would do (kernels/ud_marginal.py); with ε = 0 once all directions are learnt:
    until then θ may be another of the fits. With a ``floor`` both hold up to the order
    in which coordinates have their turn to get it back.

    Departure, against covariance windup: forgetting stops in a direction that has not
    been excited for so long that rounding would rule it: where C = P⁻¹ has C_kk size_k²
    above ε^(-3/4), which is 5·10¹¹ in float64, size_k being the recent size of feature
    k (kernels/windup.py). Features that differ by a millionth still give textbook RLS.

    Finite input gives finite output: |θ_i| is at most 1.3·10¹⁵¹ (1.8·10¹⁶ in float32),
    above every legal number, so that x·θ is finite whatever came before; losses count
    an error √w|y - x·θ| up to the same limit.
    """

    accepts: ClassVar = (SquaredError,)
    raw_layout: ClassVar[int | None] = factors.LAYOUT.version
    discount: float = 0.99
    ridge: float = 1.0
    floor: float | None = None
    leaky: bool = False

    def __init__(
        self, discount: float = discounts.DEFAULT, ridge: float = 1.0,
        floor: float | None = None, leaky: bool = False, *,
        half_life: float | None = None, window: float | None = None,
    ) -> None:  # fmt: skip
        gamma = discounts.resolve_discount(
            type(self).__name__, discount, half_life, window
        )
        settings = {"discount": gamma, "ridge": ridge, "floor": floor, "leaky": leaky}
        for name, value in settings.items():
            object.__setattr__(self, name, value)
        checks.require_interval(self, "discount", "(0, 1]")
        checks.require_interval(self, "ridge", "[0, inf)")
        checks.require_choice(self, "leaky", (False, True))
        if floor is not None:
            checks.require_interval(self, "floor", "(0, inf)")
        elif leaky:
            raise InvalidParameterError(
                "The 'leaky' parameter of RecursiveLeastSquares needs a 'floor', the "
                "ridge that shrinks θ to zero. Got floor=None instead."
            )

    @property
    def half_life(self) -> float:
        """The age in rounds at which a round weighs half as much as a new one."""
        return discounts.half_life(self.discount)

    @property
    def window(self) -> float:
        """1/(1-γ): how many new rounds all past rounds together weigh as much as."""
        return discounts.window(self.discount)

    def init(self, theta: Any) -> RLSState:
        theta = checks.check_start(self, theta)
        checks.require_ridge_in_range(self, theta)
        return RLSState(theta, factors.prior(self.ridge, theta))

    def update(self, state: RLSState, f: Round) -> RLSState:
        f = self.check_round(state, f)
        theta, factor = state.theta, state.factor.copy()
        root = theta.dtype.type(math.sqrt(f.weight))
        gain, work = np.empty((2, len(theta)), theta.dtype)
        discount = self.discount**f.elapsed
        forget(factor, discount)
        learn(factor, root * f.x, gain)  # gain = P_t⁻¹ √w x_t
        with np.errstate(over="ignore", invalid="ignore"):
            innovation = root * (f.y - f.x @ theta)
            theta = clip_coefficients(theta + np.multiply.outer(gain, innovation))
        cap_covariance(factor, gain, work)
        if self.floor is not None:
            by_target = theta.reshape(len(theta), -1)
            restore_ridge(
                by_target, factor, discount, *self._kernel_settings, gain, work
            )
        drop_all_overflow(factor)
        return RLSState(theta, factor)

    def _change_features(self, state: RLSState, change: FeatureChange) -> RLSState:
        return change_least_squares(state, change, self.ridge)

    def has_compiled_run(self, loss: Loss, theta: FloatArray) -> bool:
        return True

    def _play(
        self, state: RLSState, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[RLSState, Trace]:
        theta, factor = state.theta.copy(), state.factor.copy()
        arrays = KernelArrays.from_block(theta, block, record)
        by_target = theta.reshape(len(theta), -1)
        rls(by_target, factor, *self._kernel_settings, *arrays.by_target())
        return RLSState(theta, factor), arrays.trace()

    def _play_blocked(
        self, state: RLSState, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[RLSState, Trace]:
        self._check_blocked(state, record)
        theta, factor = state.theta.copy(), state.factor.copy()
        arrays = KernelArrays.from_block(theta, block, record)
        *rounds, _ = arrays.by_target()
        by_target = theta.reshape(len(theta), -1)
        rls_blocked(by_target, factor, *self._kernel_settings, *rounds)
        return RLSState(theta, factor), arrays.trace()

    @staticmethod
    def _check_blocked(state: RLSState, record: Sequence[str]) -> None:
        """A block knows θ at its ends only, and works with vectors of float64."""
        rule = "The 'blocked' parameter of RecursiveLeastSquares needs"
        if record:
            raise InvalidParameterError(f"{rule} record=(). Got {record!r} instead.")
        if state.theta.dtype != np.float64:
            raise InvalidParameterError(
                f"{rule} a state of float64. Got one of {state.theta.dtype} instead."
            )

    def live_buffer(
        self, state: RLSState, loss: Loss, constant_features: int
    ) -> LiveBuffer | None:
        self.check_state(state)
        has_kernel = state.theta.size > 0 and state.theta.dtype == np.float64
        return LiveRLS(self, state, constant_features) if has_kernel else None

    def state_from_raw(self, raw: RawState) -> RLSState | None:
        n, shape = raw.features, (raw.features, raw.targets)[: 1 + (raw.targets > 0)]
        rows, size = n + factors.EXTRA_ROWS, math.prod(shape)
        if len(raw.numbers) != size + rows * n:
            return None
        theta = raw.numbers[:size].reshape(shape).copy()
        factor = raw.numbers[size:].reshape(rows, n).copy()
        drop_all_overflow(factor)  # as a copy of the live buffer's state
        return RLSState(theta, factor)

    @property
    def _kernel_settings(self) -> tuple[float, float, bool]:
        return float(self.discount), float(self.floor or 0.0), self.leaky


def change_least_squares(
    state: RLSState, change: FeatureChange, ridge: float
) -> RLSState:
    """The state with these features, ``ridge`` the prior of those that are added."""
    factor = change.apply_to_factor(state.factor, ridge)
    return RLSState(change.apply(state.theta), factor)


def clip_coefficients(theta: FloatArray) -> FloatArray:
    """θ within ±``max_coefficient``, as the kernels keep it."""
    limit = theta.dtype.type(factors.max_coefficient(np.finfo(theta.dtype).max))
    return np.asarray(np.fmax(-limit, np.fmin(limit, theta)))


BATCH = LiveBatch(
    factors.LAYOUT.version,
    rls_live.learn_rows,
    rls_live.measure_states,
    rls_live.gather_states,
)


class LiveRLS:
    """Recursive least squares in one buffer: kernels/rls_live.py.

    Where θ is (n, k), ``call`` takes y as an array of k targets.
    """

    def __init__(
        self, learner: RecursiveLeastSquares, state: RLSState, constant_features: int
    ) -> None:
        theta, factor = state
        n, *targets = theta.shape
        sizes = {"n": n, "k": targets[0] if targets else 1}
        self.buffer: FloatArray = np.zeros(rls_live.LAYOUT.size(**sizes))
        call_header.fill_header(
            self.buffer,
            n,
            n - constant_features,
            checks.MAX_MAGNITUDE[theta.dtype],
            *learner._kernel_settings,
            sizes["k"],
        )
        views = rls_live.LAYOUT.views(self.buffer, **sizes)
        self._theta, self._factor = views.theta.reshape(theta.shape), views.factor
        self._prediction = views.prediction[0]
        offsets = rls_live.LAYOUT.offsets(**sizes)
        self._raw_start, self._errors_start = offsets.theta, offsets.errors
        self.unexcited_rounds: FloatArray = views.unexcited_rounds
        count = self.buffer[rls_live.ERROR_COUNT : rls_live.ERROR_COUNT + 1]
        self.errors: RecentErrors | None = RecentErrors(views.errors, count)
        call = rls_live.call_targets if targets else rls_live.call
        self.call: KernelCall = entry_point(call, several_targets=bool(targets))
        self._theta[:], self._factor[:] = theta, factor
        self.address: int = self.buffer.ctypes.data

    @property
    def batch(self) -> LiveBatch | None:
        """Kernels that take many buffers by their ``address``, of one target each."""
        return BATCH if self._theta.ndim == 1 else None

    def copy_state(self) -> RLSState:
        """A copy of the state as it is now."""
        factor = self._factor.copy()
        drop_all_overflow(factor)
        return RLSState(self._theta.copy(), factor)

    def raw_state(self) -> RawState:
        """All that changes, to be written at once: the next round may change it."""
        # In the buffer θ, the factor, the unexcited rounds and the ring of errors
        # follow each other.
        buffer, first, ring = self.buffer, self._raw_start, self._errors_start
        n, *targets = self._theta.shape
        k, count = targets[0] if targets else 1, int(buffer[rls_live.ERROR_COUNT])
        if count <= ERROR_WINDOW:
            numbers = buffer[first : ring + count * k]
        else:
            oldest = ring + count % ERROR_WINDOW * k
            parts = (buffer[first:ring], buffer[oldest:], buffer[ring:oldest])
            numbers, count = np.concatenate(parts), ERROR_WINDOW
        return RawState(factors.LAYOUT.version, n, k if targets else 0, count, numbers)

    def last_prediction(self) -> Any:
        """The prediction of the round learnt last; (k,) where θ is (n, k)."""
        one_target = self._theta.ndim == 1
        return float(self._prediction[0]) if one_target else self._prediction.copy()
