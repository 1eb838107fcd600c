"""The streams that accuracy is measured on: public ones, as they are and made harder,
and ten synthetic kinds.

Stripped streams lack the features that are past labels, so that a learner has to find
them by itself. Shocked streams have four shocks each, so that a learner has to go on as
before after what happens once. The rounds of a shock are scored like all others. A
shock is a few labels far from all others, as from a sensor that fails for a moment
(also: additive outliers, impulse noise). Features that are past labels show each shock
again, as many rows later as they lag.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from benchmarks.public_streams import PUBLIC_STREAMS, PublicStream, load_stream
from thalweg.types import FloatArray

FeaturesAndTargets = tuple[FloatArray, FloatArray]
"""Features (T, n) and targets (T,)."""
ROUNDS, SEEDS = 4000, 5
"""Length and number of the synthetic streams of one kind."""
STRIPPED_STREAMS = (
    "bikeshare", "metro", "beijing_pm", "appliances", "household", "lod", "nyse_vol",
    "uk_gas", "sst", "nyc_weather", "waterflow",
)  # fmt: skip
"""The eleven public streams with past labels among their features."""
SHOCK_SEED = 14
DURATIONS = (1, 1, 2, 3)
"""Rounds that each of the four shocks of a stream lasts, in random order."""
MIN_SIZE, MAX_SIZE = 8.0, 20.0
"""The size of a shock, up or down, in standard deviations of the label."""


class Scales(NamedTuple):
    """Means and deviations of a whole stream, also where it is cut."""

    x_mean: FloatArray  # (n,)
    x_deviation: FloatArray  # (n,) 1 for a constant column
    y_mean: float
    y_deviation: float

    @staticmethod
    def of_stream(x: FloatArray, y: FloatArray) -> "Scales":
        """The scales of features (T, n) and labels (T,)."""
        spread = x.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        return Scales(x.mean(axis=0), spread, float(y.mean()), float(y.std()))


class AccuracyStream(NamedTuple):
    """A stream to measure accuracy on: the first rows of one, or all."""

    x: FloatArray  # (T, n)
    y: FloatArray  # (T,)
    scales: Scales
    season: int = 1  # rows after which labels repeat themselves; 1 if they do not

    def standardise(self) -> FeaturesAndTargets:
        """Features and targets in units of the scales."""
        x_mean, x_deviation, y_mean, y_deviation = self.scales
        return (self.x - x_mean) / x_deviation, (self.y - y_mean) / y_deviation


Loader = Callable[[], AccuracyStream]


def public_streams(rows: int | None = None) -> Mapping[str, Loader]:
    """The first rows of the public streams, each read when its loader is called."""
    return _public_loaders(PUBLIC_STREAMS, rows, as_published)


def stripped_streams(rows: int | None = None) -> Mapping[str, Loader]:
    """The public streams without the features that are past labels."""
    return _public_loaders(STRIPPED_STREAMS, rows, without_label_lags)


def shocked_streams(rows: int | None = None) -> Mapping[str, Loader]:
    """The public streams with four shocks each."""
    return _public_loaders(PUBLIC_STREAMS, rows, with_shocks)


def _public_loaders(
    names: Iterable[str],
    rows: int | None,
    convert: Callable[[PublicStream, int | None], AccuracyStream],
) -> Mapping[str, Loader]:
    def loader(name: str) -> Loader:
        return lambda: convert(load_stream(name), rows)

    return {name: loader(name) for name in names}


def as_published(stream: PublicStream, rows: int | None = None) -> AccuracyStream:
    """The first rows of a stream, or all."""
    scales = Scales.of_stream(stream.x, stream.y)
    return AccuracyStream(stream.x[:rows], stream.y[:rows], scales, stream.season)


def without_label_lags(stream: PublicStream, rows: int | None = None) -> AccuracyStream:
    """The first rows of a stream without its past labels.

    Where there are no other features, the last label stays.
    """
    lags = stream.lag_columns
    if len(lags) == stream.x.shape[1]:
        lags = {lag: column for lag, column in lags.items() if lag > 1}
    x = np.delete(stream.x, list(lags.values()), axis=1)
    return as_published(replace(stream, x=x, lag_columns={}), rows)


def with_shocks(stream: PublicStream, rows: int | None = None) -> AccuracyStream:
    """The first rows of a stream with four shocks, which the scales leave out."""
    calm = as_published(stream, rows)
    rng = np.random.default_rng([SHOCK_SEED, *stream.name.encode()])
    added = draw_shocks(calm.y, burn_in(len(calm.y)), rng)
    x = add_to_lags(calm.x, stream.lag_columns, added)
    return calm._replace(x=x, y=calm.y + added)


def draw_shocks(y: FloatArray, first: int, rng: Generator) -> FloatArray:
    """What is added to each label: (T,), zero but for one shock in every quarter.

    The rounds from ``first`` on are cut into four equal parts, and a shock begins at
    random in each, so that no two overlap and no round before ``first`` has one.
    """
    added = np.zeros(len(y))
    starts = np.linspace(first, len(y), len(DURATIONS) + 1).astype(int)
    durations = rng.permutation(DURATIONS)
    for start, end, duration in zip(starts, starts[1:], durations, strict=False):
        size = rng.choice([-1, 1]) * rng.uniform(MIN_SIZE, MAX_SIZE) * y.std()
        begin = rng.integers(start, end - duration + 1)
        added[begin : begin + duration] = size
    return added


def add_to_lags(
    x: FloatArray, lag_columns: Mapping[int, int], added: FloatArray
) -> FloatArray:
    """The features, if ``added`` is added to the labels: past labels show it too."""
    x = x.copy()
    for lag, column in lag_columns.items():
        x[lag:, column] += added[: len(added) - lag]
    return x


def burn_in(rounds: int) -> int:
    """Number of rounds that are not scored: 500, or 100 on streams of at most 5,000."""
    return 100 if rounds <= 5000 else 500


def synthetic_streams(seeds: int = SEEDS, rounds: int = ROUNDS) -> Mapping[str, Loader]:
    """Ten kinds of drift, noise and seasonality, each with several seeds."""

    def loader(
        generate: Callable[[Generator, int], FeaturesAndTargets], seed: int
    ) -> Loader:
        def load() -> AccuracyStream:
            x, y = generate(np.random.default_rng(seed), rounds)
            return AccuracyStream(x, y, Scales.of_stream(x, y))

        return load

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
