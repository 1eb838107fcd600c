"""Streams on which the terms of the paper's bounds are alive."""

import math
from typing import NamedTuple

import numpy as np

from thalweg import streams
from thalweg.streams import Stream
from thalweg.types import Block, FloatArray


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
    """E Σ f_t(θ_t) - f_t(μ_t) from θ_1 = 0, for means μ of shape (T,), exactly.

    With e_t = θ_t - μ_t a step of size η_t on a feature x_t and coins of size σ makes
    e_{t+1} = (1-η_t x_t²)e_t + η_t x_t²σc_t + μ_t - μ_{t+1}. The first two moments of
    e_t then follow from those of x², and E f_t(θ_t) - f_t(μ_t) = ½E x²·E e_t².

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


MEAN, NOISE = 0.4, 0.6
JUMP = 2 * MEAN
"""Δ, the size of a jump of ``streams.coin_noise_jumps``."""
FEW_JUMPS = 2
"""Jumps of streams whose path length does not grow with T."""


class FeatureSizes(NamedTuple):
    """Features of size √ℓ or √u, each for half of the rounds."""

    strong_convexity: float = 0.5
    smoothness: float = 1.0

    @property
    def moments(self) -> FeatureMoments:
        ell, u = self
        return FeatureMoments((ell + u) / 2, (ell * ell + u * u) / 2)


def many_jumps(horizon: int) -> int:
    """√T/4 jumps: V grows like √T, and √(TV) like T^¾."""
    return round(math.sqrt(horizon) / 4)


def coin_noise(horizon: int, jumps: int, seed: int) -> Stream:
    """Jumps of 0.8 and coins ±0.6: points in [-1, 1]."""
    return streams.coin_noise_jumps(horizon, jumps, MEAN, NOISE, seed)


def noiseless_jumps(horizon: int, jumps: int) -> Stream:
    """Points that jump between 1 and -1, the ends of the domain."""
    return streams.coin_noise_jumps(horizon, jumps, 1.0, 0.0)


def through_signs(points: Stream, dimension: int, seed: int) -> Stream:
    """A regression with θ = (p_t, ..., p_t)/√n: each x_t is a random ±unit vector.

    So y_t = ±p_t/√n: each coordinate is seen in one of n rounds, Δ and V are those of
    the points, and σ is 1/√n of theirs. Weighted means of the labels stay in the ball
    of radius 1 if the points do, so that nothing needs a projection.
    """
    rng = np.random.default_rng(seed + 1)
    horizon, scale = len(points.block), 1 / np.sqrt(dimension)
    signs = rng.choice([-1.0, 1.0], horizon)
    x = np.zeros((horizon, dimension))
    x[np.arange(horizon), rng.integers(dimension, size=horizon)] = signs
    y = signs * scale * points.block.y[:, 0]
    block = Block(x, y, weight=points.block.weight)
    return Stream(block, scale * np.repeat(means(points), dimension, axis=1))


def through_sizes(points: Stream, sizes: FeatureSizes, seed: int) -> Stream:
    """A regression on one feature of size √ℓ or √u: y_t = x_t p_t."""
    rng = np.random.default_rng(seed + 1)
    x = np.sqrt(rng.choice(list(sizes), len(points.block)))
    return Stream(Block(x[:, None], x * points.block.y[:, 0]), means(points))


def through_matrices(points: Stream, condition: float, seed: int) -> Stream:
    """Observations A_t(p_t, p_t) with I ⪯ A_tᵀA_t ⪯ condition·I, in random bases."""
    rng = np.random.default_rng(seed + 1)
    angles = rng.uniform(0, np.pi, size=(2, len(points.block)))
    roots = np.array([1.0, np.sqrt(condition)])
    A = _rotations(angles[0]) * roots @ _rotations(angles[1])
    y = A @ np.repeat(points.block.y, 2, axis=1)[:, :, None]
    return Stream(Block(A, y[:, :, 0]), np.repeat(means(points), 2, axis=1))


def labels_with_jumps(horizon: int, jumps: int, seed: int) -> Stream:
    """Labels 0 and 1 of x = ±1 with log-odds x·θ_t, where θ_t jumps between ±0.4."""
    truth = means(streams.coin_noise_jumps(horizon, jumps, MEAN, 0.0))
    rng = np.random.default_rng(seed)
    x = rng.choice([-1.0, 1.0], (horizon, 1))
    odds = 1 / (1 + np.exp(-(x * truth)[:, 0]))
    return Stream(Block(x, (rng.uniform(size=horizon) < odds) * 1.0), truth)


def means(stream: Stream) -> FloatArray:
    """The means μ_t, shape (T, n), that every stream here has."""
    assert stream.truth is not None
    return stream.truth


def path_length(stream: Stream) -> float:
    """V of the means, which move along one line."""
    return float(np.linalg.norm(np.diff(means(stream), axis=0), axis=1).sum())


def _rotations(angles: FloatArray) -> FloatArray:
    """(T, 2, 2) turns of the plane."""
    cos, sin = np.cos(angles), np.sin(angles)
    return np.moveaxis(np.array([[cos, -sin], [sin, cos]]), -1, 0)
