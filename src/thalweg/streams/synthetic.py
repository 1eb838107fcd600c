"""Synthetic regression streams y_t = x_t·θ_t + noise with known concept drift.

The kinds of concept drift in the literature: ``abrupt`` (sudden), ``gradual`` and
``random_walk`` (incremental), ``seasonal`` and ``rotating`` (recurring), ``mixed``, and
none (``stationary``).

Then streams of coins: a mean that jumps (``coin_noise_jumps``), and lower-bound
constructions, on which every learner has regret (``coin_flips`` and those after it).

In all of the first ‖x_t‖ ≤ 1, ‖θ_t‖ ≤ ``MAX_NORM`` and y_t is clipped to [-1, 1], so
that on Ball(1) every residual is at most 2 and the constants of the theorems are known.
"""

import math
from dataclasses import dataclass

import numpy as np

from thalweg import checks
from thalweg.types import Block, FloatArray

LABEL_BOUND = 1.0
"""Limit of |y_t| in all streams of this file."""
MAX_NORM = 0.9
"""Limit of ‖θ_t‖, so that noise rarely takes |y| beyond ``LABEL_BOUND``."""
SPEED_UP = 4.0
"""Step of ``mixed`` in its quarter of drift, relative to ``random_walk``."""


Seed = int | np.random.Generator
"""The source of randomness; an int seeds a new Generator."""


@dataclass(frozen=True, eq=False)
class Stream:
    """A block of rounds, and the points θ_t that generated it."""

    block: Block
    truth: FloatArray | None  # (T, n) the θ_t behind each round, where there is one


def stationary(
    rounds: int, dimension: int, noise: float = 0.1, seed: Seed = 0
) -> Stream:
    """No drift: one θ for all rounds, so that it is best never to forget."""
    rng = _check_and_seed("stationary", rounds, dimension, noise, seed)
    truth = np.tile(_random_point(rng, dimension), (rounds, 1))
    return _regression(rng, truth, noise)


def abrupt(
    rounds: int, dimension: int, noise: float = 0.1, changes: int = 5, seed: Seed = 0
) -> Stream:
    """Abrupt drift: θ is constant but jumps ``changes`` times, at random rounds.

    Also known as: sudden drift, change points, piecewise constant parameters.
    """
    rng = _check_and_seed("abrupt", rounds, dimension, noise, seed)
    checks.require_argument("abrupt", "changes", changes, f"[0, {rounds - 1}]")
    jumps = np.sort(rng.choice(np.arange(1, rounds), changes, replace=False))
    points = np.array([_random_point(rng, dimension) for _ in range(changes + 1)])
    truth = points[np.searchsorted(jumps, np.arange(rounds), side="right")]
    return _regression(rng, truth, noise)


def gradual(
    rounds: int, dimension: int, noise: float = 0.1, changes: int = 5, seed: Seed = 0
) -> Stream:
    """Gradual drift: θ moves in straight lines to ``changes`` points in turn.

    Also known as: incremental drift at constant speed.
    """
    rng = _check_and_seed("gradual", rounds, dimension, noise, seed)
    checks.require_argument("gradual", "changes", changes, "[1, inf)")
    points = np.array([_random_point(rng, dimension) for _ in range(changes + 1)])
    position = np.linspace(0, changes, rounds)
    stops = np.arange(changes + 1)
    truth = np.column_stack([np.interp(position, stops, coord) for coord in points.T])
    return _regression(rng, truth, noise)


def random_walk(
    rounds: int, dimension: int, noise: float = 0.1, step: float = 0.01, seed: Seed = 0
) -> Stream:
    """Incremental drift: θ_{t+1} = θ_t + step·N(0, I), in the ball of ``MAX_NORM``."""
    rng = _check_and_seed("random_walk", rounds, dimension, noise, seed)
    checks.require_argument("random_walk", "step", step, "[0, inf)")
    truth = _random_walk(rng, np.full(rounds, step), dimension)
    return _regression(rng, truth, noise)


def rotating(
    rounds: int, dimension: int, noise: float = 0.1, turns: float = 3.0, seed: Seed = 0
) -> Stream:
    """Recurring drift: θ rotates ``turns`` times in a random plane; dimension ≥ 2."""
    rng = _check_and_seed("rotating", rounds, dimension, noise, seed)
    checks.require_argument("rotating", "dimension", dimension, "[2, inf)")
    plane = np.linalg.qr(rng.standard_normal((dimension, 2)))[0]
    angle = 2 * np.pi * turns * np.arange(rounds) / rounds
    truth = MAX_NORM * np.column_stack([np.cos(angle), np.sin(angle)]) @ plane.T
    return _regression(rng, truth, noise)


def seasonal(
    rounds: int, dimension: int, noise: float = 0.1, period: float = 50, seed: Seed = 0
) -> Stream:
    """Recurring drift: θ swings between two points, and back in ``period`` rounds."""
    rng = _check_and_seed("seasonal", rounds, dimension, noise, seed)
    checks.require_argument("seasonal", "period", period, "[2, inf)")
    start, end = _random_point(rng, dimension), _random_point(rng, dimension)
    swing = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(rounds) / period)
    return _regression(rng, start + swing[:, None] * (end - start), noise)


def mixed(
    rounds: int, dimension: int, noise: float = 0.1, step: float = 0.01, seed: Seed = 0
) -> Stream:
    """No drift for half of the rounds, fast drift for a quarter, then none again.

    No single discount γ suits all three parts.
    """
    rng = _check_and_seed("mixed", rounds, dimension, noise, seed)
    checks.require_argument("mixed", "step", step, "[0, inf)")
    steps = np.zeros(rounds)
    steps[rounds // 2 : 3 * rounds // 4] = SPEED_UP * step
    return _regression(rng, _random_walk(rng, steps, dimension), noise)


@dataclass(frozen=True, eq=False)
class Adversary:
    """Features known beforehand, and labels that depend on the learner's predictions.

    It cannot be a block: each label is -Y or Y, whichever is farther from the
    prediction just made, so that no learner's residual is ever below Y.
    """

    x: FloatArray  # (T, n), ‖x_t‖ = 1
    bound: float  # Y

    def answer(self, prediction: float) -> float:
        """The label on the other side of zero; -Y where the prediction is 0."""
        return -self.bound if prediction >= 0 else self.bound


def adversarial(
    rounds: int, dimension: int, bound: float = LABEL_BOUND, seed: Seed = 0
) -> Adversary:
    """Random unit features, and labels ±``bound`` that always oppose the learner."""
    rng = _check_and_seed("adversarial", rounds, dimension, 0.0, seed)
    checks.require_argument("adversarial", "bound", bound, "(0, inf)")
    x = rng.standard_normal((rounds, dimension))
    return Adversary(x / np.linalg.norm(x, axis=1, keepdims=True), bound)


def _check_and_seed(
    stream: str, rounds: int, dimension: int, noise: float, seed: Seed
) -> np.random.Generator:
    checks.require_argument(stream, "rounds", rounds, "[1, inf)")
    checks.require_argument(stream, "dimension", dimension, "[1, inf)")
    checks.require_argument(stream, "noise", noise, "[0, inf)")
    return np.random.default_rng(seed)


def _random_point(rng: np.random.Generator, dimension: int) -> FloatArray:
    """A random point at distance ``MAX_NORM`` from the origin."""
    direction = rng.standard_normal(dimension)
    return np.asarray(MAX_NORM * direction / np.linalg.norm(direction))


def _random_walk(
    rng: np.random.Generator, steps: FloatArray, dimension: int
) -> FloatArray:
    """θ_1 to θ_T of a walk with the given step sizes, in the ball of ``MAX_NORM``."""
    truth = np.empty((len(steps), dimension))
    theta = _random_point(rng, dimension)
    for t, step in enumerate(steps):
        theta = theta + step * rng.standard_normal(dimension)
        theta = theta * min(1.0, MAX_NORM / float(np.linalg.norm(theta)))
        truth[t] = theta
    return truth


def _regression(rng: np.random.Generator, truth: FloatArray, noise: float) -> Stream:
    """Random features with ‖x_t‖ ≤ 1, and noisy labels of the points ``truth``."""
    x = rng.standard_normal(truth.shape)
    x = x / np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))
    y = (x * truth).sum(axis=1) + noise * rng.standard_normal(len(x))
    return Stream(Block(x, np.clip(y, -LABEL_BOUND, LABEL_BOUND)), truth)


def coin_noise_jumps(
    rounds: int, jumps: int, mean: float = 0.4, noise: float = 0.6, seed: Seed = 0
) -> Stream:
    r"""A mean that jumps between ±``mean``, and fair coins ±``noise`` around it.

    .. math:: y_t = \mu_t + \sigma c_t, \qquad |\mu_t| = \text{mean}, \qquad c_t = \pm 1

    The ``jumps`` are evenly spaced and each of size Δ = 2·``mean``, so that ``truth`` =
    μ has path length V = Δ·``jumps``, and |y_t| ≤ ``mean`` + ``noise``. Play it with
    ``Tracking``.

    To leading order a fixed discount γ pays T(1-γ)σ²/4 for its noise and ΔV/4(1-γ) for
    the jumps. At the best γ that is ½σ√(ΔTV): √(TV), which the bounds of Yuan &
    Lamperski (2020), Corollaries 2 and 3 and Theorems 7 and 8, allow, is the true rate
    of discounted learners here. With the defaults the constant is 0.268.
    """
    checks.require_argument("coin_noise_jumps", "rounds", rounds, "[1, inf)")
    checks.require_argument("coin_noise_jumps", "jumps", jumps, f"[0, {rounds - 1}]")
    checks.require_argument("coin_noise_jumps", "mean", mean, "[0, inf)")
    checks.require_argument("coin_noise_jumps", "noise", noise, "[0, inf)")
    piece = np.arange(rounds) * (jumps + 1) // rounds
    truth = mean * np.where(piece % 2 == 0, 1.0, -1.0)[:, None]
    coins = np.random.default_rng(seed).choice([-1.0, 1.0], (rounds, 1))
    return Stream(Block(None, truth + noise * coins), truth)


def coin_flips(rounds: int, path_length: float, seed: Seed = 0) -> Stream:
    r"""The stream of Yuan & Lamperski (2020), Proposition 1: fair coins ±2σ.

    .. math:: f_t(\theta) = (\theta - \epsilon_t)^2, \quad z_t = \epsilon_t / 2

    No one can foresee a coin, so the expected regret against ``truth`` = z is at least
    3σ²T, while z has path length at most 2σ(T-1). Play it with ``Tracking``: that is
    ½(θ-y)², and the block's weight of 2 makes up for the half.

    ``path_length`` is V > 0 and sets σ = V/2T, which gives E R ≥ ¾V²/T. The paper
    sets σ by an exponent γ₀, and its statement and proof differ by a factor of 2 in V
    (erratum E10); V = T^((2+γ₀)/(4-γ₀)) here is the statement's.
    """
    checks.require_argument("coin_flips", "rounds", rounds, "[1, inf)")
    checks.require_argument("coin_flips", "path_length", path_length, "(0, inf)")
    sigma = path_length / (2 * rounds)
    coins = np.random.default_rng(seed).choice([-1.0, 1.0], (rounds, 1))
    block = Block(None, 2 * sigma * coins, weight=np.full(rounds, 2.0))
    return Stream(block, sigma * coins)


def coin_blocks(rounds: int, path_length: float, seed: Seed = 0) -> Stream:
    """Noise ±1 around a mean ±s that may flip at the end of every block.

    Blocks of L = ⌈(T/V)^⅔⌉ rounds, s = V / 2⌈T/L⌉: a block is too short for its mean to
    be learned, so every learner's regret against ``truth`` (path length ≤ V) grows
    like T^⅓V^⅔. That is the known minimax rate, recalled from the literature (Baby &
    Wang), not from the paper; no constant is claimed. Play it with ``Tracking``.

    ``path_length`` is V > 0; |y_t| ≤ 1 + s.
    """
    checks.require_argument("coin_blocks", "rounds", rounds, "[1, inf)")
    checks.require_argument("coin_blocks", "path_length", path_length, "(0, inf)")
    rng = np.random.default_rng(seed)
    length = math.ceil((rounds / path_length) ** (2 / 3))
    blocks = math.ceil(rounds / length)
    means = path_length / (2 * blocks) * rng.choice([-1.0, 1.0], blocks)
    truth = np.repeat(means, length)[:rounds, None]
    return Stream(Block(None, truth + rng.choice([-1.0, 1.0], (rounds, 1))), truth)


def biased_coins(rounds: int, seed: Seed = 0) -> Stream:
    r"""Coins ±1 of one bias, which is drawn uniformly and not revealed.

    .. math:: f_t(\theta) = (\theta - \epsilon_t)^2, \quad
              P(\epsilon_t = 1) = p, \quad p \sim U(0, 1)

    The log T of Yuan & Lamperski (2020), Proposition 1, which they cite: no learner's
    expected static regret is below ``bounds.static_lower_bound``. ``truth`` is 2p - 1.
    Play it with ``Tracking``; the block's weight of 2 makes up for its half.
    """
    checks.require_argument("biased_coins", "rounds", rounds, "[1, inf)")
    rng = np.random.default_rng(seed)
    bias = rng.uniform()
    coins = np.where(rng.uniform(size=(rounds, 1)) < bias, 1.0, -1.0)
    block = Block(None, coins, weight=np.full(rounds, 2.0))
    return Stream(block, np.full((rounds, 1), 2 * bias - 1))
