"""Exponential weights over learners: the paper's Algorithm 2, a form of Hedge."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg import checks, discounts
from thalweg.domains import Domain
from thalweg.errors import InvalidParameterError
from thalweg.kernels.rls_bank.bank import play_bank
from thalweg.kernels.rls_bank.exponential_weights import mixture
from thalweg.learners.base import Learner
from thalweg.learners.compiled_mixture import play_chunks
from thalweg.learners.exponential_weights import (
    hedge,
    initial_log_weights,
    weighted_mean,
)
from thalweg.learners.feature_changes import FeatureChange
from thalweg.learners.gradient import DiscountedGradient
from thalweg.learners.kernel_arrays import KernelArrays
from thalweg.learners.newton import DiscountedNewton
from thalweg.learners.rls import RecursiveLeastSquares, RLSState
from thalweg.losses import Constants, Loss, Round
from thalweg.losses.base import inverse
from thalweg.types import Block, FloatArray, Trace


class ExpertsState(NamedTuple):
    """The state of the mixture."""

    theta: FloatArray  # (n,) the weighted mean of the experts' points
    log_weights: FloatArray  # (N,) log w_t, normalised
    experts: tuple[Any, ...]  # N states

    @property
    def weights(self) -> FloatArray:
        """w_t, shape (N,)."""
        return np.asarray(np.exp(self.log_weights))


@dataclass(frozen=True)
class Experts(Learner[ExpertsState]):
    r"""Plays the weighted mean of its experts; each learns from its own gradient.

    Also known as: Hedge, exponential weights, prediction with expert advice, online
    model averaging. There is no fixed share: a weight can become arbitrarily small.

    .. math:: \theta_t = \sum_i w_t^i \theta_t^i, \qquad
              w_{t+1}^i \propto w_t^i \exp(-\lambda f_t(\theta_t^i)), \qquad
              w_1^i = \frac{1 + 1/N}{i (i + 1)}

    Yuan & Lamperski (2020), Algorithm 2. ``experts`` are learners of any kind, those
    that forget slowest first. ``mixing_rate`` is λ > 0: α for α-exp-concave losses,
    ℓ/G² for ℓ-strongly convex ones. ``from_newton_grid`` and
    ``from_gradient_grid`` set both as Theorems 7 and 8 ask.
    """

    records: ClassVar = ("theta", "weights")
    experts: tuple[Learner[Any], ...] = (
        RecursiveLeastSquares(1.0),
        RecursiveLeastSquares(0.99),
        RecursiveLeastSquares(0.9),
    )
    mixing_rate: float = 1.0

    def __post_init__(self) -> None:
        checks.require_type(self, "experts", Iterable)
        object.__setattr__(self, "experts", tuple(self.experts))
        checks.require_interval(self, "mixing_rate", "(0, inf)")
        for expert in self.experts:
            if not (isinstance(expert, Learner) and expert.plays_points):
                raise InvalidParameterError(
                    f"The 'experts' parameter of Experts must hold learners that play "
                    f"points. Got {expert!r} instead."
                )
        if not self.experts:
            raise InvalidParameterError("Experts needs at least one expert. Got none.")

    @classmethod
    def from_newton_grid(
        cls, constants: Constants, domain: Domain, horizon: int, case: int = 1,
        ridge: float | None = None, static: bool = True, as_printed: bool = False,
    ) -> "Experts":  # fmt: skip
        """Algorithm 1 on the grid of Theorem 7, λ = α.

        ``ridge`` is ε; by default the one that the paper advises in practice where it
        helps: 1/(ρ²D²) in case 1, else 1 (``bounds.paper_ridge``, which also has
        1/(ρ²D²N), and ``bounds.best_ridge`` for a known path length).
        ``static`` puts γ = 1 first. ``as_printed`` takes the paper's own grid, which
        depends on the unit of length, for that of ``discounts.grid``.
        """
        checks.require_argument_type(
            "Experts.from_newton_grid", "constants", constants, Constants
        )
        _, _, alpha, G = constants
        if ridge is None:
            ridge = discounts.paper_ridge(case, G, alpha, domain.radius)
        first = DiscountedNewton.from_theorem(case, constants, domain, 1.0, ridge)
        grid = discounts.grid(horizon, domain.radius, static, as_printed=as_printed)
        experts = tuple(replace(first, discount=gamma) for gamma in grid)
        return cls(experts, constants.exp_concavity)

    @classmethod
    def from_gradient_grid(
        cls, constants: Constants, domain: Domain, horizon: int, static: bool = True,
        as_printed: bool = False,
    ) -> "Experts":  # fmt: skip
        """The strongly convex gradient rule on the grid, λ = ℓ/G²: Theorem 8.

        ``static`` and ``as_printed`` as in ``from_newton_grid``.
        """
        checks.require_argument_type(
            "Experts.from_gradient_grid", "constants", constants, Constants
        )
        ell = constants.strong_convexity
        grid = discounts.grid(horizon, domain.radius, static, as_printed=as_printed)
        experts = tuple(
            DiscountedGradient(gamma, "strongly_convex", ell, ell, domain)
            for gamma in grid
        )
        return cls(experts, ell * inverse(constants.gradient_bound**2))

    def init(self, theta: Any) -> ExpertsState:
        states = tuple(expert.init(theta) for expert in self.experts)
        return ExpertsState(
            checks.check_start(self, theta), initial_log_weights(len(states)), states
        )

    def _predict(self, state: ExpertsState, x: Any) -> Any:
        experts = zip(self.experts, state.experts, strict=True)
        predictions = np.array([expert._predict(own, x) for expert, own in experts])
        out = np.empty(predictions.shape[1:] or 1, predictions.dtype)
        by_expert = predictions.reshape(len(predictions), -1)
        mixture(state.log_weights, by_expert, out.reshape(1, -1))
        return out if predictions.ndim > 1 else out[0]

    def update(self, state: ExpertsState, f: Round) -> ExpertsState:
        f = self.check_round(state, f)
        experts = list(zip(self.experts, state.experts, strict=True))
        losses = np.array([f.value(a._point(s, f.x)) for a, s in experts])
        log_weights = hedge(state.log_weights, losses, self.mixing_rate)
        states = tuple(a.update(s, f) for a, s in experts)
        theta = weighted_mean(log_weights, np.array([state.theta for state in states]))
        return ExpertsState(theta, log_weights, states)

    def _change_features(
        self, state: ExpertsState, change: FeatureChange
    ) -> ExpertsState:
        return ExpertsState(
            change.apply(state.theta),
            state.log_weights,
            change.apply_to_experts(self.experts, state.experts),
        )

    def check_loss(self, loss: Loss) -> None:
        for expert in self.experts:
            expert.check_loss(loss)

    def has_compiled_run(self, loss: Loss, theta: FloatArray) -> bool:
        return all(expert.has_compiled_run(loss, theta) for expert in self.experts)

    def _play(
        self, state: ExpertsState, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[ExpertsState, Trace]:
        if not self.has_compiled_run(loss, state.theta):
            return super()._play(state, loss, block, record)
        arrays = KernelArrays.from_block(state.theta, block, record)
        rounds = len(block) if "weights" in record else 0
        weights = np.empty((rounds, len(self.experts)))
        if all(type(expert) is RecursiveLeastSquares for expert in self.experts):
            states, log_weights = self._play_bank(state, arrays, weights)
        else:
            states, log_weights = play_chunks(
                self.experts, state.experts, state.log_weights,
                float(self.mixing_rate), loss, block, arrays, weights,
            )  # fmt: skip
        theta = weighted_mean(log_weights, np.array([own.theta for own in states]))
        trace = arrays.trace()
        if rounds:
            trace = replace(trace, extras={"weights": weights})
        return ExpertsState(theta, log_weights, states), trace

    def _play_bank(
        self, state: ExpertsState, arrays: KernelArrays, weights: FloatArray
    ) -> tuple[tuple[RLSState, ...], FloatArray]:
        """All experts are plain RLS, which one kernel runs as a filter bank."""
        thetas, factors = map(np.array, zip(*state.experts, strict=True))
        log_weights = state.log_weights.copy()
        x, y, weight, elapsed, out, losses, points = arrays.by_target()
        play_bank(
            thetas.reshape(*thetas.shape[:2], -1), factors, log_weights,
            self._settings(), float(self.mixing_rate),
            (x, y, weight, elapsed), (out, losses, points, weights),
        )  # fmt: skip
        states = tuple(RLSState(*pair) for pair in zip(thetas, factors, strict=True))
        return states, log_weights

    def _settings(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        rows = [(e.discount, e.floor or 0.0, e.leaky) for e in self.experts]  # type: ignore[attr-defined]
        gamma, floor, leaky = np.array(rows, np.float64).T.copy()
        return gamma, floor, leaky
