"""The bounds of bandits/regret_bounds.py: their steps one by one, and whole runs."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bandits.test_lin_ucb import written_out
from thalweg.bandits import (
    DiscountedLinUCB,
    DiscountedUCB,
    LinearEnvironment,
    SlidingWindowUCB,
    abrupt_environment,
    regret_bounds,
    simulate,
    switching_arms,
)
from thalweg.bandits.regret_bounds import LinearBandit
from thalweg.errors import InvalidParameterError

UNIT = LinearBandit(2, ridge=0.1)


def path_of(theta):
    return np.linalg.norm(np.diff(theta, axis=0), axis=1).sum()


def biases(actions, theta, discount, ridge):
    """‖θ̄ - θ_t‖ in each round: θ̂ without noise, if λθ_t were known."""
    size = actions.shape[1]
    V, b, errors = np.zeros((size, size)), np.zeros(size), []
    for a, point in zip(actions, theta, strict=True):
        information = V + ridge * np.eye(size)
        errors.append(np.linalg.solve(information, b + ridge * point) - point)
        V = discount * V + np.outer(a, a)
        b = discount * b + a * (a @ point)
    return np.linalg.norm(errors, axis=1)


def hostile_actions(rng, rounds):
    """Phases of nearly parallel actions, which make V⁻¹M far from symmetric."""
    angle = np.repeat(rng.uniform(0, 0.3, 5), rounds // 5) + rng.normal(
        0, 1e-3, rounds // 5 * 5
    )
    return np.column_stack([np.cos(angle), np.sin(angle)])


@settings(max_examples=60)
@given(
    discount=st.sampled_from([0.5, 0.9, 0.98, 1.0]),
    ridge=st.sampled_from([0.01, 0.1, 1.0, 10.0]),
    is_abrupt=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_the_bias_is_within_the_terms_of_the_drift(discount, ridge, is_abrupt, seed):
    rng, rounds = np.random.default_rng(seed), 200
    actions = hostile_actions(rng, rounds)
    if is_abrupt:
        points = rng.uniform(-0.7, 0.7, (3, 2))
        theta = points[np.sort(rng.integers(0, 3, rounds))]
    else:
        turn = np.linspace(0, rng.uniform(0, 6), rounds)
        theta = np.column_stack([np.cos(turn), np.sin(turn)])
    bandit = LinearBandit(2, ridge=ridge)
    errors = biases(actions, theta, discount, ridge)
    drift = regret_bounds._drift_by_path(
        bandit, discount, rounds, path_of(theta), False
    )
    assert 2 * errors.sum() <= drift * (1 + 1e-9) + 1e-9
    changes = int((np.diff(theta, axis=0) != 0).any(axis=1).sum())
    drift = regret_bounds._drift_by_changes(bandit, discount, rounds, changes)
    assert np.minimum(2 * errors, 2.0).sum() <= drift * (1 + 1e-9) + 1e-9


@settings(max_examples=30)
@given(discount=st.sampled_from([0.5, 0.9, 0.98]), seed=st.integers(0, 10**6))
def test_the_bias_of_orthogonal_actions_is_within_the_smaller_terms(discount, seed):
    rng, rounds = np.random.default_rng(seed), 200
    actions = np.eye(3)[rng.integers(0, 3, rounds)]
    theta = rng.normal(size=(rounds, 3)).cumsum(axis=0)
    theta /= np.abs(theta).max() * 2
    errors = biases(actions, theta, discount, 0.1)
    drift = regret_bounds._drift_by_path(
        LinearBandit(3, ridge=0.1), discount, rounds, path_of(theta), True
    )
    assert 2 * errors.sum() <= drift * (1 + 1e-9)


def test_the_smaller_terms_do_not_hold_for_all_actions():
    """Actions along u, then, after a small step of θ, along v that is nearly u."""
    u, v = np.array([1.0, 0.0]), np.array([math.cos(0.1), math.sin(0.1)])
    actions = np.array([u] * 100 + [v] * 100)
    theta = np.array([[0.0, 0.0]] * 100 + [[0.5, 0.0]] * 100)
    errors = biases(actions, theta, 1.0, 1e-3)
    assert errors.max() > 4 * 0.5  # V⁻¹M has a norm above 4: the bias exceeds any step
    assert errors[101:].min() > 0.5


@pytest.mark.slow
def test_the_ellipsoid_fails_in_some_round_of_a_long_run():
    """With probability 1 - δ it holds in one round, not in all: β stays bounded."""
    policy = DiscountedLinUCB(0.5, 0.1, error_probability=0.01, radius=0.0)
    rng, rounds = np.random.default_rng(0), 20_000
    arms = rng.choice([-1.0, 1.0], size=(rounds, 1, 1))
    rewards = rng.normal(size=(rounds, 1))  # θ = 0, without drift
    state, failures = policy.init(1), 0
    for t in range(0, rounds, 20):
        state, _ = policy.play_rounds(state, arms[t : t + 20], rewards[t : t + 20])
        _, _, _, beta = written_out(policy, arms[: t + 20], rewards[: t + 20, 0], 1)
        shift = state.target[0] ** 2 / state.squared[0, 0]
        failures += math.sqrt(shift) > beta
    assert 0 < failures <= 0.01 * rounds / 20


@settings(max_examples=30)
@given(
    discount=st.sampled_from([0.5, 0.95, 1.0]),
    ridge=st.sampled_from([0.01, 0.3, 1.0]),
    seed=st.integers(0, 10**6),
)
def test_norms_of_actions_sum_to_no_more_than_the_potential(discount, ridge, seed):
    rng, T = np.random.default_rng(seed), 300
    actions = rng.normal(size=(T, 2))
    actions /= np.maximum(np.linalg.norm(actions, axis=1, keepdims=True), 1)
    V, total = np.zeros((2, 2)), 0.0
    for a in actions:
        total += min(1, math.sqrt(a @ np.linalg.solve(V + ridge * np.eye(2), a)))
        V = discount * V + np.outer(a, a)
    noise = LinearBandit(2, ridge, 0.0, 1.0, 1.0, 1e-9)  # then max(β, LS) = 1
    bound = regret_bounds.discounted_lin_ucb(noise, discount, T, 0.0)
    assert 2 * total <= bound or bound == 2 * T


def test_the_bound_of_lin_ucb_is_its_formula():
    T, d, ridge = 1000, 3, 0.5
    bandit = LinearBandit(d, ridge, 0.1, 2.0, 0.7, 0.05)
    log_det = d * math.log(1 + 0.49 * (T - 1) / (ridge * d))
    beta = math.sqrt(ridge) * 2 + 0.1 * math.sqrt(2 * math.log(20) + log_det)
    potential = math.log(1 + 0.49 * T / (ridge * d))
    expected = 2 * max(beta, 1.4) * math.sqrt(d * T / math.log(2) * potential)
    bound = regret_bounds.discounted_lin_ucb(bandit, 1.0, T, 0.0)
    assert bound == pytest.approx(expected + 2 * 1.4 * 0.05 * T, rel=1e-12)


def test_no_bound_exceeds_what_can_be_lost():
    assert regret_bounds.discounted_lin_ucb(UNIT, 0.9, 100, 50.0) == 200
    assert regret_bounds.discounted_ucb(0.9, 100, 9, [0.1], [0.3]) == 30
    assert regret_bounds.sliding_window_ucb(9, 100, 9, [0.1], [0.3]) == 30


def test_bounds_grow_with_drift_and_changes():
    T, gamma = 10**6, 1 - 5e-4
    lin_ucb = [
        regret_bounds.discounted_lin_ucb(UNIT, gamma, T, 1.0, changes)
        for changes in (0, 1, 3, 10)
    ]
    assert lin_ucb == sorted(set(lin_ucb)) and lin_ucb[-1] < 2 * T
    orthogonal, general = (
        regret_bounds.discounted_lin_ucb(UNIT, gamma, T, 0.1, orthogonal=one)
        for one in (True, False)
    )
    assert orthogonal < general


@pytest.mark.parametrize("gamma, changes", [(1.0, 0), (1 - 2e-3, 2)])
def test_lin_ucb_loses_less_than_its_bound_where_that_says_something(gamma, changes):
    T = 100_000
    turns = ((T // 3, 2 * T // 3), (0.5, 0.25))
    environment = abrupt_environment(T, *(part[:changes] for part in turns), arms=10)
    bound = regret_bounds.discounted_lin_ucb(
        UNIT, gamma, T, environment.path_length, environment.changes
    )
    assert bound < 0.6 * 2 * T
    assert simulate(DiscountedLinUCB(gamma, 0.1), environment).total <= bound


def test_orthogonal_actions_lose_less_than_their_bound():
    T = 200_000
    turn = np.linspace(0, 0.25, T) * 2 * np.pi
    theta = np.column_stack([np.cos(turn), np.sin(turn)])
    environment = LinearEnvironment(theta, noise=0.2, axes=True)
    gamma, bandit = 1 - 1e-3, LinearBandit(2, 0.1, 0.2)
    bound = regret_bounds.discounted_lin_ucb(
        bandit, gamma, T, environment.path_length, orthogonal=True
    )
    assert bound < 0.6 * 2 * T
    policy = DiscountedLinUCB(gamma, 0.1, 0.2)
    assert simulate(policy, environment).total <= bound


def test_ucb_loses_less_than_its_bound_where_that_says_something():
    T = 200_000
    means = ((0.95, 0.05), (0.05, 0.95))
    environment = switching_arms(T, (T // 2,), means)
    gaps = environment.smallest_gaps, environment.largest_gaps
    gamma, window = 1 - 1e-3, 3000
    cases = [
        (DiscountedUCB(gamma), regret_bounds.discounted_ucb(gamma, T, 1, *gaps)),
        (
            SlidingWindowUCB(window),
            regret_bounds.sliding_window_ucb(window, T, 1, *gaps),
        ),
    ]
    for policy, bound in cases:
        assert bound < 0.6 * 0.9 * T
        totals = [simulate(policy, environment, seed=seed).total for seed in range(3)]
        assert np.mean(totals) <= bound


def test_deviations_of_a_random_number_of_plays_are_as_rare_as_the_slices_say():
    """P(Z ≥ √N B√(ξ log m)) ≤ slices/m, for a gambler who stops while he is ahead."""
    m, xi, runs, hits = 50, 0.6, 4000, 0
    rng = np.random.default_rng(0)
    level = math.sqrt(xi * math.log(m))
    for _ in range(runs):
        rewards = rng.integers(0, 2, m) - 0.5
        sums, counts = rewards.cumsum(), np.arange(1, m + 1)
        hits += (sums >= np.sqrt(counts) * level).any()
    eta = 4 * math.sqrt(1 - 1 / (2 * xi))
    assert hits / runs <= math.ceil(math.log(m) / math.log(1 + eta)) / m


@pytest.mark.parametrize(
    "call",
    [
        lambda: regret_bounds.discounted_lin_ucb(UNIT, 0.0, 10, 1.0),
        lambda: regret_bounds.discounted_lin_ucb(UNIT, 0.9, 0, 1.0),
        lambda: regret_bounds.discounted_lin_ucb(UNIT, 0.9, 10, -1.0),
        lambda: regret_bounds.discounted_lin_ucb(UNIT, 0.9, 10, 1.0, 11),
        lambda: LinearBandit(0),
        lambda: LinearBandit(2, ridge=0.0),
        lambda: regret_bounds.discounted_ucb(1.0, 10, 1, [0.1], [0.1]),
        lambda: regret_bounds.discounted_ucb(0.9, 10, 1, [0.1], [0.1], exponent=0.5),
        lambda: regret_bounds.sliding_window_ucb(0, 10, 1, [0.1], [0.1]),
        lambda: regret_bounds.sliding_window_ucb(5, 10, 1, [0.2], [0.1]),
        lambda: regret_bounds.sliding_window_ucb(5, 10, 1, [0.0], [0.1]),
        lambda: regret_bounds.sliding_window_ucb(5, 10, 1, 0.1, 0.1),
    ],
)
def test_arguments_out_of_range_are_refused(call):
    with pytest.raises(InvalidParameterError):
        call()


def test_an_arm_that_is_always_the_best_adds_nothing():
    one = regret_bounds.sliding_window_ucb(500, 10**5, 0, [0.5], [0.5])
    both = regret_bounds.sliding_window_ucb(500, 10**5, 0, [0.0, 0.5], [0.0, 0.5])
    assert one == both > 0
    assert regret_bounds.discounted_ucb(0.99, 100, 0, [0.0], [0.0]) == 0
