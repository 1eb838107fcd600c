"""The streams that accuracy is measured on: real ones, and ten kinds made up."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.random import Generator

from thalweg.lab.datasets import TASKS, load
from thalweg.types import FloatArray

Pair = tuple[FloatArray, FloatArray]
"""Features (T, n) and labels (T,)."""
Loader = Callable[[], Pair]
ROUNDS, SEEDS = 4000, 5
"""Of the streams that are made up."""


def public() -> Mapping[str, Loader]:
    """The public streams, read when their turn comes."""

    def loader(name: str) -> Loader:
        return lambda: (lambda task: (task.x, task.y))(load(name))

    return {name: loader(name) for name in TASKS}


def synthetic(seeds: int = SEEDS, rounds: int = ROUNDS) -> Mapping[str, Loader]:
    """Ten kinds × so many seeds."""

    def loader(make: Callable[[Generator, int], Pair], seed: int) -> Loader:
        return lambda: make(np.random.default_rng(seed), rounds)

    return {
        f"{make.__name__}-{seed}": loader(make, seed)
        for make in SYNTHETIC
        for seed in range(seeds)
    }


def _linear(rng: Generator, theta: FloatArray, noise: Any) -> Pair:
    x = rng.normal(size=theta.shape)
    return x, (x * theta).sum(axis=1) + noise * rng.normal(size=len(x))


def stationary(rng: Generator, rounds: int) -> Pair:
    """One θ for ever."""
    return _linear(rng, np.tile(rng.normal(size=5), (rounds, 1)), 0.5)


def abrupt(rng: Generator, rounds: int) -> Pair:
    """A new θ every 700 rounds."""
    theta = rng.normal(size=(rounds // 700 + 1, 5))
    return _linear(rng, np.repeat(theta, 700, axis=0)[:rounds], 0.3)


def drift(rng: Generator, rounds: int) -> Pair:
    """θ walks."""
    return _linear(rng, np.cumsum(0.03 * rng.normal(size=(rounds, 5)), axis=0), 0.5)


def rotate(rng: Generator, rounds: int) -> Pair:
    """θ goes round in a plane, once in 200 rounds."""
    plane = np.linalg.qr(rng.normal(size=(6, 2)))[0]
    angle = 2 * np.pi * np.arange(rounds) / 200
    return _linear(rng, np.column_stack([np.cos(angle), np.sin(angle)]) @ plane.T, 0.1)


def seasonal(rng: Generator, rounds: int) -> Pair:
    """A pattern of 24 rounds that changes slowly, and features."""
    days = np.cumsum(0.1 * rng.normal(size=(rounds // 24 + 1, 24)), axis=0)
    x, y = _linear(rng, np.tile(rng.normal(size=3), (rounds, 1)), 0.3)
    return x, y + (rng.normal(size=24) * 2 + days).ravel()[:rounds]


def heavy_tails(rng: Generator, rounds: int) -> Pair:
    """θ walks, and noise has Student's t, 2.5 degrees of freedom."""
    x, y = _linear(rng, np.cumsum(0.02 * rng.normal(size=(rounds, 4)), axis=0), 0.0)
    return x, y + 0.5 * rng.standard_t(2.5, size=rounds)


def variance_shifts(rng: Generator, rounds: int) -> Pair:
    """θ walks under noise that is calm and wild in turn."""
    noise = np.where(np.arange(rounds) // 400 % 2, 2.0, 0.1)
    return _linear(rng, np.cumsum(0.03 * rng.normal(size=(rounds, 4)), axis=0), noise)


def sparse_jumps(rng: Generator, rounds: int) -> Pair:
    """Now and then one coefficient jumps."""
    jump = (rng.random((rounds, 6)) < 1 / 600) * rng.normal(size=(rounds, 6)) * 2
    return _linear(rng, np.cumsum(jump, axis=0) + rng.normal(size=6), 0.2)


def trend(rng: Generator, rounds: int) -> Pair:
    """A level with a slope that walks, and features."""
    slope = np.cumsum(0.001 * rng.normal(size=rounds))
    x, y = _linear(rng, np.tile(rng.normal(size=4), (rounds, 1)), 0.5)
    return x, y + np.cumsum(slope)


def quiet_features(rng: Generator, rounds: int) -> Pair:
    """Features that are silent for long, with coefficients that walk."""
    theta = np.cumsum(0.02 * rng.normal(size=(rounds, 6)), axis=0)
    heard = np.repeat(rng.random((rounds // 100 + 1, 6)) < 0.3, 100, axis=0)[:rounds]
    x = rng.normal(size=(rounds, 6)) * heard
    return x, (x * theta).sum(axis=1) + 0.3 * rng.normal(size=rounds)


SYNTHETIC = (
    stationary, abrupt, drift, rotate, seasonal, heavy_tails, variance_shifts,
    sparse_jumps, trend, quiet_features,
)  # fmt: skip
