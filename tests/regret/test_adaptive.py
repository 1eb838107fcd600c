"""The worst interval is the one that trying all of them finds."""

import numpy as np
import pytest

from thalweg import streams
from thalweg.domains import Ball
from thalweg.errors import InvalidParameterError, UnsupportedLossError
from thalweg.learners import DiscountedNewton
from thalweg.losses import LinearMap, Logistic, SquaredError, Tracking
from thalweg.regret import adaptive
from thalweg.types import Block, Trace

SQUARED = SquaredError()


def least_loss(x, y):
    """min ½‖xθ - y‖² over all θ, by a singular value decomposition."""
    theta = np.linalg.lstsq(x, y)[0]
    return 0.5 * ((x @ theta - y) ** 2).sum()


def brute_force(losses, x, y):
    """Every interval, each solved afresh; x (T, m, n) and y (T, m, k)."""
    best = -np.inf, (0, 0)
    for start in range(len(losses)):
        for stop in range(start + 1, len(losses) + 1):
            A, b = (part[start:stop].reshape(-1, part.shape[2]) for part in (x, y))
            regret = losses[start:stop].sum() - least_loss(A, b)
            best = max(best, (regret, (start, stop)))
    return best


def forecasts(block, seed):
    """Predictions of a learner that is sometimes right: a noisy half of y."""
    rng = np.random.default_rng(seed)
    return 0.5 * block.y + 0.2 * rng.standard_normal(np.shape(block.y))


def one_hot(rng, rounds, dimension):
    return np.eye(dimension)[rng.integers(0, dimension, rounds)]


def features(kind, rng, rounds, dimension):
    x = rng.standard_normal((rounds, dimension))
    if kind == "collinear":
        x[:, -1] = x[:, 0] * 3
    elif kind == "nearly absent":
        x[:, -1] *= np.arange(rounds) >= rounds - 5
    elif kind == "badly scaled":
        x *= 10.0 ** np.linspace(-6, 6, dimension)
    elif kind == "all zero":
        x[:] = 0
    elif kind == "one hot":
        x = one_hot(rng, rounds, dimension)
    elif kind == "repeated":
        x = np.repeat(x[: rounds // 10], 10, axis=0)
    return x


KINDS = "plain collinear nearly_absent badly_scaled all_zero one_hot repeated".split()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rounds", "dimension"), [(200, 3), (70, 1), (40, 6)])
def test_the_search_of_all_intervals_equals_brute_force(kind, rounds, dimension):
    rng = np.random.default_rng(rounds + dimension)
    x = features(kind.replace("_", " "), rng, rounds, dimension)
    block = Block(x, rng.standard_normal(rounds) + x @ rng.standard_normal(dimension))
    trace = Trace.from_predictions(forecasts(block, 1), block, SQUARED)
    regret, interval = brute_force(trace.loss, x[:, None], block.y[:, None, None])
    result = adaptive(trace, block, SQUARED)
    assert result.low == result.high == pytest.approx(regret, rel=1e-10)
    assert result.interval == interval


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rounds", [129, 200, 333])
def test_the_bracket_contains_the_exact_worst(kind, rounds):
    rng = np.random.default_rng(rounds)
    x = features(kind.replace("_", " "), rng, rounds, 3)
    x = np.vstack([x, x[: rounds - len(x)]])
    drift = np.cumsum(0.2 * rng.standard_normal((rounds, 3)), axis=0)
    block = Block(x, (x * drift).sum(axis=1) + rng.standard_normal(rounds))
    trace = Trace.from_predictions(forecasts(block, 2), block, SQUARED)
    exact = adaptive(trace, block, SQUARED)
    bracket = adaptive(trace, block, SQUARED, exact_up_to=40)
    rounding = 1e-12 * trace.loss.sum()
    assert bracket.low <= exact.low + rounding
    assert bracket.high >= exact.high - rounding
    inside = slice(*bracket.interval)
    least = least_loss(x[inside], block.y[inside])
    attained = trace.loss[inside].sum() - least
    assert bracket.low == pytest.approx(attained, rel=1e-9)


@pytest.mark.parametrize("kind", ["abrupt", "random_walk", "mixed", "stationary"])
def test_the_bracket_is_narrow_on_drifting_streams(kind):
    block = getattr(streams, kind)(600, 4, seed=5).block
    mean = np.linalg.lstsq(block.x[:200], block.y[:200])[0]
    trace = Trace.from_predictions(block.x @ mean, block, SQUARED)
    exact = adaptive(trace, block, SQUARED)
    bracket = adaptive(trace, block, SQUARED, exact_up_to=300)
    assert bracket.low <= exact.low * (1 + 1e-12) <= bracket.high * (1 + 2e-12)
    assert bracket.low >= 0.9 * exact.low
    assert bracket.high <= 1.5 * exact.high


def test_weights_several_targets_maps_and_points_are_all_least_squares():
    rng = np.random.default_rng(9)
    T, weight = 60, rng.uniform(0.1, 3, 60)
    root = np.sqrt(weight)[:, None, None]
    x, maps = rng.standard_normal((T, 2)), rng.standard_normal((T, 3, 2))
    wide, tall = rng.standard_normal((T, 4)), rng.standard_normal((T, 3))
    cases = [
        (SQUARED, Block(x, wide, weight), x[:, None], wide[:, None]),
        (LinearMap(), Block(maps, tall, weight), maps, tall[:, :, None]),
        (Tracking(), Block(None, wide, weight), np.ones((T, 1, 1)), wide[:, None]),
    ]
    for loss, block, A, b in cases:
        trace = Trace.from_predictions(0.1 * block.y, block, loss)
        regret, interval = brute_force(trace.loss, root * A, root * b)
        result = adaptive(trace, block, loss)
        assert result.low == pytest.approx(regret, rel=1e-10)
        assert result.interval == interval
        bracket = adaptive(trace, block, loss, exact_up_to=20)
        assert bracket.low <= regret * (1 + 1e-12) <= bracket.high * (1 + 2e-12)


def test_the_worst_interval_is_where_the_learner_slept():
    block = streams.stationary(400, 2, noise=0.01, seed=1).block
    prediction = block.y.copy()
    prediction[150:230] = 0
    trace = Trace.from_predictions(prediction, block, SQUARED)
    start, stop = adaptive(trace, block, SQUARED).interval
    assert abs(start - 150) <= 2
    assert abs(stop - 230) <= 2


def test_one_round_is_an_interval_too():
    block = Block(np.ones((1, 2)), np.array([3.0]))
    trace = Trace.from_predictions(np.array([1.0]), block, SQUARED)
    result = adaptive(trace, block, SQUARED)
    assert (result.low, result.interval) == (2.0, (0, 1))


def test_what_cannot_be_searched_is_refused():
    block = Block(np.ones((5, 1)), np.ones(5))
    trace = Trace.from_predictions(np.zeros(5), block, SQUARED)
    with pytest.raises(UnsupportedLossError, match="Got Logistic"):
        adaptive(trace, block, Logistic())
    with pytest.raises(InvalidParameterError, match="'exact_up_to' parameter"):
        adaptive(trace, block, SQUARED, exact_up_to=0)


@pytest.mark.slow
def test_the_comparator_of_a_learner_in_a_ball_lies_in_the_ball():
    block = Block(np.array([[1.0, 0.0]]), np.array([1.0]))
    learner = DiscountedNewton(0.9, 1.0, 1.0, "hessian", Ball(0.1))
    trace = learner.run(learner.init(np.zeros(2)), SQUARED, block)[1]
    result = adaptive(trace, block, SQUARED, domain=Ball(0.1))
    assert result.low == pytest.approx(0.095, abs=1e-12)
    assert result.high == pytest.approx(0.095, abs=1e-12)
    assert adaptive(trace, block, SQUARED).low == pytest.approx(0.5, abs=1e-12)
