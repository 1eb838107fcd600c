"""The streams nobody can do well on have the losses and paths that the proofs need."""

from math import comb

import numpy as np
import pytest

from thalweg import bounds, streams
from thalweg.domains import Ball
from thalweg.errors import InvalidParameterError
from thalweg.learners import DiscountedNewton
from thalweg.losses import SquaredError, Tracking
from thalweg.types import Block


def path_length(truth):
    return np.linalg.norm(np.diff(truth, axis=0), axis=1).sum()


def weighted_losses(block, points):
    weight = 1.0 if block.weight is None else block.weight
    return weight * Tracking().prediction_loss(points, block.y)


@pytest.mark.parametrize("rounds", [1, 2, 50, 999])
@pytest.mark.parametrize("length", [0.1, 3.0, 500.0])
def test_both_comparators_keep_to_their_path_length(rounds, length):
    for make in (streams.coin_flips, streams.coin_blocks):
        stream = make(rounds, length, seed=2)
        assert path_length(stream.truth) <= length * (1 + 1e-12)
        assert stream.block.y.shape == stream.truth.shape == (rounds, 1)


def test_a_coin_costs_what_the_proposition_says():
    stream = streams.coin_flips(100, 8.0, seed=5)
    sigma = 8.0 / 200
    assert np.unique(np.abs(stream.block.y)) == pytest.approx([2 * sigma])
    # (θ - ε)², not its half: (ε/2 - ε)² = σ² and (0 - ε)² = 4σ².
    losses = weighted_losses(stream.block, stream.truth)
    assert losses == pytest.approx(np.full(100, sigma**2))
    idle = weighted_losses(stream.block, np.zeros((100, 1)))
    assert (idle - losses).sum() == pytest.approx(
        bounds.lower_bound(100, 8.0), rel=1e-12
    )


def test_no_simple_learner_beats_the_lower_bound_by_more_than_luck():
    regrets = []
    for seed in range(400):
        stream = streams.coin_flips(60, 30.0, seed=seed)
        played = np.zeros((60, 1))
        played[1:] = 0.3 * stream.block.y[:-1]
        losses = weighted_losses(stream.block, played)
        regrets.append((losses - weighted_losses(stream.block, stream.truth)).sum())
    error = np.std(regrets) / np.sqrt(len(regrets))
    assert np.mean(regrets) >= bounds.lower_bound(60, 30.0) - 3 * error


def test_the_means_of_blocks_change_only_between_blocks():
    stream = streams.coin_blocks(1000, 8.0, seed=1)
    changes = np.flatnonzero(np.diff(stream.truth[:, 0])) + 1
    assert changes.size > 3
    assert np.all(changes % 25 == 0)  # ⌈(1000 / 8)^⅔⌉ = 25
    assert np.abs(stream.truth) == pytest.approx(np.full((1000, 1), 8.0 / 80))
    assert np.abs(stream.block.y - stream.truth) == pytest.approx(np.ones((1000, 1)))


def test_a_path_of_no_length_is_refused():
    for make in (streams.coin_flips, streams.coin_blocks):
        with pytest.raises(InvalidParameterError, match="'path_length' parameter"):
            make(10, 0.0)


def test_biased_coins_have_one_bias_which_is_uniform():
    biases = []
    for seed in range(300):
        stream = streams.biased_coins(400, seed=seed)
        assert set(np.unique(stream.block.y)) <= {-1.0, 1.0}
        mean = stream.truth[0, 0]
        assert (stream.truth == mean).all() and -1 < mean < 1
        # Five standard deviations of the mean of 400 coins.
        assert abs(stream.block.y.mean() - mean) <= 5 / 20
        biases.append(mean)
    # Mean 0 and variance ⅓, each to five of its standard errors.
    assert abs(np.mean(biases)) <= 5 * np.sqrt(1 / 3 / 300)
    assert abs(np.var(biases) - 1 / 3) <= 5 * np.sqrt((1 / 5 - 1 / 9) / 300)


@pytest.mark.parametrize("rounds", [1, 2, 3, 6])
def test_the_static_lower_bound_is_what_the_best_learner_pays(rounds):
    """All sequences of coins with their probabilities, by the integral over p."""
    expected = 0.0
    for code in range(2**rounds):
        coins = np.array([1.0 if code >> t & 1 else -1.0 for t in range(rounds)])
        heads = int((coins > 0).sum())
        probability = 1 / (rounds + 1) / comb(rounds, heads)
        # Laplace's rule of succession, for coins ±1.
        seen = np.arange(rounds)
        best = np.append(0.0, np.cumsum(coins)[:-1]) / (seen + 2)
        losses = (best - coins) ** 2
        hindsight = ((coins.mean() - coins) ** 2).sum()
        expected += probability * (losses.sum() - hindsight)
    assert bounds.static_lower_bound(rounds) == pytest.approx(expected, rel=1e-12)


def test_newton_plays_the_best_prediction_of_biased_coins():
    stream = streams.biased_coins(50, seed=4)
    coins = stream.block.y[:, 0]
    block = Block(np.ones((50, 1)), coins, weight=stream.block.weight)
    learner = DiscountedNewton(1.0, 1.0, 4.0, "hessian", Ball(1.0))
    trace = learner.run(learner.init(np.zeros(1)), SquaredError(), block)[1]
    best = np.append(0.0, np.cumsum(coins)[:-1]) / (np.arange(50) + 2)
    np.testing.assert_allclose(trace.prediction, best, atol=1e-12)
