import numpy as np
import pytest

from thalweg.domains import Ball
from thalweg.kernels import ud_factor as factors
from thalweg.kernels.directional import forget_along, information_along
from thalweg.learners import DirectionalRLS
from thalweg.losses import SquaredError
from thalweg.regret import dynamic, path_length
from thalweg.streams import abrupt, random_walk
from thalweg.types import Block

LOSS = SquaredError()


def dense(block, discount, ridge):
    """θ_1 … θ_{T+1} and P_T, with P formed and inverted."""
    n = block.x.shape[1]
    P, theta, played = ridge * np.eye(n), np.zeros(n), [np.zeros(n)]
    for x, y, weight, elapsed in block.rounds():
        v = np.sqrt(weight) * x
        if v.any():
            faded = 1 - discount**elapsed
            P = P - faded * np.outer(P @ v, P @ v) / (v @ P @ v) + np.outer(v, v)
        theta = theta + np.linalg.solve(P, v) * np.sqrt(weight) * (y - x @ theta)
        played.append(theta)
    return np.array(played), P


@pytest.mark.parametrize("discount", [0.5, 0.9, 1.0])
@pytest.mark.parametrize("n", [1, 4])
def test_equals_the_dense_recursion(discount, n):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, n))
    x[40:60] = 0
    block = Block(x, rng.normal(size=150), *rng.uniform(0.1, 2, size=(2, 150)))
    learner = DirectionalRLS(discount, 0.5)
    state, trace = learner.run(learner.init(np.zeros(n)), LOSS, block, ("theta",))
    played, P = dense(block, discount, 0.5)
    np.testing.assert_allclose(trace.theta, played[:-1], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(state.information, P, rtol=1e-9, atol=1e-9)


def test_nothing_is_forgotten_about_a_feature_that_stays_zero():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5000, 2))
    x[1000:, 1] = 0
    learner = DirectionalRLS(0.9, 0.01)
    block = Block(x, x @ [1.0, 2.0])
    half, _ = learner.run(learner.init(np.zeros(2)), LOSS, block[:1000])
    state, _ = learner.run(half, LOSS, block[1000:])
    # What was known of the quiet one, given the other, has not faded at all.
    remaining, known = (1 / s.covariance[1, 1] for s in (state, half))
    assert remaining > 0.1 * known
    np.testing.assert_allclose(state.theta, [1.0, 2.0], atol=1e-6)


@pytest.mark.parametrize("discount", [0.5, 0.9, 0.99])
def test_information_stays_between_its_bounds(discount):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3000, 3))
    x *= rng.uniform(0.5, 2, size=(3000, 1)) / np.linalg.norm(x, axis=1, keepdims=True)
    x[500:2500, 1:] = 0  # two features go quiet, and the first grows small
    learner, work = DirectionalRLS(discount, 0.3), np.empty(3)
    factor = learner.init(np.zeros(3)).factor
    gain = np.empty(3)
    shortest, longest = np.inf, 0.0
    for v in x:
        size = np.linalg.norm(v)
        shortest, longest = min(shortest, size), max(longest, size)
        forget_along(factor, v, discount, work)
        factors.learn(factor, v, gain)
        eigenvalue = np.linalg.eigvalsh(factors.information(factor))
        assert eigenvalue[-1] <= max(0.3, longest**2 / (1 - discount)) * (1 + 1e-9)
        assert eigenvalue[0] >= min(0.3, shortest**2 / (1 - discount)) * (1 - 1e-6)


def test_information_along_is_the_quadratic_form():
    rng = np.random.default_rng(2)
    factor = factors.prior(0.5, np.zeros(4))
    P = 0.5 * np.eye(4)
    for v in rng.normal(size=(6, 4)):
        factors.learn(factor, v, np.empty(4))
        P += np.outer(v, v)
    v = rng.normal(size=4)
    assert information_along(factor, v, np.empty(4)) == pytest.approx(v @ P @ v)


@pytest.mark.parametrize("discount", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("make", [abrupt, random_walk])
def test_regret_stays_under_its_bound(discount, make):
    ridge, T, n = 1.0, 500, 3
    stream = make(T, n, seed=3)
    learner = DirectionalRLS(discount, ridge, Ball(1.0))
    _, trace = learner.run(learner.init(np.zeros(n)), LOSS, stream.block)
    c, V = max(ridge, 1 / (1 - discount)), path_length(stream.truth)
    learning = n * np.log(c / ridge) + T * np.log(1 / discount)
    bound = 0.5 * 4 * learning + 2 * c * V + 2 * ridge
    result = dynamic(trace, stream.block, LOSS, stream.truth).total
    assert 0 < result <= bound


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_row_without_one_feature_leaves_what_is_known_of_it_finite(dtype):
    """A pivot D_j all but 0: the feature was huge, and is now 0 beside a tiny one."""
    largest = {np.float64: 1e150, np.float32: 1e15}[dtype]
    learner = DirectionalRLS(0.9, 0.5)
    x = np.array([[0.0, 0.99 * largest]] * 3 + [[largest**-0.5, 0.0]] * 3)
    state, _ = learner.run(
        learner.init(np.zeros(2, dtype)), SquaredError(), Block(x, np.ones(6))
    )
    assert np.isfinite(state.factor).all() and (np.diagonal(state.factor) > 0).all()
