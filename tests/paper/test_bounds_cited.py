"""Algorithms that the paper cites stay below the bounds that are stated for them."""

import math

import numpy as np
import pytest

from thalweg import bounds, streams
from thalweg.bounds import Problem
from thalweg.domains import Ball
from thalweg.errors import InvalidParameterError
from thalweg.learners import (
    Ader,
    ConstantStepGradient,
    DiscountedGradient,
    FollowTheLeadingHistory,
    OnlineGradientDescent,
    OnlineNewtonStep,
)
from thalweg.losses import SquaredError, Tracking
from thalweg.regret import dynamic, path_length, static
from thalweg.types import Block

DOMAIN, T = Ball(1.0), 300
KINDS = {
    "stationary": streams.stationary(T, 2, noise=0.5, seed=1),
    "abrupt": streams.abrupt(T, 2, noise=0.3, changes=10, seed=2),
    "walk": streams.random_walk(T, 2, step=0.1, seed=3),
}


def play(learner, loss, block):
    size = np.shape(block.y if block.x is None else block.x)[-1]
    return learner.run(learner.init(np.zeros(size)), loss, block)[1]


@pytest.mark.parametrize("kind", KINDS)
def test_static_and_dynamic_bounds_of_ons_ogd_and_ader_hold(kind):
    stream, loss = KINDS[kind], SquaredError()
    block = stream.block
    problem = Problem.from_loss(loss, DOMAIN, block)
    G, alpha = problem.gradient_bound, problem.exp_concavity
    fixed = {
        OnlineNewtonStep(G, alpha, DOMAIN): bounds.online_newton_step(problem),
        OnlineGradientDescent(2 / G, DOMAIN): bounds.online_gradient_descent(problem),
    }
    for learner, bound in fixed.items():
        trace = play(learner, loss, block)
        assert static(trace, block, loss, DOMAIN).total <= bound
    trace = play(Ader(T, G, DOMAIN), loss, block)
    moving = dynamic(trace, block, loss, stream.truth)
    assert moving.total <= bounds.ader(problem, moving.path_length)


@pytest.mark.parametrize("jumps", [0, 3, 20, 200])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_the_leading_history_stays_below_its_bound(jumps, seed):
    stream, loss = streams.coin_noise_jumps(T, jumps, seed=seed), Tracking()
    problem = Problem.from_loss(loss, DOMAIN, stream.block)
    expert = DiscountedGradient(1.0, "tracking", domain=DOMAIN)
    learner = FollowTheLeadingHistory(expert, problem.exp_concavity)
    trace = play(learner, loss, stream.block)
    regret = dynamic(trace, stream.block, loss, stream.truth)

    def on_interval(length):
        return bounds.tracking_static(problem, 1.0, length, sharp=True)

    bound = bounds.leading_history(problem, regret.path_length, on_interval)
    assert regret.total <= bound


def test_the_bound_of_the_leading_history_is_the_least_over_partitions():
    problem = Problem(64, 1, 1.0, 1.0, 1.0, 0.25, 2.0)

    def by_hand(pieces):
        length = math.ceil(64 / pieces)
        lives = math.floor(math.log2(length)) + 1
        return pieces * lives * (4 * math.log(64) + 3) + 2 * length * 5.0

    bound = bounds.leading_history(problem, 5.0, lambda _: 3.0)
    assert bound == pytest.approx(min(by_hand(k) for k in range(1, 65)))


def test_over_its_life_a_copy_gains_at_most_the_logarithm_of_time():
    """The step of the proof: Σ f(θ_t) - f(copy) ≤ log(s)/α until every round s."""
    stream, loss = streams.coin_noise_jumps(200, 9, seed=5), Tracking()
    alpha = loss.constants(DOMAIN, stream.block).exp_concavity
    expert = DiscountedGradient(1.0, "tracking", domain=DOMAIN)
    learner = FollowTheLeadingHistory(expert, alpha)
    losses = play(learner, loss, stream.block).loss
    for start in (1, 2, 3, 8, 64, 96):  # rounds are counted from 1
        life = 4 * (start & -start)
        rounds = slice(start - 1, min(start + life, 200))
        copy = play(expert, loss, stream.block[rounds])
        excess = np.cumsum(losses[rounds] - copy.loss)
        clock = np.arange(start, start + len(excess))
        assert (excess <= np.log(clock) / alpha + 1e-9).all()


@pytest.mark.parametrize("averaging", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_constant_steps_stay_below_their_bound(averaging, noise):
    rng = np.random.default_rng(0)
    x = np.sqrt(rng.choice([0.5, 1.0], T))
    points = np.where(np.arange(T) // 30 % 2, 0.7, -0.7) + noise * rng.uniform(-1, 1, T)
    block, loss = Block(x[:, None], x * points), SquaredError()
    problem = Problem.from_loss(loss, DOMAIN, block)
    learner = ConstantStepGradient(problem.smoothness, averaging, DOMAIN)
    regret = dynamic(play(learner, loss, block), block, loss, points[:, None])
    start = {"averaging": averaging, "start_distance": abs(points[0])}
    bound = bounds.constant_step(problem, path_length(points[:, None]), **start)
    assert 0.01 * bound <= regret.total <= bound


def test_bounds_without_what_they_divide_by_are_infinite_or_refused():
    flat = Problem(10, 1, 1.0, 0.0, 1.0, 0.0, 1.0)
    assert bounds.online_newton_step(flat) == math.inf
    with pytest.raises(InvalidParameterError, match="α > 0"):
        bounds.leading_history(flat, 1.0, lambda _: 1.0)
    with pytest.raises(InvalidParameterError, match="strongly convex"):
        bounds.constant_step(flat, 1.0)
    wide = Problem(10, 1, math.inf, 0.0, 1.0, 1.0, 1.0)
    with pytest.raises(InvalidParameterError, match="'radius' parameter"):
        bounds.ader(wide, 1.0)
