"""Expected regret, computed exactly, is the mean of what is measured."""

import numpy as np
import pytest

from thalweg import discounts, streams
from thalweg.bounds.problem import discounted_count
from thalweg.domains import Ball
from thalweg.learners import DiscountedGradient, DiscountedNewton
from thalweg.losses import SquaredError, Tracking
from thalweg.paper.experiment import measure_regret
from thalweg.paper.paper_streams import (
    FeatureMoments,
    FeatureSizes,
    expected_regret,
    newton_steps,
    smooth_steps,
    through_signs,
    through_sizes,
)

DOMAIN, T, SEEDS, SIZES = Ball(1.0), 300, 200, FeatureSizes()
NEWTON = DiscountedNewton(0.9, 1.0, 1.0, "hessian", DOMAIN)
TRACKING = DiscountedGradient(0.9, "tracking", domain=DOMAIN)
SMOOTH = DiscountedGradient(0.9, "smooth", *SIZES, DOMAIN)
RULES = {
    "newton": (NEWTON, newton_steps(0.9, T, 1.0), FeatureMoments()),
    "tracking": (TRACKING, newton_steps(0.9, T), FeatureMoments()),
    "smooth": (SMOOTH, smooth_steps(0.9, T, *SIZES), SIZES.moments),
}


def observe(rule, points, seed):
    if rule == "tracking":
        return points, Tracking()
    if rule == "newton":
        return through_signs(points, 1, seed), SquaredError()
    return through_sizes(points, SIZES, seed), SquaredError()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("jumps", [0, 3])
def test_the_mean_over_seeds_is_the_expected_regret(rule, jumps):
    learner, steps, moments = RULES[rule]
    regrets = []
    for seed in range(SEEDS):
        points = streams.coin_noise_jumps(T, jumps, seed=seed)
        stream, loss = observe(rule, points, seed)
        path = stream.truth if jumps else None
        regrets.append(measure_regret(learner, loss, stream.block, path))
    means = streams.coin_noise_jumps(T, jumps).truth[:, 0]
    expected = expected_regret(steps, means, 0.6, moments, fixed=not jumps)
    # Four standard errors of the mean.
    error = np.std(regrets) / np.sqrt(SEEDS)
    assert abs(np.mean(regrets) - expected) <= 4 * error
    assert error <= 0.02 * expected


@pytest.mark.parametrize("gamma", [0.5, 0.99, 1.0])
def test_steps_are_those_of_the_learners(gamma):
    counts = [discounted_count(gamma, t) for t in range(1, 51)]
    np.testing.assert_allclose(newton_steps(gamma, 50), 1 / np.array(counts))
    learner = DiscountedGradient(gamma, "smooth", 0.5, 1.0)
    past, steps = 0.0, []
    for _ in range(50):
        steps.append(learner.step_size(gamma * past))
        past = gamma * past + 1
    np.testing.assert_allclose(smooth_steps(gamma, 50, 0.5, 1.0), steps)
    P, gains = 2.0, []
    for _ in range(50):
        P = gamma * P + 1
        gains.append(1 / P)
    np.testing.assert_allclose(newton_steps(gamma, 50, 2.0), gains)


def test_in_the_long_run_it_is_the_formula_of_the_tight_stream():
    """Tσ²(1-γ)/2(1+γ) a round, and Δ²/2(1-γ²) a jump, once γ's memory has passed."""
    gamma = discounts.from_window(50)
    quiet, noisy = (
        expected_regret(newton_steps(gamma, 20_000), np.zeros(20_000), noise)
        for noise in (0.0, 0.6)
    )
    assert quiet == 0
    per_round = 0.36 * (1 - gamma) / (1 + gamma) / 2
    longer = expected_regret(newton_steps(gamma, 40_000), np.zeros(40_000), 0.6)
    assert longer - noisy == pytest.approx(20_000 * per_round, rel=1e-9)
    jump = np.where(np.arange(20_000) < 10_000, 0.4, -0.4)
    jumped = expected_regret(newton_steps(gamma, 20_000), jump, 0.0)
    # The first round is a jump from 0 that one step of size 1 makes good.
    assert jumped == pytest.approx(0.08 + 0.64 / (1 - gamma**2) / 2, rel=1e-9)
