"""Mixtures that are played expert by expert, held to ``update`` round by round."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg import checks
from thalweg.domains import Ball, Box, Everywhere, Simplex
from thalweg.kernels.rls_bank.exponential_weights import mix_rounds, padded_log_weights
from thalweg.learners import (
    DiscountedGradient,
    DiscountedNewton,
    Experts,
    GeneralLeastSquares,
    Learner,
    OnlineGradientDescent,
    RecursiveLeastSquares,
    compiled_mixture,
)
from thalweg.learners.exponential_weights import hedge
from thalweg.losses import Huber, LinearMap, Logistic, SquaredError, Tracking
from thalweg.types import Block

DOMAINS = [Ball(0.4), Box([-0.2, -0.3, 0.0], [0.3, 0.1, 0.4]), Everywhere()]
LOSSES = [SquaredError(), Logistic(), Huber(0.3), Tracking()]
TOLERANCE = {"rtol": 1e-12, "atol": 1e-12}
"""Sums over experts, and the Newton step, are computed in another order."""


def make_experts(loss, domain, curvature, count):
    """Newton and gradient experts in turn, as many as ``count``; of points one kind."""
    discounts = np.resize([1.0, 0.99, 0.9, 0.7], count)
    if isinstance(loss, Tracking):
        rules = np.resize(["tracking", "strongly_convex", "smooth"], count)
        return tuple(
            DiscountedGradient(gamma, str(rule), 1.0, 2.0, domain)
            for gamma, rule in zip(discounts, rules, strict=True)
        )
    return tuple(
        DiscountedNewton(gamma, 0.5, 1.0, curvature, domain)
        if i % 3
        else DiscountedGradient(gamma, "smooth", 1.0, 4.0, domain)
        for i, gamma in enumerate(discounts)
    )


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
    """States and traces agree, log weights and every record included."""
    for a, b in zip(leaves(left[0]), leaves(right[0]), strict=True):
        np.testing.assert_allclose(a, b, **tolerance)
    for name in ("prediction", "loss", "theta"):
        ours, theirs = getattr(left[1], name), getattr(right[1], name)
        np.testing.assert_allclose(ours, theirs, **tolerance)
    weights = (run[1].extras["weights"] for run in (left, right))
    np.testing.assert_allclose(*weights, **tolerance)


mixtures = given(
    loss=st.sampled_from(LOSSES),
    domain=st.sampled_from(DOMAINS),
    curvature=st.sampled_from(["gradient", "hessian"]),
    count=st.integers(1, 10),
    rate=st.sampled_from([1e-2, 1.0, 30.0]),
    weighted=st.booleans(),
    timed=st.booleans(),
    seed=st.integers(0, 99),
)


@settings(max_examples=60)
@mixtures
def test_a_compiled_mixture_equals_its_definition(
    loss, domain, curvature, count, rate, weighted, timed, seed
):
    mixture = Experts(make_experts(loss, domain, curvature, count), rate)
    block = make_block(loss, 40, seed, weighted, timed)
    state, record = mixture.init(np.array([0.1, -0.1, 0.2])), ("theta", "weights")
    assert mixture.has_compiled_run(loss, state.theta)
    fast = mixture.run(state, loss, block, record)
    slow = Learner._play(mixture, state, loss, block, record)
    assert_equal_runs(fast, slow, **TOLERANCE)


@settings(max_examples=30)
@mixtures
def test_however_it_is_cut_it_is_the_same_to_the_last_bit(
    loss, domain, curvature, count, rate, weighted, timed, seed
):
    mixture = Experts(make_experts(loss, domain, curvature, count), rate)
    block = make_block(loss, 40, seed, weighted, timed)
    start, record = mixture.init(np.array([0.1, -0.1, 0.2])), ("theta", "weights")
    whole, trace = mixture.run(start, loss, block, record)
    cut, state, pieces = seed % 39 + 1, start, []
    for part in (block[:cut], block[cut:]):
        state, piece = mixture.run(state, loss, part, record)
        pieces.append(piece)
    for a, b in zip(leaves(state), leaves(whole), strict=True):
        np.testing.assert_array_equal(a, b)
    for read in (
        lambda trace: trace.prediction,
        lambda trace: trace.loss,
        lambda trace: trace.theta,
        lambda trace: trace.extras["weights"],
    ):
        together = np.concatenate([read(piece) for piece in pieces])
        np.testing.assert_array_equal(together, read(trace))


@pytest.mark.parametrize("record", [(), ("theta",), ("weights",)])
@pytest.mark.parametrize("loss", [SquaredError(), Tracking()])
def test_chunks_of_a_few_rounds_change_no_bit(monkeypatch, loss, record):
    mixture = Experts(make_experts(loss, DOMAINS[0], "hessian", 4), 1.0)
    block, start = make_block(loss, 50, 0, True, True), mixture.init(np.zeros(3))
    state, trace = mixture.run(start, loss, block, record)
    monkeypatch.setattr(compiled_mixture, "CHUNK_NUMBERS", 7 * 4 * 6)
    others, other = mixture.run(start, loss, block, record)
    for a, b in zip(leaves(state), leaves(others), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(trace.prediction, other.prediction)
    np.testing.assert_array_equal(trace.loss, other.loss)
    assert (trace.theta is not None) == ("theta" in record)
    assert list(trace.extras) == [name for name in record if name == "weights"]


def test_least_squares_and_newton_are_mixed_with_several_kinds_in_one():
    experts = (
        RecursiveLeastSquares(0.99, floor=0.1),
        DiscountedNewton(0.9, 0.5, domain=Ball(0.5)),
        Experts((RecursiveLeastSquares(1.0), RecursiveLeastSquares(0.9)), 0.5),
        DiscountedGradient(0.9, domain=Ball(5.0)),
    )
    mixture, loss = Experts(experts, 0.3), SquaredError()
    block, record = make_block(loss, 60, 3, True, True), ("theta", "weights")
    start = mixture.init(np.zeros(3))
    assert mixture.has_compiled_run(loss, start.theta)
    fast = mixture.run(start, loss, block, record)
    slow = Learner._play(mixture, start, loss, block, record)
    assert_equal_runs(fast, slow, **TOLERANCE)


def test_several_targets_and_matrices_of_features():
    rng = np.random.default_rng(0)
    inner = Experts((RecursiveLeastSquares(0.99), RecursiveLeastSquares(0.8)), 0.5)
    cases = [
        ((inner, RecursiveLeastSquares(0.9)), SquaredError(), (3, 2), (40, 3), (40, 2)),
        (
            (GeneralLeastSquares(0.9), GeneralLeastSquares(0.99)),
            *(LinearMap(), (3,), (40, 4, 3), (40, 4)),
        ),
    ]
    for experts, loss, start, x, y in cases:
        mixture = Experts(experts, 0.2)
        state = mixture.init(np.zeros(start))
        block = Block(rng.normal(size=x), rng.normal(size=y), rng.uniform(0, 2, 40))
        assert mixture.has_compiled_run(loss, state.theta)
        fast = mixture.run(state, loss, block, ("theta", "weights"))
        slow = Learner._play(mixture, state, loss, block, ("theta", "weights"))
        # Without a prior, the first points rest on few rows.
        assert_equal_runs(fast, slow, rtol=1e-9, atol=1e-9)


def test_single_precision_agrees_to_its_own_rounding():
    loss = SquaredError()
    mixture = Experts(make_experts(loss, DOMAINS[0], "hessian", 4), 1.0)
    block = make_block(loss, 40, 0, True, False)
    start = mixture.init(np.zeros(3, np.float32))
    state, trace = mixture.run(start, loss, block, ("theta",))
    single = checks.check_block(block, loss, start.theta)
    slow, other = Learner._play(mixture, start, loss, single, ("theta",))
    assert state.theta.dtype == trace.prediction.dtype == trace.loss.dtype == np.float32
    np.testing.assert_allclose(trace.prediction, other.prediction, atol=1e-5)
    np.testing.assert_allclose(state.log_weights, slow.log_weights, atol=1e-4)


class CountedUpdates(OnlineGradientDescent):
    """A learner without a kernel that counts its updates."""

    updates = 0

    def update(self, state, f):
        CountedUpdates.updates += 1
        return super().update(state, f)


class DoubledError(SquaredError):
    """A loss that no kernel knows."""

    def phi(self, p, y):
        return 2 * super().phi(p, y)

    def slope(self, p, y):
        return 2 * super().slope(p, y)

    def curvature(self, p, y):
        return 2 * super().curvature(p, y)


def test_what_has_no_kernel_is_played_round_by_round():
    newton, theta = DiscountedNewton(0.9, domain=Ball(0.5)), np.zeros(3)
    slow = Experts((newton, CountedUpdates(0.1)))
    assert not slow.has_compiled_run(SquaredError(), theta)
    before = CountedUpdates.updates
    slow.run(slow.init(theta), SquaredError(), make_block(SquaredError(), 9, 0, 0, 0))
    assert CountedUpdates.updates == before + 9
    simplex = Experts((DiscountedGradient(0.9, domain=Simplex(1.0)),))
    assert not simplex.has_compiled_run(SquaredError(), theta)
    mixture = Experts((newton, DiscountedGradient(0.9)))
    for loss in (DoubledError(), Huber(0.3, ridge=0.1), LinearMap()):
        assert not mixture.has_compiled_run(loss, theta)


@settings(max_examples=60)
@given(
    losses=st.lists(
        st.sampled_from([0.0, 1.0, 3.5, 1e10, 1e299, 1e300, np.inf]),
        min_size=9,
        max_size=9,
    ),
    later=st.lists(st.sampled_from([0.0, 2.0, 1e300]), min_size=9, max_size=9),
    rate=st.sampled_from([1e-3, 1.0, 1e3, 1e10]),
)
def test_the_kernel_weighs_as_hedge_does_however_large_the_losses(losses, later, rate):
    start = np.log(np.full(9, 1 / 9))
    padded, expert_losses = padded_log_weights(start), np.empty((2, 16))
    expert_losses[:, :9] = losses, later
    results = np.zeros((2, 1, 16)), expert_losses
    trace = np.empty((2, 1)), np.empty((0, 1, 1)), np.empty((0, 9))
    mix_rounds(padded, rate, results, np.empty((9, 0, 1, 1)), (0, 2), trace)
    with np.errstate(over="ignore"):  # as in every run
        expected = hedge(hedge(start, np.array(losses), rate), np.array(later), rate)
    np.testing.assert_allclose(padded[:9], expected, rtol=1e-12, atol=1e-12)
