"""Regression streams y_t = x_t·θ_t + noise whose θ_t moves in one known way each.

In all of them ‖x_t‖ ≤ 1, ‖θ_t‖ ≤ ``REACH`` and y_t is clipped to [-1, 1], so that on
Ball(1) every residual is at most 2 and the constants of the theorems are known.
"""

from dataclasses import dataclass

import numpy as np

from thalweg import checks
from thalweg.streams.base import Seed, Stream
from thalweg.types import Block, FloatArray

LABEL_BOUND = 1.0
"""|y_t| is at most this in every stream here."""
REACH = 0.9
"""‖θ_t‖ is at most this, which leaves the noise some room below ``LABEL_BOUND``."""
SPEED_UP = 4.0
"""How much faster than ``random_walk`` the restless quarter of ``mixed`` walks."""


def stationary(
    rounds: int, dimension: int, noise: float = 0.1, seed: Seed = 0
) -> Stream:
    """One θ for ever: the best thing is never to forget."""
    rng = _generator("stationary", rounds, dimension, noise, seed)
    truth = np.tile(_somewhere(rng, dimension), (rounds, 1))
    return _regression(rng, truth, noise)


def abrupt(
    rounds: int, dimension: int, noise: float = 0.1, changes: int = 5, seed: Seed = 0
) -> Stream:
    """θ stands still and jumps ``changes`` times, at random rounds, to a new place."""
    rng = _generator("abrupt", rounds, dimension, noise, seed)
    checks.require_argument("abrupt", "changes", changes, f"[0, {rounds - 1}]")
    jumps = np.sort(rng.choice(np.arange(1, rounds), changes, replace=False))
    places = np.array([_somewhere(rng, dimension) for _ in range(changes + 1)])
    truth = places[np.searchsorted(jumps, np.arange(rounds), side="right")]
    return _regression(rng, truth, noise)


def gradual(
    rounds: int, dimension: int, noise: float = 0.1, changes: int = 5, seed: Seed = 0
) -> Stream:
    """θ moves in a straight line at constant speed, in turn to ``changes`` places."""
    rng = _generator("gradual", rounds, dimension, noise, seed)
    checks.require_argument("gradual", "changes", changes, "[1, inf)")
    places = np.array([_somewhere(rng, dimension) for _ in range(changes + 1)])
    along = np.linspace(0, changes, rounds)
    stops = np.arange(changes + 1)
    truth = np.column_stack([np.interp(along, stops, coord) for coord in places.T])
    return _regression(rng, truth, noise)


def random_walk(
    rounds: int, dimension: int, noise: float = 0.1, step: float = 0.01, seed: Seed = 0
) -> Stream:
    """θ_{t+1} = θ_t + step·N(0, I), held in the ball of radius ``REACH``."""
    rng = _generator("random_walk", rounds, dimension, noise, seed)
    checks.require_argument("random_walk", "step", step, "[0, inf)")
    truth = _walk(rng, np.full(rounds, step), dimension)
    return _regression(rng, truth, noise)


def rotating(
    rounds: int, dimension: int, noise: float = 0.1, turns: float = 3.0, seed: Seed = 0
) -> Stream:
    """θ goes round a circle ``turns`` times, in a random plane; dimension ≥ 2."""
    rng = _generator("rotating", rounds, dimension, noise, seed)
    checks.require_argument("rotating", "dimension", dimension, "[2, inf)")
    plane = np.linalg.qr(rng.standard_normal((dimension, 2)))[0]
    angle = 2 * np.pi * turns * np.arange(rounds) / rounds
    truth = REACH * np.column_stack([np.cos(angle), np.sin(angle)]) @ plane.T
    return _regression(rng, truth, noise)


def seasonal(
    rounds: int, dimension: int, noise: float = 0.1, period: float = 50, seed: Seed = 0
) -> Stream:
    """θ swings between two places and is back where it was after ``period`` rounds."""
    rng = _generator("seasonal", rounds, dimension, noise, seed)
    checks.require_argument("seasonal", "period", period, "[2, inf)")
    start, far = _somewhere(rng, dimension), _somewhere(rng, dimension)
    swing = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(rounds) / period)
    return _regression(rng, start + swing[:, None] * (far - start), noise)


def mixed(
    rounds: int, dimension: int, noise: float = 0.1, step: float = 0.01, seed: Seed = 0
) -> Stream:
    """Half the time still, a quarter walking fast, then still: no one γ suits it."""
    rng = _generator("mixed", rounds, dimension, noise, seed)
    checks.require_argument("mixed", "step", step, "[0, inf)")
    steps = np.zeros(rounds)
    steps[rounds // 2 : 3 * rounds // 4] = SPEED_UP * step
    return _regression(rng, _walk(rng, steps, dimension), noise)


@dataclass(frozen=True, eq=False)
class Adversary:
    """Features known beforehand, and labels that answer what the learner says.

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
    rng = _generator("adversarial", rounds, dimension, 0.0, seed)
    checks.require_argument("adversarial", "bound", bound, "(0, inf)")
    x = rng.standard_normal((rounds, dimension))
    return Adversary(x / np.linalg.norm(x, axis=1, keepdims=True), bound)


def _generator(
    maker: str, rounds: int, dimension: int, noise: float, seed: Seed
) -> np.random.Generator:
    checks.require_argument(maker, "rounds", rounds, "[1, inf)")
    checks.require_argument(maker, "dimension", dimension, "[1, inf)")
    checks.require_argument(maker, "noise", noise, "[0, inf)")
    return np.random.default_rng(seed)


def _somewhere(rng: np.random.Generator, dimension: int) -> FloatArray:
    """A random point at distance ``REACH`` from the origin."""
    direction = rng.standard_normal(dimension)
    return np.asarray(REACH * direction / np.linalg.norm(direction))


def _walk(rng: np.random.Generator, steps: FloatArray, dimension: int) -> FloatArray:
    truth = np.empty((len(steps), dimension))
    theta = _somewhere(rng, dimension)
    for t, step in enumerate(steps):
        theta = theta + step * rng.standard_normal(dimension)
        theta = theta * min(1.0, REACH / float(np.linalg.norm(theta)))
        truth[t] = theta
    return truth


def _regression(rng: np.random.Generator, truth: FloatArray, noise: float) -> Stream:
    x = rng.standard_normal(truth.shape)
    x = x / np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))
    y = (x * truth).sum(axis=1) + noise * rng.standard_normal(len(x))
    return Stream(Block(x, np.clip(y, -LABEL_BOUND, LABEL_BOUND)), truth)
