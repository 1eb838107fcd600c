"""Bounds of the expected pseudo-regret of discounted LinUCB, D-UCB and SW-UCB.

The theorems of Russac, Vernade & Cappé (2019) and of Garivier & Moulines (2011) could
not be read; these bounds have the same terms, and their constants are ours: every step
is in docs/derivations/bandits.md. Two points differ from what is published on D-LinUCB:

- Its confidence ellipsoid holds in a round with probability 1 - δ, not in all rounds at
  once: β is bounded, and what is forgotten makes room for new deviations for ever. So
  the bounds here are of the expected regret, with a term for the rounds that fail.
- The bias of forgetting is larger where actions are not orthogonal, as Faury, Russac,
  Abeille & Calauzènes (2021), *A Technical Note on Non-Stationary Parametric Bandits*,
  say: the rate is then B^(1/4) T^(3/4), and B^(1/3) T^(2/3) for orthogonal actions.

No bound exceeds what a policy can lose at most.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.types import FloatArray


@dataclass(frozen=True)
class LinearBandit:
    """The numbers that the bound of discounted LinUCB asks for.

    ``size`` d, ``ridge`` λ, ``noise`` σ, ``radius`` S, ``action_bound`` L and
    ``error_probability`` δ, as in ``DiscountedLinUCB``.
    """

    size: int
    ridge: float = 1.0
    noise: float = 1.0
    radius: float = 1.0
    action_bound: float = 1.0
    error_probability: float = 0.01

    def __post_init__(self) -> None:
        checks.require_interval(self, "size", "[1, inf)")
        checks.require_interval(self, "ridge", "(0, inf)")
        checks.require_interval(self, "noise", "[0, inf)")
        checks.require_interval(self, "radius", "[0, inf)")
        checks.require_interval(self, "action_bound", "(0, inf)")
        checks.require_interval(self, "error_probability", "(0, 1)")


def discounted_lin_ucb(
    bandit: LinearBandit,
    discount: float,
    horizon: int,
    path_length: float,
    changes: int | None = None,
    orthogonal: bool = False,
) -> float:
    """Expected pseudo-regret of ``DiscountedLinUCB`` with ``exploration`` 1.

    2 max(β, LS) √(dT/log 2 · (T log 1/γ + log(1 + L²W/λd))) for exploration,
    2LSδT for the rounds in which the ellipsoid fails, and for the drift the least of
        2B Σ_k min(L²√(Wγᵏ/λ), L³Wγᵏ/λ), with min(L, L³Wγᵏ/λ) where ``orthogonal``, and
        2LSΓK + T min(4L²S√(Wγᴷ/λ), 4L³SWγᴷ/λ) for the best K.
    W = Σ_{k<T} γᵏ, and β is that of round T. ``path_length`` is B = Σ‖θ_{t+1} - θ_t‖,
    ``changes`` Γ, the number of rounds in which θ changes, where it is known;
    ``orthogonal`` says that any two actions are orthogonal or parallel.
    At most 2LST. With ``discount`` 1 and no drift it is a bound of LinUCB.
    """
    owner, T = "discounted_lin_ucb", horizon
    checks.require_argument(owner, "discount", discount, "(0, 1]")
    checks.require_argument(owner, "horizon", horizon, "[1, inf)")
    checks.require_argument(owner, "path_length", path_length, "[0, inf)")
    weight = _discounted_count(discount, T)
    d, S, L = bandit.size, bandit.radius, bandit.action_bound
    potential = T * -math.log(discount) + math.log(
        1 + L**2 * weight / (bandit.ridge * d)
    )
    width = max(_confidence_width(bandit, discount, T - 1), L * S)
    exploration = 2 * width * math.sqrt(d * T / math.log(2) * potential)
    failures = 2 * L * S * bandit.error_probability * T
    drift = _drift_by_path(bandit, discount, T, path_length, orthogonal)
    if changes is not None:
        checks.require_argument(owner, "changes", changes, f"[0, {T}]")
        drift = min(drift, _drift_by_changes(bandit, discount, T, changes))
    return min(exploration + failures + drift, 2 * L * S * T)


def _confidence_width(bandit: LinearBandit, discount: float, rounds: int) -> float:
    """β after this number of rounds."""
    d, ridge = bandit.size, bandit.ridge
    weight = _discounted_count(discount**2, rounds)
    log_det = d * math.log(1 + bandit.action_bound**2 * weight / (ridge * d))
    log_inverse = -math.log(bandit.error_probability)
    deviation = bandit.noise * math.sqrt(2 * log_inverse + log_det)
    return math.sqrt(ridge) * bandit.radius + deviation


def _drift_by_path(
    bandit: LinearBandit, discount: float, horizon: int, path_length: float, axes: bool
) -> float:
    """2B Σ_k of the bias that a step of θ leaves k rounds later, per unit of it."""
    if path_length == 0:
        return 0.0
    L, ridge = bandit.action_bound, bandit.ridge
    weight = _discounted_count(discount, horizon)
    decay = discount ** np.arange(horizon, dtype=np.float64)
    first = np.full(horizon, L) if axes else L**2 * np.sqrt(weight * decay / ridge)
    terms = np.minimum(first, L**3 * weight * decay / ridge)
    return 2 * path_length * float(terms.sum())


def _drift_by_changes(
    bandit: LinearBandit, discount: float, horizon: int, changes: int
) -> float:
    """The least over K of all that K rounds can lose, and the bias of older ones."""
    if changes == 0:
        return 0.0
    L, S, ridge = bandit.action_bound, bandit.radius, bandit.ridge
    age = np.arange(horizon + 1, dtype=np.float64)
    old = _discounted_count(discount, horizon) * discount**age
    bias = np.minimum(4 * L**2 * S * np.sqrt(old / ridge), 4 * L**3 * S * old / ridge)
    return float((2 * L * S * changes * age + horizon * bias).min())


def sliding_window_ucb(
    window: int, horizon: int, changes: int, smallest_gaps: Any, largest_gaps: Any,
    reward_bound: float = 1.0, exponent: float = 0.6,
) -> float:  # fmt: skip
    """Expected pseudo-regret of ``SlidingWindowUCB``.

    τΥ max_i Δ_i + Σ_i Δ_i (⌈T/τ⌉⌈4B²ξ log τ/δ_i²⌉ + 2 Σ_t p_t), with p_t = ⌈log m /
    log(1+η)⌉/m, at most 1, after m = min(t-1, τ) rounds, η = 4√(1 - 1/2ξ), and an arm
    counted T times at most. ``changes`` is Υ, ``smallest_gaps`` and ``largest_gaps``
    (K,) are δ_i and Δ_i, by which an arm is worse than the best one where it is not
    best; 0 where it always is.
    """
    gaps = _check_arms(
        "sliding_window_ucb", horizon, changes, smallest_gaps, largest_gaps, exponent
    )
    smallest, largest = gaps
    T, tau = horizon, min(int(window), horizon)
    checks.require_argument("sliding_window_ucb", "window", window, "[1, inf)")
    needed = 4 * reward_bound**2 * exponent * math.log(tau) / smallest**2
    plays = math.ceil(T / tau) * np.maximum(np.ceil(needed), 1)
    seen = np.minimum(np.arange(T), tau).astype(np.float64)
    slices = np.ceil(np.log(np.maximum(seen, 1)) / math.log1p(_slice_ratio(exponent)))
    failure = np.where(seen < 2, 1.0, slices / np.maximum(seen, 1))
    return _regret_of_plays(plays, failure, tau * changes, largest, T)


def discounted_ucb(
    discount: float, horizon: int, changes: int, smallest_gaps: Any, largest_gaps: Any,
    reward_bound: float = 1.0, exponent: float = 0.6,
) -> float:  # fmt: skip
    """Expected pseudo-regret of ``DiscountedUCB``, with γ < 1.

    KΥ max_i Δ_i + Σ_i Δ_i (⌈T/M⌉⌈16B²ξ γ^-M log n/δ_i²⌉ + 2 Σ_t p_t), M = 1/(1-γ)
    rounded, n = Σ_{k<T} γᵏ, K the least with γᴷ ≤ (1-γ) ξ log Σ_{k<K} γᵏ. With n_t =
    Σ_{k<t-1} γᵏ, x = 4ξ log n_t and η = 4√(1 - 1/2ξ), p_t is at most 1 and
    ⌈log(n_t (1+γ)/(x²(1-γ))) / log(1+η)⌉ / n_t. The other arguments are those of
    ``sliding_window_ucb``.
    """
    owner, T, gamma = "discounted_ucb", horizon, discount
    checks.require_argument(owner, "discount", discount, "(0, 1)")
    smallest, largest = _check_arms(
        owner, horizon, changes, smallest_gaps, largest_gaps, exponent
    )
    memory = max(1, round(1 / (1 - gamma)))
    total = _discounted_count(gamma, T)
    scale = 16 * reward_bound**2 * exponent * gamma**-memory
    needed = scale * max(math.log(total), 0.0) / smallest**2
    plays = math.ceil(T / memory) * np.maximum(np.ceil(needed), 1)
    seen = -np.expm1(np.arange(T) * math.log(gamma)) / (1 - gamma)  # n_t
    with np.errstate(divide="ignore", invalid="ignore"):
        least = 4 * exponent * np.log(np.maximum(seen, 1))
        ratio = np.log(seen * (1 + gamma) / (1 - gamma)) - 2 * np.log(least)
    slices = np.maximum(np.ceil(ratio / math.log1p(_slice_ratio(exponent))), 1)
    failure = np.where(least > 0, slices / np.maximum(seen, 1), 1.0)
    affected = _rounds_to_forget(gamma, T, exponent) * changes
    return _regret_of_plays(plays, failure, affected, largest, T)


def _rounds_to_forget(discount: float, horizon: int, exponent: float) -> int:
    """K after which what is older biases a mean by less than half of its width."""
    age = np.arange(1, horizon + 1)
    decay = discount**age
    count = (1 - decay) / (1 - discount)
    enough = decay <= (1 - discount) * exponent * np.log(np.maximum(count, 1))
    return int(age[enough.argmax()]) if enough.any() else horizon


def _regret_of_plays(
    plays: FloatArray, failure: FloatArray, affected: int, largest: FloatArray,
    horizon: int,
) -> float:  # fmt: skip
    """The regret if arm i is played ``plays[i]`` times beside failures and affected
    rounds."""
    failures = 2 * np.minimum(failure, 1.0).sum()
    by_arm = largest * np.minimum(plays + failures, horizon)
    worst = float(largest.max())
    return min(affected * worst + float(by_arm.sum()), horizon * worst)


def _slice_ratio(exponent: float) -> float:
    """η = 4√(1 - 1/2ξ), for which 2ξ(1 - η²/16) = 1."""
    return 4 * math.sqrt(1 - 1 / (2 * exponent))


def _discounted_count(discount: float, rounds: int) -> float:
    """Σ_{k<rounds} γᵏ."""
    if discount == 1:
        return float(rounds)
    return -math.expm1(rounds * math.log(discount)) / (1 - discount)


def _check_arms(
    owner: str, horizon: int, changes: int, smallest: Any, largest: Any, exponent: float
) -> tuple[FloatArray, FloatArray]:
    """The gaps of the arms that are ever worse than another, checked."""
    checks.require_argument(owner, "horizon", horizon, "[1, inf)")
    checks.require_argument(owner, "changes", changes, f"[0, {horizon}]")
    checks.require_argument(owner, "exponent", exponent, "(0.5, inf)")
    low, high = np.asarray(smallest, np.float64), np.asarray(largest, np.float64)
    if (
        low.shape != high.shape
        or low.ndim != 1
        or not ((low >= 0) & (high >= low)).all()
    ):
        raise InvalidParameterError(
            f"The gaps given to {owner} must be two rows of numbers, the smallest of "
            f"each arm and the largest. Got {smallest!r:.100} and {largest!r:.100}."
        )
    is_worse = high > 0
    if (low[is_worse] == 0).any():
        raise InvalidParameterError(
            f"The 'smallest_gaps' given to {owner} must be above 0 where the largest "
            f"are. Got {smallest!r:.100} instead."
        )
    if not is_worse.any():
        return np.ones(1), np.zeros(1)
    return low[is_worse], high[is_worse]
