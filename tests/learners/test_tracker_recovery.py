"""After a shock the Tracker is soon as good as one that begins where the shock ended."""

import numpy as np
import pytest

from thalweg.learners import Tracker
from thalweg.losses import SquaredError
from thalweg.types import Block

LOSS = SquaredError()
BEFORE, AFTER = 1000, 2000


def calm_stream(kind, rounds, n=3, seed=0):
    """Features of size 1 and labels of size 3."""
    rng = np.random.default_rng(seed)
    x, noise, t = (
        rng.normal(size=(rounds, n)),
        rng.normal(size=rounds),
        np.arange(rounds),
    )
    theta = np.full(n, 3 / np.sqrt(n))
    if kind == "linear":
        return x, x @ theta + 0.5 * noise
    if kind == "season":
        return x, 4 * np.sin(2 * np.pi * t / 24) + x @ theta / 3 + 0.5 * noise
    theta = theta + np.cumsum(0.03 * rng.normal(size=(rounds, n)), axis=0)
    return x, (x * theta).sum(
        axis=1
    ) + 0.5 * noise  # the coefficients are a random walk


def squared_errors(x, y, delay=0):
    learner = Tracker(delay=delay)
    start = learner.init(np.zeros(x.shape[1]))
    state, trace = learner.run(start, LOSS, Block(x, y))
    return (y - trace.prediction) ** 2, state


def excess(x, y, delay=0):
    """The error 1,000 to 2,000 rounds after the shock, over that of a fresh Tracker."""
    errors, _ = squared_errors(x, y, delay)
    fresh, _ = squared_errors(x[-AFTER:], y[-AFTER:], delay)
    return errors[-AFTER // 2 :].mean() / fresh[-AFTER // 2 :].mean()


SHOCKS = [(300, 0), (600, 0), (300, 100), (600, 200)]


@pytest.mark.parametrize("kind", ["linear", "season", "walk"])
def test_250_rounds_of_300_or_600_among_labels_of_3_are_forgotten(kind):
    ratios = []
    for label, feature in SHOCKS:
        x, y = calm_stream(kind, BEFORE + 250 + AFTER)
        shock = slice(BEFORE, BEFORE + 250)
        y[shock] = label
        x[shock] += feature
        ratios.append(excess(x, y))
    assert max(ratios) <= 1.5, ratios
