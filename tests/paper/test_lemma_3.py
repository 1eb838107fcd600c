"""Lemma 3: the mixture loses at most log(1/w_1) / α to any of its experts."""

import numpy as np
import pytest

from thalweg.domains import Ball
from thalweg.learners import DiscountedGradient, DiscountedNewton, Experts
from thalweg.losses import Round, SquaredError, Tracking
from thalweg.types import Block

DOMAIN, ROUNDS = Ball(1.0), 400
DISCOUNTS = (1.0, 0.99, 0.9, 0.5)


def hostile_labels(kind, rng):
    """Labels in [-1, 1] chosen after the prediction was seen, to hurt it."""
    leader = rng.choice([-1.0, 1.0])

    def label(t, prediction, experts):
        if kind == "opposite":
            return -1.0 if prediction >= 0 else 1.0
        if kind == "favour one":
            # The expert farthest from the mixture is made right, as long as it pays.
            return float(
                np.clip(experts[np.argmax(np.abs(experts - prediction))], -1, 1)
            )
        return leader * (1.0 if (t // 40) % 2 else -1.0)

    return label


def play(mixture, label, rng):
    """Losses of the mixture and of each expert, (T,) and (T, N)."""
    loss, state = SquaredError(), mixture.init(np.zeros(3))
    mixed, single = [], []
    for t in range(ROUNDS):
        x = rng.normal(size=3)
        x /= np.linalg.norm(x)
        predictions = np.array([x @ one.theta for one in state.experts])
        f = Round(loss, x, label(t, x @ state.theta, predictions))
        mixed.append(f.value(state.theta))
        single.append([f.value(one.theta) for one in state.experts])
        state = mixture.update(state, f)
    return np.array(mixed), np.array(single)


@pytest.mark.parametrize("kind", ["opposite", "favour one", "flip"])
@pytest.mark.parametrize("seed", range(4))
def test_no_expert_beats_the_mixture_by_more_than_the_bound(kind, seed):
    rng = np.random.default_rng(seed)
    alpha = 1 / 4  # |x·θ| ≤ 1 and |y| ≤ 1, so every residual is at most 2
    experts = tuple(DiscountedNewton(g, 1.0, 1.0, "hessian", DOMAIN) for g in DISCOUNTS)
    mixture = Experts(experts, mixing_rate=alpha)
    log_weights = mixture.init(np.zeros(3)).log_weights
    mixed, single = play(mixture, hostile_labels(kind, rng), rng)
    excess = np.cumsum(mixed[:, None] - single, axis=0)
    assert (excess <= -log_weights / alpha + 1e-9).all()


def test_the_bound_is_felt():
    """A rate far above α breaks it, so that the test above can fail."""
    rng = np.random.default_rng(0)
    experts = tuple(DiscountedNewton(g, 1.0, 1.0, "hessian", DOMAIN) for g in DISCOUNTS)
    mixture = Experts(experts, mixing_rate=1e4)
    log_weights = mixture.init(np.zeros(3)).log_weights
    mixed, single = play(mixture, hostile_labels("opposite", rng), rng)
    excess = np.cumsum(mixed[:, None] - single, axis=0)
    assert (excess > -log_weights / 1e4).any()


@pytest.mark.parametrize("seed", range(4))
def test_strongly_convex_losses_use_their_own_rate(seed):
    """ℓ-strongly convex with gradients up to G is ℓ/G²-exp-concave: λ = ℓ/G²."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(ROUNDS, 2))
    points /= np.maximum(1, np.linalg.norm(points, axis=1))[:, None]
    block = Block(None, points * np.sign(np.sin(np.arange(ROUNDS) / 20))[:, None])
    constants = Tracking().constants(DOMAIN, block)
    mixture = Experts.from_gradient_grid(constants, DOMAIN, ROUNDS)
    start = mixture.init(np.zeros(2))
    _, trace = mixture.run(start, Tracking(), block)
    rate = constants.strong_convexity / constants.gradient_bound**2
    assert mixture.mixing_rate == rate
    for expert, log_weight in zip(mixture.experts, start.log_weights, strict=True):
        assert isinstance(expert, DiscountedGradient)
        _, alone = expert.run(expert.init(np.zeros(2)), Tracking(), block)
        excess = np.cumsum(trace.loss - alone.loss)
        assert (excess <= -log_weight / rate + 1e-9).all()
