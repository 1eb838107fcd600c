"""The appendix's Theorems 9 and 10, and Proposition 1, run."""

import numpy as np
import pytest

from thalweg import bounds, streams
from thalweg.bounds import Problem
from thalweg.domains import Ball, Everywhere
from thalweg.learners import DiscountedGradient, GeneralLeastSquares
from thalweg.losses import LinearMap, Tracking
from thalweg.regret import dynamic, minimisers, static
from thalweg.types import Block

T, N = 300, 3


def rls_from_nothing(A, y, gamma):
    """Discounted least squares with P_0 = 0 from θ_1 = 0, as the appendix has it."""
    P, b, theta = np.zeros((N, N)), np.zeros(N), np.zeros(N)
    predictions = np.empty_like(y)
    for t in range(len(y)):
        predictions[t] = A[t] @ theta
        P, b = gamma * P + A[t].T @ A[t], gamma * b + A[t].T @ y[t]
        theta = np.linalg.solve(P, b)
    return predictions


def world(kind, condition, rng):
    """A_t with I ⪯ AᵀA ⪯ condition·I and y_t of norm at most 1."""
    roots = np.sqrt(np.linspace(1, condition, N))
    tall = np.linalg.qr(rng.standard_normal((T, N + 2, N)))[0]
    A = tall @ (roots[:, None] * np.linalg.qr(rng.standard_normal((T, N, N)))[0])
    if kind == "noise":
        y = rng.standard_normal((T, N + 2))
    elif kind == "walk":
        points = np.cumsum(0.1 * rng.standard_normal((T, N)), axis=0)
        y = np.einsum("tmn,tn->tm", A, points)
    else:
        y = A @ np.ones(N) * np.where(np.arange(T) % 2, 1, -1)[:, None]
    return Block(A, y / np.maximum(1, np.linalg.norm(y, axis=1))[:, None])


@pytest.mark.parametrize("kind", ["noise", "walk", "alternating"])
@pytest.mark.parametrize("condition", [1.0, 1.5, 4.0])
def test_the_appendix_holds_where_every_round_determines_theta(kind, condition):
    problem = Problem(T, N, 1.0, 1.0, condition, 1.0, 1.0)
    loss = LinearMap()
    for seed in range(3):
        block = world(kind, condition, np.random.default_rng(seed))
        best = minimisers(block, loss)
        start = float(np.linalg.norm(best.points[0]))
        for gamma in (0.1, 0.19, 0.5, 0.7, 0.99, 1.0):
            learner = GeneralLeastSquares(gamma)
            trace = learner.run(learner.init(np.zeros(N)), loss, block)[1]
            forecasts = rls_from_nothing(block.x, block.y, gamma)
            np.testing.assert_allclose(trace.prediction, forecasts, atol=1e-11)
            fixed = static(trace, block, loss).total
            moving = dynamic(trace, block, loss, best.points).total
            for sharp in (False, True):
                right = bounds.general_static(problem, gamma, 1.0, sharp=sharp)
                assert fixed <= right
                at = (problem, gamma, 1.0, T, best.path_length)
                settings = {"start_distance": start, "sharp": sharp}
                assert moving <= bounds.general_dynamic(*at, **settings)


@pytest.mark.parametrize("gamma", [0.05, 0.2, 0.5])
def test_theorems_9_and_10_are_within_a_factor_on_noise(gamma):
    """Labels ± 1 by a coin, δ = 1: neither term of either bound may be left out."""
    rounds = 1000
    rng = np.random.default_rng(7)
    A = rng.choice([-1.0, 1.0], (rounds, 1, 1))
    block, loss = Block(A, rng.choice([-1.0, 1.0], (rounds, 1))), LinearMap()
    problem = Problem(rounds, 1, 1.0, 1.0, 1.0, 1.0, 1.0)
    learner = GeneralLeastSquares.from_theorem(
        9, loss.constants(Everywhere(), block), gamma
    )
    trace = learner.run(learner.init(np.zeros(1)), loss, block)[1]
    best = minimisers(block, loss)
    moving = dynamic(trace, block, loss, best.points).total
    right = bounds.general_dynamic(
        problem, gamma, 1.0, rounds, best.path_length, start_distance=1.0
    )
    assert 0.1 * right <= moving <= right
    fixed = static(trace, block, loss).total
    right = bounds.general_static(problem, gamma, 1.0, sharp=True)
    assert 0.1 * right <= fixed <= right


@pytest.mark.parametrize("gamma", [0.3, 0.9, 1.0])
def test_no_discount_beats_the_lower_bound_by_more_than_luck(gamma):
    rounds, length, regrets = 80, 40.0, []
    learner = DiscountedGradient(gamma, "tracking", domain=Ball(1.0))
    for seed in range(200):
        stream = streams.coin_flips(rounds, length, seed=seed)
        trace = learner.run(learner.init(np.zeros(1)), Tracking(), stream.block)[1]
        result = dynamic(trace, stream.block, Tracking(), stream.truth)
        assert result.path_length <= length
        regrets.append(result.total)
    error = np.std(regrets) / np.sqrt(len(regrets))
    assert np.mean(regrets) >= bounds.lower_bound(rounds, length) - 3 * error


def test_regret_on_coin_blocks_grows_at_least_at_the_minimax_rate():
    """The best fixed discount in hindsight, with the path growing as T^½."""
    ratios = []
    for rounds in (500, 4000, 32000):
        length = rounds**0.5
        stream = streams.coin_blocks(rounds, length, seed=3)
        totals = []
        for gamma in (0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0):
            learner = DiscountedGradient(gamma, "tracking", domain=Ball(3.0))
            trace = learner.run(learner.init(np.zeros(1)), Tracking(), stream.block)[1]
            totals.append(dynamic(trace, stream.block, Tracking(), stream.truth).total)
        ratios.append(min(totals) / bounds.minimax_rate(rounds, length))
    assert min(ratios) > 0.05
    assert ratios[-1] > 0.5 * ratios[0]
