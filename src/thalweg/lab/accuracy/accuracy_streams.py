"""The streams that accuracy is measured on: public ones, and ten synthetic kinds."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.random import Generator

from thalweg.lab.datasets import PUBLIC_STREAMS, load_stream
from thalweg.lab.datasets import MissingDataError as MissingDataError
from thalweg.types import FloatArray

FeaturesAndTargets = tuple[FloatArray, FloatArray]
"""Features (T, n) and targets (T,)."""
Loader = Callable[[], FeaturesAndTargets]
ROUNDS, SEEDS = 4000, 5
"""Length and number of the synthetic streams of one kind."""


def public_streams() -> Mapping[str, Loader]:
    """The public streams, each read when its loader is called."""

    def loader(name: str) -> Loader:
        def load() -> FeaturesAndTargets:
            stream = load_stream(name)
            return stream.x, stream.y

        return load

    return {name: loader(name) for name in PUBLIC_STREAMS}


def synthetic_streams(seeds: int = SEEDS, rounds: int = ROUNDS) -> Mapping[str, Loader]:
    """Ten kinds of drift, noise and seasonality, each with so many seeds."""

    def loader(
        generate: Callable[[Generator, int], FeaturesAndTargets], seed: int
    ) -> Loader:
        return lambda: generate(np.random.default_rng(seed), rounds)

    return {
        f"{generate.__name__}-{seed}": loader(generate, seed)
        for generate in SYNTHETIC
        for seed in range(seeds)
    }


def _linear(rng: Generator, theta: FloatArray, noise: Any) -> FeaturesAndTargets:
    x = rng.normal(size=theta.shape)
    return x, (x * theta).sum(axis=1) + noise * rng.normal(size=len(x))


def stationary(rng: Generator, rounds: int) -> FeaturesAndTargets:
    """One θ for ever: no concept drift."""
    return _linear(rng, np.tile(rng.normal(size=5), (rounds, 1)), 0.5)


def abrupt(rng: Generator, rounds: int) -> FeaturesAndTargets:
    """A new θ every 700 rounds: abrupt concept drift."""
    theta = rng.normal(size=(rounds // 700 + 1, 5))
    return _linear(rng, np.repeat(theta, 700, axis=0)[:rounds], 0.3)


def drift(rng: Generator, rounds: int) -> FeaturesAndTargets:
    """θ is a random walk: gradual concept drift."""
    return _linear(rng, np.cumsum(0.03 * rng.normal(size=(rounds, 5)), axis=0), 0.5)


def rotate(rng: Generator, rounds: int) -> FeaturesAndTargets:
    """θ goes round in a plane, once in 200 rounds."""
    plane = np.linalg.qr(rng.normal(size=(6, 2)))[0]
    angle = 2 * np.pi * np.arange(rounds) / 200
    return _linear(rng, np.column_stack([np.cos(angle), np.sin(angle)]) @ plane.T, 0.1)


def seasonal(rng: Generator, rounds: int) -> FeaturesAndTargets:
    """A pattern of 24 rounds that changes slowly, and features."""
    days = np.cumsum(0.1 * rng.normal(size=(rounds // 24 + 1, 24)), axis=0)
    x, y = _linear(rng, np.tile(rng.normal(size=3), (rounds, 1)), 0.3)
    return x, y + (rng.normal(size=24) * 2 + days).ravel()[:rounds]


def heavy_tails(rng: Generator, rounds: int) -> FeaturesAndTargets:
    """θ is a random walk, and noise is Student's t with 2.5 degrees of freedom."""
    x, y = _linear(rng, np.cumsum(0.02 * rng.normal(size=(rounds, 4)), axis=0), 0.0)
    return x, y + 0.5 * rng.standard_t(2.5, size=rounds)


def variance_shifts(rng: Generator, rounds: int) -> FeaturesAndTargets:
    """θ is a random walk under noise that is small and large in turn."""
    noise = np.where(np.arange(rounds) // 400 % 2, 2.0, 0.1)
    return _linear(rng, np.cumsum(0.03 * rng.normal(size=(rounds, 4)), axis=0), noise)


def sparse_jumps(rng: Generator, rounds: int) -> FeaturesAndTargets:
    """Now and then one coefficient jumps."""
    jump = (rng.random((rounds, 6)) < 1 / 600) * rng.normal(size=(rounds, 6)) * 2
    return _linear(rng, np.cumsum(jump, axis=0) + rng.normal(size=6), 0.2)


def trend(rng: Generator, rounds: int) -> FeaturesAndTargets:
    """A level whose slope is a random walk, and features."""
    slope = np.cumsum(0.001 * rng.normal(size=rounds))
    x, y = _linear(rng, np.tile(rng.normal(size=4), (rounds, 1)), 0.5)
    return x, y + np.cumsum(slope)


def unexcited_features(rng: Generator, rounds: int) -> FeaturesAndTargets:
    """Features that are zero for long, with coefficients that are random walks."""
    theta = np.cumsum(0.02 * rng.normal(size=(rounds, 6)), axis=0)
    excited = np.repeat(rng.random((rounds // 100 + 1, 6)) < 0.3, 100, axis=0)[:rounds]
    x = rng.normal(size=(rounds, 6)) * excited
    return x, (x * theta).sum(axis=1) + 0.3 * rng.normal(size=rounds)


SYNTHETIC = (
    stationary, abrupt, drift, rotate, seasonal, heavy_tails, variance_shifts,
    sparse_jumps, trend, unexcited_features,
)  # fmt: skip
