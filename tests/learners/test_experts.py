import numpy as np
import pytest

from tests import oracles
from thalweg import discounts
from thalweg.domains import Ball
from thalweg.errors import InvalidParameterError, UnsupportedLossError
from thalweg.learners import (
    DiscountedGradient,
    DiscountedNewton,
    Experts,
    LastValue,
    Learner,
    RecursiveLeastSquares,
)
from thalweg.losses import Constants, Logistic, Round, SquaredError, Tracking
from thalweg.types import Block

RNG = np.random.default_rng(0)
BLOCK = Block(RNG.normal(size=(200, 3)), RNG.normal(size=200))
BANKS = {
    "rls": tuple(RecursiveLeastSquares(g) for g in (1.0, 0.99, 0.9, 0.5)),
    "floors": tuple(
        RecursiveLeastSquares(0.9, floor=d, leaky=True) for d in (0.1, 1.0)
    ),
    "newton": tuple(DiscountedNewton(g, 0.5, domain=Ball(0.5)) for g in (1.0, 0.9)),
    "mixed": (RecursiveLeastSquares(1.0), DiscountedGradient(0.9, domain=Ball(5.0))),
}


@pytest.mark.parametrize("experts", BANKS.values(), ids=BANKS)
def test_algorithm_2_equals_its_box(experts):
    loss, rate = SquaredError(), 0.3
    mixture = Experts(experts, rate)
    state, trace = mixture.run(
        mixture.init(np.zeros(3)), loss, BLOCK, ("theta", "weights")
    )
    alone = [e.run(e.init(np.zeros(3)), loss, BLOCK, ("theta",))[1] for e in experts]
    paths = np.array([one.theta for one in alone])

    def value(t, theta):
        return loss.value(theta, BLOCK.x[t], BLOCK.y[t])

    played, last = oracles.algorithm_2(paths, rate, value)
    np.testing.assert_allclose(trace.theta, played, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(state.weights, last, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(trace.extras["weights"].sum(axis=1), 1, rtol=1e-12)
    expected = [value(t, theta) for t, theta in enumerate(played)]
    np.testing.assert_allclose(trace.loss, expected, rtol=1e-9, atol=1e-12)


def test_a_bank_takes_several_targets_weights_and_elapsed_time():
    rng = np.random.default_rng(1)
    rates = rng.uniform(0, 2, size=(2, 200))
    block = Block(BLOCK.x, rng.normal(size=(200, 2)), *rates)
    mixture = Experts(BANKS["rls"], 0.2)
    fast_state, fast = mixture.run(
        mixture.init(np.zeros((3, 2))), SquaredError(), block, ("theta",)
    )
    state = mixture.init(np.zeros((3, 2)))
    for t, (x, y, weight, elapsed) in enumerate(block.rounds()):
        np.testing.assert_allclose(fast.theta[t], state.theta, rtol=1e-9, atol=1e-12)
        state = mixture.update(state, Round(SquaredError(), x, y, weight, elapsed))
    np.testing.assert_allclose(fast_state.theta, state.theta, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n", [1, 3, 8])
@pytest.mark.parametrize("bank", ["rls", "floors"])
def test_the_bank_kernel_equals_update(bank, n):
    """1e-9, as in the contract: the kernel sums over experts in another order."""
    rng = np.random.default_rng(2)
    x, weight = rng.normal(size=(500, n)), rng.choice([0.0, 0.5, 1.0, 3.0], 500)
    y = (x * rng.normal(size=(500, n)).cumsum(axis=0)).sum(axis=1)
    block = Block(x, y, weight, rng.uniform(0, 3, 500))
    mixture = Experts(BANKS[bank], 0.05)
    start = mixture.init(np.zeros(n))
    fast_state, fast = mixture.run(start, SquaredError(), block, ("weights",))
    slow_state, slow = Learner._play(
        mixture, start, SquaredError(), block, ("weights",)
    )
    np.testing.assert_allclose(fast.prediction, slow.prediction, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        fast.extras["weights"], slow.extras["weights"], rtol=1e-9, atol=1e-12
    )
    for ours, expected in zip(fast_state.experts, slow_state.experts, strict=True):
        np.testing.assert_allclose(ours.theta, expected.theta, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(ours.factor, expected.factor, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [1e6, 1e9, 1e100, 1e150])
def test_weights_sum_to_one_however_large_the_losses(size):
    mixture = Experts(BANKS["rls"])
    y = BLOCK.y.copy()
    y[100] = size
    state, trace = mixture.run(
        mixture.init(np.zeros(3)), SquaredError(), Block(BLOCK.x, y), ("weights",)
    )
    np.testing.assert_allclose(trace.extras["weights"].sum(axis=1), 1, rtol=1e-12)
    assert np.isfinite(trace.prediction).all()
    slow = mixture.init(np.zeros(3))
    for x, target, *rest in Block(BLOCK.x, y).rounds():
        slow = mixture.update(slow, Round(SquaredError(), x, target, *rest))
    np.testing.assert_allclose(state.weights, slow.weights, atol=1e-9)


def test_the_prior_favours_what_forgets_slowest():
    state = Experts(BANKS["rls"]).init(np.zeros(3))
    expected = (5 / 4) / (np.arange(1, 5) * np.arange(2, 6))
    np.testing.assert_allclose(state.weights, expected)
    assert state.weights.sum() == pytest.approx(1)


def test_theorem_7_and_8_settings():
    constants = Constants(0.5, 1.0, 0.25, 2.0)
    newton = Experts.from_newton_grid(constants, Ball(1.0), 1000)
    assert [e.discount for e in newton.experts] == list(discounts.grid(1000, 1.0))
    assert newton.mixing_rate == 0.25 and newton.experts[0].newton_step == 16.0
    assert {e.ridge for e in newton.experts} == {256.0}  # 1/(ρD)², ρ = 1/16
    by_hand = Experts.from_newton_grid(constants, Ball(1.0), 1000, ridge=3.0)
    assert {e.ridge for e in by_hand.experts} == {3.0}
    for case in (2, 3):
        full = Experts.from_newton_grid(constants, Ball(1.0), 1000, case)
        assert {e.ridge for e in full.experts} == {1.0}
    gradient = Experts.from_gradient_grid(constants, Ball(1.0), 1000, static=False)
    assert gradient.mixing_rate == 0.125
    assert [e.discount for e in gradient.experts] == list(
        discounts.grid(1000, 1.0, static=False)
    )


def test_a_loss_that_one_expert_cannot_take_is_refused():
    mixture = Experts((DiscountedNewton(), RecursiveLeastSquares()))
    with pytest.raises(UnsupportedLossError, match="RecursiveLeastSquares learns"):
        mixture.run(mixture.init(np.zeros(3)), Logistic(), BLOCK)


@pytest.mark.parametrize("experts", [(), (3,), (LastValue(),)])
def test_what_is_no_expert_is_refused(experts):
    with pytest.raises(InvalidParameterError, match="[Ee]xpert"):
        Experts(experts)


def test_tracking_experts_share_their_points():
    experts = tuple(DiscountedGradient(g, "tracking") for g in (1.0, 0.5))
    mixture = Experts(experts)
    block = Block(None, RNG.uniform(-0.5, 0.5, size=(20, 2)))
    _, trace = mixture.run(mixture.init(np.zeros(2)), Tracking(), block, ("theta",))
    np.testing.assert_allclose(trace.prediction, trace.theta, rtol=1e-12)
