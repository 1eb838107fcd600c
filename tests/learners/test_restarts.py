import numpy as np
import pytest

from thalweg.errors import InvalidParameterError
from thalweg.learners import RecursiveLeastSquares, RestartExperts
from thalweg.losses import SquaredError
from thalweg.regret import adaptive
from thalweg.streams import abrupt
from thalweg.types import Block

LOSS = SquaredError()


def oracle(block, Y, ridge):
    """Every start's own run of least squares, mixed by the rules spelt out."""
    T, rls = len(block), RecursiveLeastSquares(1.0, ridge)
    expert_predictions = np.zeros(
        (T, T)
    )  # [i, t]: the expert that started in round i + 1
    for i in range(T):
        rest = block[i:]
        _, trace = rls.run(rls.init(np.zeros(block.x.shape[1])), LOSS, rest)
        expert_predictions[i, i:] = np.clip(trace.prediction, -Y, Y)
    weights, out = {1: 1.0}, []
    for t in range(1, T + 1):
        total = sum(weights.values())
        out.append(
            sum(v * expert_predictions[b - 1, t - 1] for b, v in weights.items())
            / total
        )
        y = block.y[t - 1]
        weights = {
            b: v * np.exp(-((y - expert_predictions[b - 1, t - 1]) ** 2) / (8 * Y**2))
            for b, v in weights.items()
        }
        total = sum(weights.values())
        weights = {
            b: v / total * (1 - 1 / (t + 1))
            for b, v in weights.items()
            if t + 1 - b <= 4 * (b & -b)
        }
        weights[t + 1] = 1 / (t + 1)
    return np.array(out)


def test_equals_every_restart_run_by_itself():
    rng = np.random.default_rng(0)
    block = Block(rng.normal(size=(70, 2)), np.clip(rng.normal(size=70), -1, 1))
    learner = RestartExperts(1.0, ridge=0.5)
    _, trace = learner.run(learner.init(np.zeros(2)), LOSS, block)
    np.testing.assert_allclose(
        trace.prediction, oracle(block, 1.0, 0.5), rtol=1e-9, atol=1e-12
    )


def test_recovers_on_every_interval_where_least_squares_does_not():
    stream = abrupt(600, 2, changes=3, seed=1)
    result = []
    for learner in (RestartExperts(1.0), RecursiveLeastSquares(1.0)):
        _, trace = learner.run(learner.init(np.zeros(2)), LOSS, stream.block)
        result.append(adaptive(trace, stream.block, LOSS).low)
    assert result[0] < 0.5 * result[1]


def test_a_bound_outside_its_range_is_refused():
    with pytest.raises(InvalidParameterError, match="'label_bound'"):
        RestartExperts(0.0)
