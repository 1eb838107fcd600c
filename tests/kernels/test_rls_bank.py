"""Experts side by side against one after the other, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.kernels import ud_factor as factors
from thalweg.kernels.compiler.jit import COMPILED
from thalweg.kernels.rls_bank.bank import CHUNK, choose_groups, lane_thresholds, play
from thalweg.learners import Experts, Learner, RecursiveLeastSquares
from thalweg.learners.exponential_weights import hedge, initial_log_weights
from thalweg.losses import Round, SquaredError
from thalweg.types import Block

RLS = RecursiveLeastSquares
EXAMPLES, LONGEST = (150, 2 * CHUNK + 20) if COMPILED else (9, 30)
NONE = np.empty(0)


def new_bank(n, gamma, ridge, targets=1):
    """States, settings and mixing rate of a bank, as ``play`` takes them."""
    experts = len(gamma)
    theta = np.zeros((experts, n, targets))
    factor = np.array(
        [factors.prior(r, theta[0]) for r in np.broadcast_to(ridge, experts)]
    )
    floor_and_leaky = np.zeros(experts), np.zeros(experts)
    return (
        theta,
        factor,
        initial_log_weights(experts),
        np.array(gamma),
        *floor_and_leaky,
        0.3,
    )


def play_bank(bank, data, in_lanes):
    """Play a bank in lanes or not; returns everything that ``play`` changes."""
    theta, factor, log_weights, *rest = bank
    states = theta.copy(), factor.copy(), log_weights.copy()
    experts, n, targets = theta.shape
    rounds = len(data[1])
    trace = (
        np.empty((rounds, targets)),
        np.empty(rounds),
        np.empty((rounds, n, targets)),
        np.empty((rounds, experts)),
    )
    groups = -(-experts // 8)
    play(*states, *rest, *data, *trace, np.full(groups, in_lanes))
    return *states, *trace


def assert_both_ways_agree(bank, data):
    together, alone = (play_bank(bank, data, in_lanes) for in_lanes in (True, False))
    for ours, theirs in zip(together, alone, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    return alone


DISCOUNTS = st.sampled_from([1.0, 0.999, 0.9, 0.5, 0.01]) | st.floats(0.01, 1)
SCALES = [[0], [0, 3, -3], [0, 100], [-150, 0, 150]]
RIDGES = st.sampled_from([0.0, 1e-240, 1e-8, 1.0, 1e6])


@st.composite
def banks(draw):
    """Settings and data, of which many are out of the ordinary."""
    n, experts = draw(st.integers(1, 10)), draw(st.integers(1, 11))
    rounds, targets = draw(st.integers(1, LONGEST)), draw(st.integers(1, 2))
    gamma = draw(st.lists(DISCOUNTS, min_size=experts, max_size=experts))
    ridge = draw(st.lists(RIDGES, min_size=experts, max_size=experts))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = rng.normal(size=(rounds, n))
    x *= 10.0 ** rng.choice(draw(st.sampled_from(SCALES)), n)
    shape = draw(st.sampled_from(["plain", "repeated", "unexcited", "one hot"]))
    if shape == "repeated":
        x[:] = x[0]
    elif shape == "unexcited":
        x[rounds // 4 :, rng.random(n) < 0.5] = 0
    elif shape == "one hot":
        x *= np.eye(n)[rng.integers(n, size=rounds)]
    weight = rng.choice([0.0, 1.0, 1.7], rounds) if draw(st.booleans()) else NONE
    elapsed = rng.choice([1.0, 0.5, 300.0], rounds) if draw(st.booleans()) else NONE
    bank = new_bank(n, gamma, ridge, targets)
    return bank, (x, rng.normal(size=(rounds, targets)), weight, elapsed)


@settings(max_examples=EXAMPLES)
@given(banks())
def test_both_ways_agree_to_the_last_bit(bank_and_data):
    assert_both_ways_agree(*bank_and_data)


@pytest.mark.parametrize("unit", [1.0, 1e4])
@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_they_agree_where_unexcited_directions_are_capped(n, unit):
    """The cap acts in every lane, in different rounds and on several k."""
    rng = np.random.default_rng(n)
    gamma = np.array([0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95])
    rounds = 1500 if COMPILED else 60
    x = unit * rng.normal(size=(rounds, n))
    x[5:, : (n + 1) // 2] = 0
    data = x, rng.normal(size=(rounds, 1)), NONE, NONE
    _, factor, *_ = assert_both_ways_agree(new_bank(n, gamma, 1.0), data)
    limit = np.finfo(np.float64).eps ** -0.75
    for one in factor[gamma ** (rounds - 5) < 1e-3 / limit]:
        c = np.diagonal(factors.covariance(one))
        assert 0.1 < (c * one[n] ** 2 / limit).max() < 5


@pytest.mark.parametrize("rounds", [2, 80])
def test_they_agree_where_there_is_no_prior(rounds):
    """D is infinite, rows repeat, one feature becomes zero, and one always was."""
    rng = np.random.default_rng(0)
    x = np.repeat(rng.normal(size=(rounds // 2, 5)), 2, axis=0)
    x[20:, 1] = x[:, 3] = 0
    data = x, rng.normal(size=(rounds, 1)), NONE, NONE
    bank = new_bank(5, [1.0, 0.9, 0.5, 0.5, 0.9], [0.0, 0.0, 0.0, 1.0, 1e-240])
    _, factor, *_ = assert_both_ways_agree(bank, data)
    assert (factor[:3, 3, 3] == np.inf).all()


@pytest.mark.slow
def test_they_agree_where_only_the_unseen_is_large():
    x = np.random.default_rng(0).normal(size=(10, 2)) * [1, 0]
    data = x, x[:, :1], NONE, NONE
    _, factor, *_ = assert_both_ways_agree(new_bank(2, [1.0, 0.9], 1e-240), data)
    assert factor[0, 1, 1] == 1 / 1e-240
    assert factor[1, 1, 1] < 1e233


@pytest.mark.parametrize("news", [0, 1, 10])
def test_they_agree_where_infinity_is_only_large(news):
    """Where a repeated row is uninformative D grows up to a bound, until other rows."""
    rng = np.random.default_rng(0)
    x = np.concatenate([np.full((60, 3), 0.7), rng.normal(size=(news, 3))])
    data = x, rng.normal(size=(len(x), 1)), NONE, NONE
    bank = new_bank(3, [0.01, 0.03, 0.5, 0.9, 0.9], [0.0, 0.0, 0.0, 0.0, 1e-240])
    _, factor, *_ = assert_both_ways_agree(bank, data)
    largest = np.diagonal(factor, axis1=1, axis2=2).max(axis=1)
    bound = np.finfo(np.float64).max ** 0.75
    if news == 0:
        assert (largest[:2] >= bound).all() and (largest[:2] < np.inf).all()
    elif news == 10:
        assert (largest[2:4] < 1e6).all()


def stream(rounds, n, seed=0):
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0, 2, size=(2, rounds))
    return Block(rng.normal(size=(rounds, n)), rng.normal(size=rounds), *rates)


def assert_same(left, right):
    np.testing.assert_array_equal(left.theta, right.theta)
    np.testing.assert_array_equal(left.log_weights, right.log_weights)
    for one, other in zip(left.experts, right.experts, strict=True):
        np.testing.assert_array_equal(one.theta, other.theta)
        np.testing.assert_array_equal(one.factor, other.factor)


# Of these nine experts eight are played in lanes, and one is not.
NINE = Experts(
    tuple(RLS(g, ridge=r) for g in (1.0, 0.9, 0.5) for r in (0.0, 1e-3, 1.0))
)


@settings(max_examples=EXAMPLES // 3)
@given(cuts=st.sets(st.integers(1, LONGEST - 1), max_size=6))
def test_a_bank_can_be_cut_anywhere(cuts):
    block = stream(LONGEST, 3)
    whole, trace = NINE.run(NINE.init(np.zeros(3)), SquaredError(), block, ("weights",))
    state, predictions = NINE.init(np.zeros(3)), []
    edges = [0, *sorted(cuts), LONGEST]
    for first, last in zip(edges, edges[1:], strict=False):
        state, piece = NINE.run(state, SquaredError(), block[first:last])
        predictions.append(piece.prediction)
    assert_same(state, whole)
    np.testing.assert_array_equal(np.concatenate(predictions), trace.prediction)


def test_runs_of_single_rounds_are_the_whole_run():
    block = stream(12, 3)
    whole, trace = NINE.run(NINE.init(np.zeros(3)), SquaredError(), block)
    state = NINE.init(np.zeros(3))
    for t in range(len(block)):
        assert NINE.predict(state, block.x[t]) == trace.prediction[t]
        state, _ = NINE.run(state, SquaredError(), block[t : t + 1])
    assert_same(state, whole)


def test_single_updates_are_the_run_to_rounding():
    """The definition updates the experts one by one, and sums in another order."""
    block = stream(12, 3)
    whole, trace = NINE.run(NINE.init(np.zeros(3)), SquaredError(), block)
    state = NINE.init(np.zeros(3))
    for t, (x, y, weight, elapsed) in enumerate(block.rounds()):
        prediction = NINE.predict(state, x)
        np.testing.assert_allclose(prediction, trace.prediction[t], rtol=1e-12)
        state = NINE.update(state, Round(SquaredError(), x, y, weight, elapsed))
    np.testing.assert_allclose(state.theta, whole.theta, rtol=1e-12)
    np.testing.assert_allclose(state.log_weights, whole.log_weights, rtol=1e-12)
    for ours, theirs in zip(state.experts, whole.experts, strict=True):
        np.testing.assert_allclose(ours.theta, theirs.theta, rtol=1e-12)
        np.testing.assert_allclose(ours.factor, theirs.factor, rtol=1e-12)


def test_a_bank_is_its_experts_alone_and_their_weights():
    """This is Algorithm 2: each expert is what it would be alone, to the last bit."""
    block = stream(LONGEST, 3)
    state, trace = NINE.run(NINE.init(np.zeros(3)), SquaredError(), block, ("weights",))
    log_weights, losses = initial_log_weights(9), []
    for expert, its in zip(NINE.experts, state.experts, strict=True):
        alone, own = expert.run(expert.init(np.zeros(3)), SquaredError(), block)
        np.testing.assert_array_equal(alone.theta, its.theta)
        np.testing.assert_array_equal(alone.factor, its.factor)
        losses.append(own.loss)
    for t, loss in enumerate(np.transpose(losses)):
        weights = trace.extras["weights"][t]
        np.testing.assert_allclose(
            weights, np.exp(log_weights), rtol=1e-12, atol=1e-300
        )
        log_weights = hedge(log_weights, loss, NINE.mixing_rate)
    np.testing.assert_allclose(state.log_weights, log_weights, rtol=1e-12)


def test_a_bank_is_the_mixture_of_single_updates_of_its_experts():
    block = stream(12, 3)
    _, trace = NINE.run(
        NINE.init(np.zeros(3)), SquaredError(), block, ("theta", "weights")
    )
    slow = [Learner._play(e, e.init(np.zeros(3)), SquaredError(), block, ("theta",))[1]
            for e in NINE.experts]  # fmt: skip
    weights = trace.extras["weights"]
    points = np.array([one.theta for one in slow])
    mean = np.einsum("te,etn->tn", weights, points)
    np.testing.assert_allclose(trace.theta, mean, rtol=1e-9, atol=1e-12)
    predictions = np.einsum("te,et->t", weights, [one.prediction for one in slow])
    np.testing.assert_allclose(trace.prediction, predictions, rtol=1e-9, atol=1e-12)


def test_groups_are_played_in_lanes_where_that_is_faster():
    def choice(experts, n=4, rounds=100, floor=0.0, dtype=np.float64):
        floors = np.zeros(experts)
        floors[-1] = floor
        in_lanes = choose_groups(np.zeros((experts, n, 1), dtype), floors, rounds)
        return None if in_lanes is None else in_lanes.tolist()

    assert choice(1) == [False]
    assert choice(2) == [True]
    assert choice(9) == [True, False]
    assert choice(19) == [True, True, True]
    assert choice(19, floor=0.1) == [True, True, False]
    assert choice(19, n=4, rounds=1) == [True, True, True]
    assert choice(19, n=40, rounds=1) == [False, False, False]
    assert choice(19, n=40) == [True, True, False]
    assert choice(19, dtype=np.float32) is None
    min_experts = [lane_thresholds(n)[0] for n in (8, 9, 32, 33, 128, 129)]
    assert min_experts == [2, 3, 3, 4, 4, 5]
