import numpy as np
import pytest

from tests import oracles
from thalweg.domains import Ball, Box, Everywhere
from thalweg.errors import InvalidParameterError, UnsupportedLossError
from thalweg.learners import DiscountedGradient
from thalweg.losses import Huber, LinearMap, Logistic, Round, SquaredError, Tracking
from thalweg.types import Block

RNG = np.random.default_rng(0)
POINTS = Block(None, RNG.uniform(-0.7, 0.7, size=(300, 2)))
LINES = Block(RNG.normal(size=(300, 2)), RNG.uniform(size=300))
ELL, U = 0.5, 4.0


def printed_step(rule, gamma):
    """η_t as the paper prints it, and its limit at γ = 1."""
    if gamma == 1:
        return {
            "tracking": lambda t: 1 / t,
            "smooth": lambda t: 1 / (ELL * (t - 1) + U),
            "strongly_convex": lambda t: 1 / (ELL * t),
        }[rule]
    one = 1 - gamma
    return {
        "tracking": lambda t: one / (1 - gamma**t),
        "smooth": lambda t: one / (ELL * (gamma - gamma**t) + U * one),
        "strongly_convex": lambda t: one / (ELL * (1 - gamma**t)),
    }[rule]


@pytest.mark.parametrize("gamma", [0.3, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("domain", [Ball(0.4), Box([-0.2, 0.0], [0.3, 0.5])], ids=repr)
@pytest.mark.parametrize(
    "rule, loss, block",
    [
        ("tracking", Tracking(), POINTS),
        ("smooth", Tracking(), POINTS),
        ("smooth", Logistic(), LINES),
        ("strongly_convex", SquaredError(), LINES),
        ("strongly_convex", Huber(0.5), LINES),
        ("strongly_convex", Huber(0.5, ridge=0.5), LINES),
    ],
)
def test_each_rule_equals_its_printed_form(rule, loss, block, gamma, domain):
    learner = DiscountedGradient(gamma, rule, ELL, U, domain)
    state, trace = learner.run(learner.init(np.zeros(2)), loss, block, ("theta",))
    expected = oracles.gradient_descent(
        np.zeros(2), printed_step(rule, gamma), loss, block, domain.project
    )
    ours = np.vstack([trace.theta, state.theta])
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("gamma", [1 - 1e-9, 1 - 1e-15])
def test_steps_near_no_forgetting_are_exact(gamma):
    """The printed (1-γ)/(1-γᵗ) would lose all its digits here; expm1 keeps them."""
    learner = DiscountedGradient(gamma, "tracking", domain=Everywhere())
    state, _ = learner.run(learner.init(np.zeros(2)), Tracking(), POINTS)
    t = len(POINTS) + 1
    exact = np.expm1(np.log(gamma)) / np.expm1(t * np.log(gamma))
    result = learner.step_size(gamma * state.discounted_count)
    assert result == pytest.approx(exact, rel=1e-12)


def test_the_tracking_rule_is_the_discounted_mean():
    learner = DiscountedGradient(0.9, "tracking", domain=Everywhere())
    state, _ = learner.run(learner.init([5.0, 5.0]), Tracking(), POINTS)
    weight = 0.9 ** np.arange(len(POINTS))[::-1]
    np.testing.assert_allclose(state.theta, weight @ POINTS.y / weight.sum())


def test_weights_and_elapsed_time_enter_the_discounted_mean():
    rng = np.random.default_rng(1)
    weight, elapsed = rng.uniform(0, 2, size=(2, 300))
    block = Block(None, POINTS.y, weight, elapsed)
    learner = DiscountedGradient(0.9, "tracking", domain=Everywhere())
    state, _ = learner.run(learner.init([5.0, 5.0]), Tracking(), block)
    final, _ = oracles.discounted_weights(0.9, block)
    np.testing.assert_allclose(state.theta, final @ POINTS.y / final.sum())


def test_the_tracking_rule_takes_no_other_loss():
    learner = DiscountedGradient(rule="tracking")
    with pytest.raises(UnsupportedLossError, match="'tracking' learns from Tracking"):
        learner.run(learner.init(np.zeros(2)), LinearMap(), POINTS)


def test_smoothness_below_strong_convexity_is_refused():
    with pytest.raises(InvalidParameterError, match=r"'smoothness' .* in \[2.0, inf\)"):
        DiscountedGradient(strong_convexity=2.0, smoothness=1.0)


def test_a_rule_that_does_not_exist_is_refused():
    with pytest.raises(InvalidParameterError, match="'rule' .* one of 'tracking'"):
        DiscountedGradient(rule="fast")


def test_a_weight_and_a_slope_whose_product_overflows_leave_a_finite_point():
    learner = DiscountedGradient(0.9, domain=Everywhere())
    block = Block([[1.0, 0.0]] * 2, [1.0, 1.0], [1.0, 1e200**0.5])
    start = learner.init(np.array([1e150, 0.0]))
    heavy = Block([[1e75, 0.0], [1e75, 0.0]], [1.0, 1.0], [1e150, 1e150])
    for rounds in (block, heavy):
        state, trace = learner.run(start, SquaredError(), rounds)
        assert np.isfinite(state.theta).all() and np.isfinite(trace.loss).all()


def test_a_step_of_any_length_ends_in_the_nearest_point_of_a_ball():
    x = np.array([[-7e113, 6e76, -1e-63], [3.5e114, -1e76, 1e-64], [1e114, 1e76, 0.0]])
    block, loss = Block(x, np.array([-3.0, 1.5, 1.0])), SquaredError()
    learner = DiscountedGradient(0.5, "smooth", domain=Ball(1.0))
    start = learner.init(np.zeros(3))
    _, trace = learner.run(start, loss, block)
    state, predictions = start, []
    for row, y, weight, elapsed in block.rounds():
        predictions.append(learner.predict(state, row))
        state = learner.update(state, Round(loss, row, y, weight, elapsed))
    np.testing.assert_allclose(trace.prediction, predictions, rtol=1e-9)
