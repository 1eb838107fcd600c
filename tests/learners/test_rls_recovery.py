"""How long a shock stays in recursive least squares: its docstring says so."""

import numpy as np
import pytest

from thalweg.learners import RecursiveLeastSquares
from thalweg.losses import SquaredError
from thalweg.types import Block

BEFORE, SHOCK = 180, 20


def recovery_rounds(discount, size, target, seed):
    """Rounds from the end of the shock to the last error above 1."""
    rng = np.random.default_rng(seed)
    after = int(6 * np.log(size) / (1 - discount))
    x = rng.normal(size=(BEFORE + SHOCK + after, 2))
    y = x @ [1.0, -2.0]
    shock = slice(BEFORE, BEFORE + SHOCK)
    y[shock] = size * rng.normal(size=SHOCK)
    if target == "features":
        x[shock] *= size
    learner = RecursiveLeastSquares(discount)
    _, trace = learner.run(learner.init(np.zeros(2)), SquaredError(), Block(x, y))
    return np.flatnonzero(abs(y - trace.prediction)[-after:] > 1)[-1]


@pytest.mark.parametrize("discount", [0.9, 0.98, 0.99])
@pytest.mark.parametrize("size", [1e3, 1e5, 1e8])
def test_rows_m_times_too_large_are_forgotten_after_twice_ln_m_memories(discount, size):
    expected = 2 * np.log(size) / (1 - discount)
    rounds = [recovery_rounds(discount, size, "features", seed) for seed in range(3)]
    assert 0.7 <= np.mean(rounds) / expected <= 1.3, rounds


@pytest.mark.parametrize("discount", [0.9, 0.98, 0.99])
@pytest.mark.parametrize("size", [1e5, 1e8])
def test_labels_m_times_too_large_are_forgotten_in_half_that_time(discount, size):
    limit = np.log(size) / (1 - discount)
    rounds = [recovery_rounds(discount, size, "labels", seed) for seed in range(3)]
    assert 0.5 <= np.mean(rounds) / limit <= 1.0, rounds
