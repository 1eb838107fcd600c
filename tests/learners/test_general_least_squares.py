"""General least squares minimises the discounted sum, in the paper's range of γ."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contracts.examples import example_learners
from tests.oracles import discounted_weights
from thalweg import bounds
from thalweg.bounds import Problem
from thalweg.domains import Everywhere
from thalweg.errors import InvalidParameterError, UnsupportedLossError
from thalweg.learners import GeneralLeastSquares, RecursiveLeastSquares
from thalweg.losses import Constants, LinearMap, SquaredError
from thalweg.regret import minimisers
from thalweg.types import Block

LOSS = LinearMap()


def random_block(seed, rounds, m, n, rated=False):
    rng = np.random.default_rng(seed)
    A, y = rng.standard_normal((rounds, m, n)), rng.standard_normal((rounds, m))
    rates = rng.uniform(0.1, 3, (2, rounds)) if rated else (None, None)
    return Block(A, y, *rates)


def minimiser(discount, block):
    """argmin Σ w_s γ^(time passed) ½‖y_s - A_sθ‖², from stacked rows."""
    root = np.sqrt(discounted_weights(discount, block)[0])
    A = (root[:, None, None] * block.x).reshape(-1, block.x.shape[2])
    return np.linalg.lstsq(A, (root[:, None] * block.y).ravel())[0]


@given(
    st.integers(0, 10_000),
    st.integers(1, 12),
    st.integers(1, 6),
    st.sampled_from([1.0, 0.9, 0.3]),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_the_next_point_minimises_the_discounted_sum(seed, rounds, n, discount, rated):
    block = random_block(seed, rounds, n + 2, n, rated)
    learner = GeneralLeastSquares(discount)
    state, trace = learner.run(learner.init(np.ones(n)), LOSS, block, ("theta",))
    expected = [minimiser(discount, block[:t]) for t in range(1, rounds + 1)]
    played = np.vstack([trace.theta[1:], state.theta])
    scale = 1 + np.abs(expected).max()
    np.testing.assert_allclose(played, expected, rtol=1e-9, atol=1e-9 * scale)
    np.testing.assert_allclose(
        trace.prediction, np.einsum("tmn,tn->tm", block.x, trace.theta), atol=1e-12
    )
    residual = block.y - trace.prediction
    losses = 0.5 * block.weights * (residual**2).sum(axis=1)
    np.testing.assert_allclose(trace.loss, losses, rtol=1e-12)


def test_the_information_is_that_of_the_rounds_alone():
    block, gamma = random_block(1, 5, 4, 3), 0.7
    learner = GeneralLeastSquares(gamma)
    state, _ = learner.run(learner.init(np.zeros(3)), LOSS, block)
    P = sum(gamma ** (4 - t) * A.T @ A for t, A in enumerate(block.x))
    np.testing.assert_allclose(state.information, P, rtol=1e-12)
    np.testing.assert_allclose(state.covariance, np.linalg.inv(P), rtol=1e-12)


def test_the_start_counts_for_the_first_round_only():
    block, learner = random_block(2, 4, 3, 3), GeneralLeastSquares(0.5)
    runs = [
        learner.run(learner.init(start), LOSS, block)[1].prediction
        for start in (np.zeros(3), np.array([5.0, -2.0, 1e3]))
    ]
    assert (runs[0][0] != runs[1][0]).all()
    np.testing.assert_allclose(runs[0][1:], runs[1][1:], atol=1e-9)


def test_one_row_a_round_is_recursive_least_squares_without_a_prior():
    block = random_block(3, 80, 1, 4, rated=True)
    general, usual = GeneralLeastSquares(0.9), RecursiveLeastSquares(0.9, ridge=0.0)
    state, trace = general.run(general.init(np.ones(4)), LOSS, block)
    flat = Block(block.x[:, 0], block.y[:, 0], block.weight, block.elapsed)
    other, expected = usual.run(usual.init(np.ones(4)), SquaredError(), flat)
    np.testing.assert_allclose(trace.prediction[:, 0], expected.prediction, rtol=1e-12)
    np.testing.assert_allclose(state.theta, other.theta, rtol=1e-12)


@pytest.mark.parametrize("gamma", [0.05, 0.15, 0.19])
def test_points_come_nearer_to_the_last_minimiser_by_the_stated_factor(gamma):
    # Corollary after Lemma 8, δ = 4: ‖θ_{t+1} - θ*_t‖ ≤ ρ‖θ_t - θ*_t‖ with ρ < 1.
    rng = np.random.default_rng(4)
    turn = np.linalg.qr(rng.standard_normal((200, 3, 3)))[0]
    A = turn @ (np.array([[1.0], [1.5], [2.0]]) * np.swapaxes(turn, 1, 2))
    block = Block(A, rng.standard_normal((200, 3)))
    constants = LOSS.constants(Everywhere(), block)
    learner = GeneralLeastSquares.from_theorem(9, constants, gamma)
    state, trace = learner.run(learner.init(np.zeros(3)), LOSS, block, ("theta",))
    best = minimisers(block, LOSS).points
    after = np.linalg.norm(np.vstack([trace.theta[1:], state.theta]) - best, axis=1)
    before = np.linalg.norm(trace.theta - best, axis=1)
    rho = 2 * 4 * gamma / (4 * gamma + 1 - gamma)
    assert rho < 1
    assert (after[1:] <= rho * before[1:] * (1 + 1e-9)).all()
    assert (after[1:] / before[1:]).max() > 0.3 * rho


CONDITION_4 = Constants(1.0, 4.0, 1.0, 1.0)


@pytest.mark.parametrize("discount", [0.2, 0.5, 1.0])
def test_theorem_9_refuses_a_discount_that_does_not_contract(discount):
    problem = Problem(100, 3, 1.0, 1.0, 4.0, 1.0, 1.0)
    assert discount >= bounds.general_largest_discount(problem)
    assert bounds.general_dynamic(problem, discount, 1.0) == np.inf
    message = r"'discount' parameter of GeneralLeastSquares in Theorem 9, at u/ℓ = 4,"
    with pytest.raises(InvalidParameterError, match=message):
        GeneralLeastSquares.from_theorem(9, CONDITION_4, discount)


@pytest.mark.parametrize("theorem, discount", [(9, 0.199), (10, 0.199), (10, 1.0)])
def test_a_discount_in_the_range_of_its_theorem_is_taken(theorem, discount):
    learner = GeneralLeastSquares.from_theorem(theorem, CONDITION_4, discount)
    assert learner == GeneralLeastSquares(discount)


def test_what_the_appendix_does_not_cover_is_refused_by_name():
    with pytest.raises(InvalidParameterError, match="must be 9 or 10. Got 1 instead"):
        GeneralLeastSquares.from_theorem(1, CONDITION_4, 0.1)
    flat = LOSS.constants(Everywhere(), random_block(0, 5, 2, 3))
    with pytest.raises(InvalidParameterError, match="full column rank.* Got ℓ = 0"):
        GeneralLeastSquares.from_theorem(10, flat, 0.1)
    with pytest.raises(InvalidParameterError, match="'discount' parameter"):
        GeneralLeastSquares(0.0)
    with pytest.raises(InvalidParameterError, match=r"of shape \(n,\)"):
        GeneralLeastSquares().init(np.zeros((3, 2)))
    with pytest.raises(UnsupportedLossError, match="learns from LinearMap"):
        learner = GeneralLeastSquares()
        learner.run(learner.init(np.zeros(3)), SquaredError(), random_block(0, 5, 2, 3))


def test_learners_of_a_row_a_round_refuse_matrices_by_name():
    block, refusals = random_block(0, 5, 2, 3), 0
    for learner, loss in example_learners():
        if LinearMap in learner.accepts or loss == LOSS:
            continue
        state = learner.init(np.array([0.1, -0.05, 0.02]))
        try:
            learner.check_loss(LOSS)
        except UnsupportedLossError as error:
            assert "Got LinearMap() instead" in str(error)
            refusals += 1
        else:  # it takes any loss, and plays this one
            learner.run(state, LOSS, block)
    assert refusals >= 8


def test_single_rows_and_no_rows_can_be_predicted_as_well():
    block, learner = random_block(5, 6, 4, 3), GeneralLeastSquares(0.9)
    state, _ = learner.run(learner.init(np.zeros(3)), LOSS, block)
    rows = learner.predict(state, block.x[0])
    single = [learner.predict(state, row) for row in block.x[0]]
    np.testing.assert_array_equal(rows, single)
    np.testing.assert_array_equal(learner.predict(state), state.theta)
