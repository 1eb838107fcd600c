"""The expected regret of discounted learners on coin noise with jumps, exactly.

With e_t = θ_t - μ_t a step of size η_t on a feature x_t and coins of size σ makes
e_{t+1} = (1-η_t x_t²)e_t + η_t x_t²σc_t + μ_t - μ_{t+1}. The first two moments of e_t
then follow from those of x², and E f_t(θ_t) - f_t(μ_t) = ½E x²·E e_t².
"""

from typing import NamedTuple

import numpy as np

from thalweg.types import FloatArray


class FeatureMoments(NamedTuple):
    """E x² and E x⁴ of the features' sizes."""

    second: float = 1.0
    fourth: float = 1.0


UNIT_FEATURES = FeatureMoments()


def newton_steps(discount: float, rounds: int, ridge: float = 0.0) -> FloatArray:
    """1/P_t with P_t = γP_{t-1} + 1, P_0 = ε: Newton at x² = 1; ε = 0 is tracking."""
    t = np.arange(1.0, rounds + 1)
    return np.asarray(1 / (_discounted_counts(discount, t) + ridge * discount**t))


def smooth_steps(
    discount: float, rounds: int, strong_convexity: float, smoothness: float
) -> FloatArray:
    """1/(ℓγS_{t-1} + u): the step sizes of Theorems 4 and 5."""
    past = discount * _discounted_counts(discount, np.arange(float(rounds)))
    return np.asarray(1 / (strong_convexity * past + smoothness))


def expected_regret(
    steps: FloatArray,
    means: FloatArray,
    noise: float,
    moments: FeatureMoments = UNIT_FEATURES,
    *,
    fixed: bool = False,
) -> float:
    """E Σ f_t(θ_t) - f_t(μ_t) from θ_1 = 0, for means μ of shape (T,).

    Where ``fixed``, μ is constant and the regret is that against the best fixed point,
    which is less than the loss of μ by ½σ²E x⁴/E x² on average, to leading order.
    """
    second, fourth = moments
    moves = np.append(means[:-1] - means[1:], 0.0)
    bias, square, total = -float(means[0]), float(means[0]) ** 2, 0.0
    variance = noise * noise * fourth
    for eta, move in zip(steps.tolist(), moves.tolist(), strict=True):
        total += square
        shrink = 1 - eta * second
        square *= 1 - 2 * eta * second + eta * eta * fourth
        square += eta * eta * variance + move * (2 * shrink * bias + move)
        bias = shrink * bias + move
    hindsight = variance / (2 * second) if fixed else 0.0
    return second / 2 * total + hindsight


def _discounted_counts(discount: float, t: FloatArray) -> FloatArray:
    """S_t = 1 + γ + ... + γ^(t-1)."""
    if discount == 1:
        return np.asarray(t, float)
    return np.asarray(np.expm1(t * np.log(discount)) / (discount - 1))
