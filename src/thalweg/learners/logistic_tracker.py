"""The Tracker for labels 0 and 1: online logistic regression on drifting streams."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy  # its submodules are loaded when they are first used

from thalweg import checks
from thalweg.kernels import call_header, logistic_live, ud_factor
from thalweg.kernels.compiler.jit import entry_point
from thalweg.kernels.delayed_logistic_tracker import delayed_logistic_tracker
from thalweg.kernels.logistic_tracker import MIN_CURVATURE, RADIUS, logistic_tracker
from thalweg.kernels.losses import logits
from thalweg.kernels.ud_factor import forget, learn
from thalweg.kernels.windup import cap_covariance
from thalweg.learners.base import KernelCall, Learner, LiveBuffer
from thalweg.learners.feature_changes import FeatureChange
from thalweg.learners.recent_errors import RecentErrors
from thalweg.losses import Logistic, Loss, Round
from thalweg.types import Block, FloatArray, Trace

MEMORIES = (np.inf, 4096.0, 1024.0, 512.0, 256.0, 128.0, 64.0, 32.0, 16.0)
"""Effective memories 1/(1-γ) of the Newton experts, in rounds."""
RIDGES = (1.0, 0.1)
"""ε in P_0 = εI: there is one expert for every memory and ridge."""
RATES = (0.03, 0.1, 0.3)
"""Step sizes of the experts that take gradient steps."""
DISCOUNTS = np.repeat(1 - 1 / np.array(MEMORIES), len(RIDGES))
"""The forgetting factor γ of every Newton expert."""
NO_VALUES = np.empty(0)


class LogisticTrackerState(NamedTuple):
    """The state of the logistic Tracker; the first N of K experts take Newton steps."""

    theta: FloatArray  # (n,) the start; only its size and dtype are used
    points: FloatArray  # (K, n+1) the experts' coefficients, features standardised
    factors: FloatArray  # (N, n+4, n+1) P of the Newton experts: kernels/ud_factor.py
    weights: FloatArray  # (K,) the experts' weights in the mixture
    scale: FloatArray  # (3, n) rounds seen, mean and summed squares of features


# A file of another layout of the UD factor is refused.
LogisticTrackerState.layout_version = ud_factor.LAYOUT.version  # type: ignore[attr-defined]


@dataclass(frozen=True)
class LogisticTracker(Learner[LogisticTrackerState]):
    r"""Probabilities of 0/1 labels, with no discount, step size or scale to choose.

    .. math:: \hat p_t = \sum_k w_{t,k} \sigma(z_t \cdot \theta_{t,k}), \qquad
              w_{t+1,k} = (1 - \tfrac1{t+1}) \frac{w_{t,k}\, p_{t,k}(y_t)}
              {\sum_j w_{t,j}\, p_{t,j}(y_t)} + \frac1{(t+1)K}

    Also known as: online logistic regression with drift; Bayesian model averaging with
    fixed share. 18 experts take discounted Newton steps on the logistic loss of
    standardised features z, with memories of 16 rounds to all and two ridges, three
    take constant gradient steps; the mixture is Bayes' rule with a share. Log loss is
    mixable at rate 1, so that from round a to b, with weights of at most 1, it loses at
    most ln(aK) + 1 + ln(b/a) to any expert.
    ``certainty`` in (0, ½) keeps the experts' probabilities so far from 0 and 1. The
    prediction is the log-odds, as for ``Logistic``; models give the probability.
    Features are standardised by all rounds so far: 250 rows that are 300 or more times
    too large raise the log loss by a third to two thirds for thousands of rounds; less
    than 100 times is soon forgotten.
    A feature that is added is standardised as if it had been zero in all rounds before,
    and starts from a fresh prior, as in ``RecursiveLeastSquares``.

    ``update`` is the definition; ``run`` plays the same rounds in a kernel
    (kernels/logistic_tracker.py).
    """

    accepts: ClassVar = (Logistic,)
    plays_points: ClassVar[bool] = False
    has_own_intercept: ClassVar[bool] = True
    # 18 matrices: a state of 1,024 features takes 151 MB.
    max_features: ClassVar[int] = 1024
    certainty: float = 1e-3

    def __post_init__(self) -> None:
        checks.require_interval(self, "certainty", "(0, 0.5)")

    def init(self, theta: Any) -> LogisticTrackerState:
        theta = checks.check_start(self, theta, ndim=(1,))
        n = len(theta)
        start = np.zeros(n + 1)
        priors = [ud_factor.prior(ridge, start) for _ in MEMORIES for ridge in RIDGES]
        count = len(priors) + len(RATES)
        weights, points = np.full(count, 1 / count), np.zeros((count, n + 1))
        return LogisticTrackerState(
            theta, points, np.array(priors), weights, np.zeros((3, n))
        )

    def predict(self, state: LogisticTrackerState, x: Any = None) -> Any:
        self.check_state(state)
        row = checks.check_features(x, state.theta).astype(np.float64)[None]
        _, probabilities = self._run_kernel(state, row, *3 * (NO_VALUES,))
        return self._log_odds(probabilities, state)[0]

    def _predict_rows(self, state: LogisticTrackerState, x: FloatArray) -> FloatArray:
        rows = x.astype(np.float64)
        _, probabilities = self._run_kernel(state, rows, *3 * (NO_VALUES,))
        return self._log_odds(probabilities, state)

    def update(self, state: LogisticTrackerState, f: Round) -> LogisticTrackerState:
        f = self.check_round(state, f)
        x, y, w = np.asarray(f.x, np.float64), float(f.y), float(f.weight)
        z, scale = _standardise(state.scale, x), _update_scale(state.scale, x)
        sigma = scipy.special.expit(state.points @ z)
        probabilities = np.clip(sigma, self.certainty, 1 - self.certainty)
        weights = _bayes_rule(state.weights, probabilities, y, w, scale[0, 0])
        slope, curvature = (
            w * (sigma - y),
            w * np.maximum(sigma * (1 - sigma), MIN_CURVATURE),
        )
        matrices, steps = state.factors.copy(), np.outer(slope, z)
        for k, gamma in enumerate(DISCOUNTS ** float(f.elapsed)):
            steps[k] = _newton_step(matrices[k], gamma, curvature[k], slope[k], z)
        steps[len(DISCOUNTS) :] *= np.array(RATES)[:, None]
        points = _project_to_ball(state.points - steps)
        return LogisticTrackerState(state.theta, points, matrices, weights, scale)

    def _change_features(
        self, state: LogisticTrackerState, change: FeatureChange
    ) -> LogisticTrackerState:
        scale = change.apply(state.scale, axis=1)
        scale[0] = state.scale[0, 0]  # as if new features had been zero so far
        ridges = RIDGES * len(MEMORIES)
        pairs = zip(state.factors, ridges, strict=True)
        return LogisticTrackerState(
            change.apply(state.theta),
            change.apply(state.points, axis=1),
            np.array([change.apply_to_factor(*pair) for pair in pairs]),
            state.weights,
            scale,
        )

    def has_compiled_run(self, loss: Loss, theta: FloatArray) -> bool:
        return True

    def _play(
        self, state: LogisticTrackerState, loss: Loss, block: Block,
        record: Sequence[str],
    ) -> tuple[LogisticTrackerState, Trace]:  # fmt: skip
        columns = (block.x, block.y, block.weight, block.elapsed)
        arrays = (
            NO_VALUES if c is None else np.asarray(c, np.float64) for c in columns
        )
        after, probabilities = self._run_kernel(state, *arrays)
        out = self._log_odds(probabilities, state)
        incurred = np.asarray(loss.prediction_loss(out, block.y) * block.weights)
        theta = np.tile(state.theta, (len(block), 1)) if "theta" in record else None
        return after, Trace(out, incurred.astype(out.dtype), theta)

    def run_delayed(
        self, state: LogisticTrackerState, x: FloatArray, due_x: FloatArray,
        due_y: FloatArray, is_due: FloatArray, elapsed: FloatArray,
    ) -> tuple[LogisticTrackerState, FloatArray]:  # fmt: skip
        """``run`` where labels come late: predict a row of x, then learn the one due.

        x and due_x are (T, n), all others (T,); after row t nothing is learnt where
        ``is_due`` is 0. Returns the state after, and the log-odds of each row of x.
        """
        after = LogisticTrackerState(state.theta, *(a.copy() for a in state[1:]))
        x, due_x, due_y, is_due, elapsed = (
            np.ascontiguousarray(part, np.float64)
            for part in (x, due_x, due_y, is_due, elapsed)
        )
        out = np.empty(len(x))
        delayed_logistic_tracker(
            *after[1:], DISCOUNTS, np.array(RATES), self.certainty, x, due_x, due_y,
            is_due, elapsed, out,
        )  # fmt: skip
        return after, self._log_odds(out, state)

    def live_buffer(
        self, state: LogisticTrackerState, loss: Loss, constant_features: int
    ) -> LiveBuffer | None:
        self.check_state(state)
        is_double = state.theta.dtype == np.float64
        return (
            LiveLogisticTracker(self, state, constant_features) if is_double else None
        )

    def _log_odds(
        self, probabilities: FloatArray, state: LogisticTrackerState
    ) -> FloatArray:
        out = np.empty_like(probabilities)
        logits(probabilities, out)
        return out.astype(state.theta.dtype, copy=False)

    def _run_kernel(
        self, state: LogisticTrackerState, x: FloatArray, y: FloatArray,
        weight: FloatArray, elapsed: FloatArray,
    ) -> tuple[LogisticTrackerState, FloatArray]:  # fmt: skip
        """The state after these rounds, and the probability of 1 in each."""
        after = LogisticTrackerState(state.theta, *(a.copy() for a in state[1:]))
        out = np.empty(len(x))
        rounds = (x, y, weight, elapsed, out)
        logistic_tracker(
            *after[1:], DISCOUNTS, np.array(RATES), self.certainty, *rounds
        )
        return after, out


class LiveLogisticTracker:
    """The logistic Tracker in one buffer: kernels/logistic_live.py."""

    def __init__(
        self, learner: LogisticTracker, state: LogisticTrackerState,
        constant_features: int,
    ) -> None:  # fmt: skip
        self._start = state.theta
        n, experts = len(state.theta), {"N": len(DISCOUNTS), "G": len(RATES)}
        self.buffer: FloatArray = np.zeros(logistic_live.LAYOUT.size(n=n, **experts))
        call_header.fill_header(
            self.buffer,
            n,
            n - constant_features,
            checks.MAX_MAGNITUDE[state.theta.dtype],
            learner.certainty,
            *experts.values(),
        )
        views = logistic_live.LAYOUT.views(self.buffer, n=n, **experts)
        views.gamma[:], views.rate[:] = DISCOUNTS, RATES
        self.errors: RecentErrors | None = None
        self.unexcited_rounds: FloatArray = views.unexcited_rounds
        self._arrays = (views.points, views.factors, views.weights, views.scale)
        for array, values in zip(self._arrays, state[1:], strict=True):
            array[...] = values
        self.call: KernelCall = entry_point(logistic_live.call)

    def copy_state(self) -> LogisticTrackerState:
        """A copy of the state as it is now."""
        arrays = (array.copy() for array in self._arrays)
        return LogisticTrackerState(self._start, *arrays)

    def last_prediction(self) -> float:
        """The probability of the round learnt last."""
        return float(self.buffer[logistic_live.PROBABILITY])


def _standardise(scale: FloatArray, x: FloatArray) -> FloatArray:
    """z = (x - mean) / spread, both of the rounds before, then a constant 1.

    It is 0 where nothing has varied yet, and at most ``RADIUS`` in size.
    """
    rounds, mean, squares = scale
    spread = np.sqrt(squares / np.maximum(rounds, 1))
    known = (rounds > 1) & (spread > 0)
    z = np.where(known, (x - mean) / np.where(known, spread, 1.0), 0.0)
    return np.append(np.clip(z, -RADIUS, RADIUS), 1.0)


def _update_scale(scale: FloatArray, x: FloatArray) -> FloatArray:
    """Rounds, running mean and summed squares about it, after x too (Welford)."""
    rounds, mean, squares = scale[0] + 1, scale[1], scale[2]
    after = mean + (x - mean) / rounds
    return np.array([rounds, after, squares + (x - mean) * (x - after)])


def _bayes_rule(
    weights: FloatArray, p: FloatArray, y: float, w: float, t: float
) -> FloatArray:
    """w_k ∝ w_k p_k(y)^w; then 1/(t+1) of all weight is shared in equal parts.

    ``p`` (K,) are the experts' probabilities of the label 1.
    """
    log_likelihood = w * (y * np.log(p) + (1 - y) * np.log(1 - p))
    posterior = weights * np.exp(log_likelihood - log_likelihood.max())
    share = 1 / (t + 1)
    after = (1 - share) * posterior / posterior.sum() + share / len(weights)
    return np.asarray(after)


def _newton_step(
    factor: FloatArray, gamma: float, curvature: float, slope: float, z: FloatArray
) -> FloatArray:
    """P ← γP + curvature · zzᵀ, in place; returns P⁻¹ z · slope."""
    root = math.sqrt(curvature)
    gain, work = np.empty((2, len(z)))
    forget(factor, gamma)
    learn(factor, root * z, gain)  # gain = P⁻¹ z · root
    step = gain * slope / root if root > 0 else np.zeros(len(z))
    cap_covariance(factor, gain, work)
    return step


def _project_to_ball(points: FloatArray) -> FloatArray:
    """Each point, projected onto the ball of radius ``RADIUS``."""
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    return np.asarray(
        points * np.where(norms > RADIUS, RADIUS / np.maximum(norms, 1), 1)
    )
