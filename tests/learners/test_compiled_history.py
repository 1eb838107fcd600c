"""Following the leading history in a kernel, held to ``update`` round by round."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg import checks
from thalweg.domains import Ball, Box, Everywhere, Simplex
from thalweg.kernels.hedge import update_log_weights
from thalweg.learners import (
    DiscountedGradient,
    DiscountedNewton,
    FollowTheLeadingHistory,
    Learner,
    RecursiveLeastSquares,
)
from thalweg.learners.exponential_weights import hedge
from thalweg.losses import Constants, Huber, LinearMap, Logistic, SquaredError, Tracking
from thalweg.types import Block

DOMAINS = [Ball(0.4), Box([-0.2, -0.3, 0.0], [0.3, 0.1, 0.4]), Everywhere()]
LOSSES = [SquaredError(), Logistic(), Huber(0.3), Tracking()]
START = np.array([0.1, -0.1, 0.2])
TOLERANCE = {"rtol": 1e-12, "atol": 1e-12}
"""Sums over copies, and the Newton step, are computed in another order."""


def make_expert(loss, domain, kind, gamma):
    if isinstance(loss, Tracking):
        return DiscountedGradient(gamma, "tracking", domain=domain)
    if kind == "gradient":
        return DiscountedGradient(gamma, "strongly_convex", 1.0, 4.0, domain)
    curvature = "hessian" if kind == "full newton" else "gradient"
    return DiscountedNewton(gamma, 0.5, 1.0, curvature, domain)


def make_block(loss, rounds, seed, weighted, timed):
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-1, 1, size=(rounds, 3)), rng.uniform(0, 1, size=rounds)
    if isinstance(loss, Tracking):
        x, y = None, rng.uniform(-0.5, 0.5, size=(rounds, 3))
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], rounds) if weighted else None
    return Block(x, y, weight, rng.uniform(0, 3, rounds) if timed else None)


def leaves(tree):
    return sum(map(leaves, tree), []) if isinstance(tree, tuple) else [tree]


def assert_equal_runs(left, right, **tolerance):
    for a, b in zip(leaves(left[0]), leaves(right[0]), strict=True):
        np.testing.assert_allclose(a, b, **tolerance)
    for name in ("prediction", "loss", "theta"):
        ours, theirs = getattr(left[1], name), getattr(right[1], name)
        np.testing.assert_allclose(ours, theirs, **tolerance)


histories = given(
    loss=st.sampled_from(LOSSES),
    domain=st.sampled_from(DOMAINS),
    kind=st.sampled_from(["gradient", "newton", "full newton"]),
    gamma=st.sampled_from([1.0, 0.9]),
    rate=st.sampled_from([1e-2, 1.0, 30.0]),
    weighted=st.booleans(),
    timed=st.booleans(),
    seed=st.integers(0, 99),
)


@settings(max_examples=40)
@histories
def test_the_kernel_equals_its_definition(
    loss, domain, kind, gamma, rate, weighted, timed, seed
):
    expert = make_expert(loss, domain, kind, gamma)
    learner = FollowTheLeadingHistory(expert, rate)
    block = make_block(loss, 40, seed, weighted, timed)
    state = learner.init(START)
    assert learner.has_compiled_run(loss, state.theta)
    fast = learner.run(state, loss, block, ("theta",))
    slow = Learner._play(learner, state, loss, block, ("theta",))
    assert_equal_runs(fast, slow, **TOLERANCE)


@settings(max_examples=30)
@histories
def test_however_it_is_cut_it_is_the_same_to_the_last_bit(
    loss, domain, kind, gamma, rate, weighted, timed, seed
):
    expert = make_expert(loss, domain, kind, gamma)
    learner = FollowTheLeadingHistory(expert, rate)
    block = make_block(loss, 40, seed, weighted, timed)
    whole, trace = learner.run(learner.init(START), loss, block, ("theta",))
    state, cut, pieces = learner.init(START), seed % 39 + 1, []
    for part in (block[:cut], block[cut:]):
        state, piece = learner.run(state, loss, part, ("theta",))
        pieces.append(piece)
    for a, b in zip(leaves(state), leaves(whole), strict=True):
        np.testing.assert_array_equal(a, b)
    for name in ("prediction", "loss", "theta"):
        together = np.concatenate([getattr(piece, name) for piece in pieces])
        np.testing.assert_array_equal(together, getattr(trace, name))


@pytest.mark.parametrize("kind", ["newton", "gradient"])
def test_hundreds_of_lives_and_deaths_later_it_is_still_the_definition(kind):
    """The rules of the paper's experiments: case 3 of Theorem 1, and "tracking"."""
    rng = np.random.default_rng(0)
    y = 0.4 * (-1.0) ** (np.arange(700) // 90) + 0.6 * rng.choice([-1.0, 1.0], 700)
    constants = Constants(1.0, 1.0, 0.25, 2.0)
    if kind == "newton":
        expert = DiscountedNewton.from_theorem(3, constants, Ball(1.0), 1.0)
        loss, block = SquaredError(), Block(np.ones((700, 1)), y)
    else:
        expert = DiscountedGradient(1.0, "tracking", domain=Ball(1.0))
        loss, block = Tracking(), Block(None, y[:, None])
    learner = FollowTheLeadingHistory(expert, 0.25)
    state = learner.init(np.zeros(1))
    fast = learner.run(state, loss, block, ("theta",))
    slow = Learner._play(learner, state, loss, block, ("theta",))
    assert_equal_runs(fast, slow, **TOLERANCE)
    np.testing.assert_array_equal(fast[0].active_from, slow[0].active_from)


def test_a_round_that_weighs_nothing_costs_nothing_also_where_its_loss_overflows():
    learner = FollowTheLeadingHistory(DiscountedGradient(0.9, domain=Everywhere()))
    x, y = np.ones((6, 3)), np.full(6, 0.5)
    x[3], y[3] = 1e150, -1e150
    block = Block(x, y, np.where(np.arange(6) == 3, 0.0, 1.0))
    start = learner.init(np.full(3, 1e20))
    state, trace = learner.run(start, SquaredError(), block)
    slow, _ = Learner._play(learner, start, SquaredError(), block, ())
    assert trace.loss[3] == 0
    np.testing.assert_allclose(state.log_weights, slow.log_weights, **TOLERANCE)


@settings(max_examples=60)
@given(
    losses=st.lists(
        st.sampled_from([0.0, 1.0, 3.5, 1e10, 1e299, 1e300, np.inf]),
        min_size=6,
        max_size=6,
    ),
    later=st.lists(st.sampled_from([0.0, 2.0, 1e300]), min_size=6, max_size=6),
    rate=st.sampled_from([1e-3, 1.0, 1e3, 1e10]),
)
def test_the_kernel_weighs_as_hedge_does_however_large_the_losses(losses, later, rate):
    expected = log_weights = np.log(np.full(6, 1 / 6))
    ours = np.append(log_weights, 7.0)  # of which the first six count
    for now in (losses, later):
        update_log_weights(ours, np.array([*now, 0.0]), rate, 6)
        with np.errstate(over="ignore"):  # as in every run
            expected = hedge(expected, np.array(now), rate)
    np.testing.assert_allclose(ours, [*expected, 7.0], **TOLERANCE)


@pytest.mark.parametrize("kind", ["gradient", "full newton"])
@pytest.mark.slow
def test_single_precision_agrees_to_its_own_rounding(kind):
    loss = SquaredError()
    learner = FollowTheLeadingHistory(make_expert(loss, DOMAINS[0], kind, 0.9), 0.3)
    start = learner.init(START.astype(np.float32))
    block = make_block(loss, 40, 0, True, True)
    state, trace = learner.run(start, loss, block, ("theta",))
    single = checks.check_block(block, loss, start.theta)
    slow, other = Learner._play(learner, start, loss, single, ("theta",))
    for array in (state.theta, state.experts[0].theta, trace.prediction, trace.loss):
        assert array.dtype == np.float32
    np.testing.assert_allclose(trace.theta, other.theta, atol=1e-5)
    np.testing.assert_allclose(state.log_weights, slow.log_weights, atol=1e-4)


class ShyGradient(DiscountedGradient):
    """A learner of its own: it goes half of each step."""

    def update(self, state, f):
        after = super().update(state, f)
        return after._replace(theta=0.5 * (after.theta + state.theta))


def test_what_has_no_kernel_is_played_round_by_round():
    for expert, loss in (
        (RecursiveLeastSquares(0.9), SquaredError()),
        (ShyGradient(0.9), SquaredError()),
        (DiscountedGradient(0.9, domain=Simplex(1.0)), SquaredError()),
        (DiscountedNewton(0.9), LinearMap()),
        (DiscountedNewton(0.9), Huber(0.3, ridge=0.1)),
    ):
        learner = FollowTheLeadingHistory(expert)
        assert not learner.has_compiled_run(loss, START)
    learner = FollowTheLeadingHistory(ShyGradient(0.9))
    block = make_block(SquaredError(), 20, 0, True, True)
    state, _ = learner.run(learner.init(START), SquaredError(), block)
    slow, _ = Learner._play(learner, learner.init(START), SquaredError(), block, ())
    np.testing.assert_array_equal(state.theta, slow.theta)
