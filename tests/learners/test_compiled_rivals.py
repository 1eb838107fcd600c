"""The kernels of Ader and of online gradient descent, held to ``update``."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg import checks
from thalweg.domains import Ball, Box, Simplex
from thalweg.learners import Ader, Learner, OnlineGradientDescent
from thalweg.losses import Huber, LinearMap, Logistic, SquaredError, Tracking
from thalweg.types import Block

DOMAINS = [Ball(0.4), Box([-0.2, -0.3, 0.0], [0.3, 0.1, 0.4])]
LOSSES = [SquaredError(), Logistic(), Huber(0.3), Tracking()]
START = np.array([0.1, -0.1, 0.2])


def make_learner(kind, domain):
    if kind == "ogd":
        return OnlineGradientDescent(0.5, domain)
    return Ader(100, 2.0, domain, surrogate=kind == "surrogate")


def make_block(loss, rounds, seed, weighted):
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-1, 1, size=(rounds, 3)), rng.uniform(0, 1, size=rounds)
    if isinstance(loss, Tracking):
        x, y = None, rng.uniform(-0.5, 0.5, size=(rounds, 3))
    return Block(x, y, rng.choice([0.0, 0.5, 1.0, 2.0], rounds) if weighted else None)


runs = given(
    kind=st.sampled_from(["ader", "surrogate", "ogd"]),
    loss=st.sampled_from(LOSSES),
    domain=st.sampled_from(DOMAINS),
    weighted=st.booleans(),
    seed=st.integers(0, 99),
)


@settings(max_examples=60)
@runs
def test_the_kernel_equals_its_definition(kind, loss, domain, weighted, seed):
    """To 1e-12: sums over experts are computed in another order."""
    learner, block = make_learner(kind, domain), make_block(loss, 40, seed, weighted)
    state, record = learner.init(START), learner.records
    assert learner.has_compiled_run(loss, state.theta)
    after, fast = learner.run(state, loss, block, record)
    expected, slow = Learner._play(learner, state, loss, block, record)
    for a, b in zip(after, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    for name in ("prediction", "loss", "theta"):
        ours, theirs = getattr(fast, name), getattr(slow, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    assert list(fast.extras) == list(slow.extras)
    for name, values in slow.extras.items():
        np.testing.assert_allclose(fast.extras[name], values, rtol=1e-12, atol=1e-12)


@settings(max_examples=30)
@runs
def test_however_it_is_cut_it_is_the_same_to_the_last_bit(
    kind, loss, domain, weighted, seed
):
    learner, block = make_learner(kind, domain), make_block(loss, 40, seed, weighted)
    whole, trace = learner.run(learner.init(START), loss, block, ("theta",))
    state, cut, pieces = learner.init(START), seed % 39 + 1, []
    for part in (block[:cut], block[cut:]):
        state, piece = learner.run(state, loss, part, ("theta",))
        pieces.append(piece)
    for a, b in zip(state, whole, strict=True):
        np.testing.assert_array_equal(a, b)
    for name in ("prediction", "loss", "theta"):
        together = np.concatenate([getattr(piece, name) for piece in pieces])
        np.testing.assert_array_equal(together, getattr(trace, name))


@pytest.mark.parametrize("kind", ["ader", "surrogate", "ogd"])
def test_single_precision_agrees_to_its_own_rounding(kind):
    learner, loss = make_learner(kind, DOMAINS[0]), SquaredError()
    block, start = (
        make_block(loss, 40, 0, True),
        learner.init(START.astype(np.float32)),
    )
    _, trace = learner.run(start, loss, block, ("theta",))
    single = checks.check_block(block, loss, start.theta)
    _, other = Learner._play(learner, start, loss, single, ("theta",))
    assert trace.prediction.dtype == trace.loss.dtype == np.float32
    np.testing.assert_allclose(trace.theta, other.theta, atol=1e-5)


@pytest.mark.parametrize("surrogate", [False, True])
def test_losses_that_overflow_leave_finite_weights(surrogate):
    learner = Ader(4, 1e-150, Ball(1.0), surrogate)
    x, y = np.full((8, 3), 1e150), 1e150 * (-1.0) ** np.arange(8)
    block = Block(x, y, np.where(np.arange(8) == 3, 0.0, 1.0))
    state, trace = learner.run(learner.init(np.zeros(3)), SquaredError(), block)
    assert np.isfinite(state.log_weights).all() and np.isfinite(state.points).all()
    assert np.exp(state.log_weights).sum() == pytest.approx(1)
    assert trace.loss[3] == 0


def test_what_has_no_kernel_is_played_round_by_round():
    for domain, loss in (
        (Simplex(1.0), SquaredError()),
        (Ball(1.0), LinearMap()),
        (Ball(1.0), Huber(0.3, ridge=0.1)),
    ):
        for kind in ("ader", "ogd"):
            assert not make_learner(kind, domain).has_compiled_run(loss, START)
