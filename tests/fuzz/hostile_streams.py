"""Streams that are legal and hostile: what the fuzzer plays to every learner.

Each function takes a generator, the number of rounds and of features, and the decimal
exponent of the largest legal size; it returns x (T, n) and y (T,).
"""

import numpy as np


def _labels(rng, x):
    """A linear label with noise, in the size of the features."""
    y = x @ rng.normal(size=x.shape[1])
    size = np.abs(y).max()
    noise = rng.choice([0.0, 1e-6, 0.1, 1.0])
    return y + noise * (size if size > 0 else 1.0) * rng.normal(size=len(x))


def normal(rng, rounds, n, limit):
    """Independent normal features."""
    x = rng.normal(size=(rounds, n))
    return x, _labels(rng, x)


def sparse(rng, rounds, n, limit):
    """Normal features of which most are exactly zero."""
    x = rng.normal(size=(rounds, n)) * (rng.uniform(size=(rounds, n)) < 0.3)
    return x, _labels(rng, x)


def binary(rng, rounds, n, limit):
    """Features 0 and 1, and labels that are small whole numbers."""
    x = 1.0 * (rng.uniform(size=(rounds, n)) < 0.5)
    return x, 1.0 * rng.integers(-3, 4, rounds)


def one_hot(rng, rounds, n, limit):
    """One feature is 1 in each round, all others are 0."""
    x = np.eye(n)[rng.integers(n, size=rounds)]
    return x, _labels(rng, x)


def constant(rng, rounds, n, limit):
    """The same features in all rounds; the label is constant as well, or is not."""
    x = np.tile(rng.normal(size=n), (rounds, 1))
    y = np.full(rounds, rng.normal())
    return x, y if rng.uniform() < 0.5 else y + rng.normal(size=rounds)


def zeros(rng, rounds, n, limit):
    """Features that are all zero; labels zero as well, or not."""
    y = np.zeros(rounds) if rng.uniform() < 0.5 else rng.normal(size=rounds)
    return np.zeros((rounds, n)), y


def duplicated_columns(rng, rounds, n, limit):
    """Features that repeat each other exactly."""
    x = rng.normal(size=(rounds, n))[:, rng.integers(max(n // 2, 1), size=n)]
    return x, _labels(rng, x)


def duplicated_rows(rng, rounds, n, limit):
    """A few rounds that return again and again."""
    distinct = rng.integers(1, n + 2)
    x = rng.normal(size=(distinct, n))[rng.integers(distinct, size=rounds)]
    return x, _labels(rng, x)


def steps(rng, rounds, n, limit):
    """Feature k is 0 until a moment of its own, and 1 from then on."""
    x = 1.0 * (np.arange(rounds)[:, None] >= rng.integers(rounds, size=n))
    return x, _labels(rng, x)


def quiet_then_loud(rng, rounds, n, limit):
    """Small values in the first half, large ones after that; in x, y or both."""
    x, y = normal(rng, rounds, n, limit)
    size = 10.0 ** rng.uniform(3, limit)
    loud = np.arange(rounds) >= rounds // 2
    where = rng.integers(3)
    x[loud] *= size**0.5 if where != 1 else 1.0
    y[loud] *= size**0.5 if where != 0 else 1.0
    return x, y


def extreme(rng, rounds, n, limit):
    """Sizes from the least to the largest legal one, mixed in every row."""
    x, y = (
        10.0 ** rng.uniform(-limit, limit, size) * rng.choice([-1, 1], size)
        for size in [(rounds, n), rounds]
    )
    if rng.uniform() < 0.5:  # few sizes, which meet more often than any would
        x, y = (
            10.0 ** rng.choice([-limit, 0.0, limit], size)
            for size in [(rounds, n), rounds]
        )
    return x, y


def spikes(rng, rounds, n, limit):
    """Normal values, and one in about ten rounds of any size."""
    x, y = normal(rng, rounds, n, limit)
    for values in (x, y):
        hit = rng.uniform(size=values.shape) < 0.1
        values[hit] *= 10.0 ** rng.uniform(1, limit - 1, hit.sum())
    top = 10.0**limit
    return np.clip(x, -top, top), np.clip(y, -top, top)


def scaled_columns(rng, rounds, n, limit):
    """Features whose units differ by many orders of magnitude."""
    x = rng.normal(size=(rounds, n))
    y = _labels(rng, x)
    return x * 10.0 ** rng.uniform(-0.9 * limit, 0.9 * limit, n), y


def integers(rng, rounds, n, limit):
    """Whole numbers from -5 to 5, in the features and the labels."""
    x = 1.0 * rng.integers(-5, 6, (rounds, n))
    return x, 1.0 * rng.integers(-5, 6, rounds)


def drifting(rng, rounds, n, limit):
    """Coefficients that walk at random."""
    x = rng.normal(size=(rounds, n))
    truth = np.cumsum(rng.normal(scale=0.3, size=(rounds, n)), axis=0)
    return x, (x * truth).sum(axis=1) + 0.1 * rng.normal(size=rounds)


def collinear(rng, rounds, n, limit):
    """Features in a plane, or so near to one that rounding decides."""
    rank = max(n // 2, 1)
    x = rng.normal(size=(rounds, rank)) @ rng.normal(size=(rank, n))
    x += rng.choice([0.0, 1e-14, 1e-9, 1e-4]) * rng.normal(size=(rounds, n))
    return x, _labels(rng, x)


STREAMS = {
    function.__name__.replace("_", " "): function
    for function in (
        normal, sparse, binary, one_hot, constant, zeros, duplicated_columns,
        duplicated_rows, steps, quiet_then_loud, extreme, spikes, scaled_columns,
        integers, drifting, collinear,
    )
}  # fmt: skip
"""Every kind of stream, by the name that the fuzzer prints."""
