"""Discounted LinUCB against sums that are written out."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.bandits import DiscountedLinUCB, abrupt_environment, simulate


def written_out(policy, actions, rewards, size):
    """V, Ṽ, θ̂ and β after these rounds, from their definitions."""
    t, gamma, ridge = len(rewards), policy.discount, policy.ridge
    age = np.arange(t - 1, -1, -1)
    x = np.reshape(actions, (t, size))
    information = ridge * np.eye(size) + (x.T * gamma**age) @ x
    squared = ridge * np.eye(size) + (x.T * gamma ** (2 * age)) @ x
    theta = np.linalg.solve(information, x.T @ (gamma**age * np.asarray(rewards)))
    weight = (gamma ** (2 * np.arange(t))).sum()
    log_det = size * math.log(1 + policy.action_bound**2 * weight / (ridge * size))
    deviation = math.sqrt(2 * math.log(1 / policy.error_probability) + log_det)
    beta = math.sqrt(ridge) * policy.radius + policy.noise * deviation
    return information, squared, theta, beta


def upper_bounds(policy, history, arms, size):
    information, squared, theta, beta = written_out(policy, *history, size)
    inverse = np.linalg.inv(information)
    norms = np.sqrt(np.einsum("ki,ij,kj->k", arms, inverse @ squared @ inverse, arms))
    return arms @ theta + policy.exploration * beta * norms


@settings(max_examples=40)
@given(
    size=st.integers(1, 6),
    discount=st.sampled_from([0.5, 0.9, 0.99, 1.0]),
    ridge=st.sampled_from([1e-3, 0.1, 1.0, 30.0]),
    exploration=st.sampled_from([0.0, 0.3, 1.0]),
    seed=st.integers(0, 10**6),
)
def test_states_and_indices_are_those_of_their_definition(
    size, discount, ridge, exploration, seed
):
    policy = DiscountedLinUCB(
        discount, ridge, noise=0.7, radius=1.3, action_bound=2.0,
        error_probability=0.05, exploration=exploration,
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    state, played, rewards = policy.init(size), [], []
    for _ in range(30):
        arms = rng.uniform(-1, 1, (5, size)) / math.sqrt(size)
        expected = upper_bounds(policy, (played, rewards), arms, size)
        np.testing.assert_allclose(
            policy.indices(state, arms), expected, rtol=1e-8, atol=1e-8
        )
        k = policy.choose(state, arms)
        assert k == policy.indices(state, arms).argmax()
        played.append(arms[k])
        rewards.append(float(rng.normal()))
        state = policy.update(state, arms[k], rewards[-1])
    information, squared, theta, _ = written_out(policy, played, rewards, size)
    np.testing.assert_allclose(state.information, information, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(state.squared, squared, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(state.theta, theta, rtol=1e-7, atol=1e-9)
    assert state.rounds == 30


def test_the_recursion_stays_with_its_definition_over_ten_thousand_rounds():
    policy = DiscountedLinUCB(0.97, 1e-3)
    rng = np.random.default_rng(0)
    arms = rng.uniform(-1, 1, (10_000, 1, 4)) / 2
    rewards = rng.normal(size=(10_000, 1))
    state, _ = policy.play_rounds(policy.init(4), arms, rewards)
    information, squared, theta, _ = written_out(policy, arms, rewards[:, 0], 4)
    np.testing.assert_allclose(state.information, information, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(state.squared, squared, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(state.theta, theta, rtol=1e-8, atol=1e-9)


def test_the_first_of_equal_actions_is_chosen():
    policy = DiscountedLinUCB()
    assert policy.choose(policy.init(2), [[0.1, 0.0], [0.0, 0.5], [0.5, 0.0]]) == 1


def test_an_action_longer_than_its_bound_is_refused_and_one_of_that_length_not():
    policy = DiscountedLinUCB(action_bound=0.5)
    assert policy.choose(policy.init(2), [[0.3, 0.4]]) == 0
    with pytest.raises(ValueError, match=r"'action_bound' 0.5. Got 0.6 for action 1"):
        policy.choose(policy.init(2), [[0.3, 0.4], [0.0, 0.6]])


def test_the_noise_of_the_estimate_is_in_the_ellipsoid_as_often_as_promised():
    """Its share of failures in a round is below δ, over many runs without drift."""
    policy = DiscountedLinUCB(0.9, 0.1, error_probability=0.2, radius=1.0)
    theta, failures, runs = np.array([0.6, -0.8]), 0, 400
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        arms = rng.normal(size=(40, 1, 2))
        arms /= np.maximum(np.linalg.norm(arms, axis=2, keepdims=True), 1)
        rewards = arms @ theta + rng.normal(size=(40, 1))
        state, _ = policy.play_rounds(policy.init(2), arms, rewards)
        information, squared, estimate, beta = written_out(
            policy, arms, rewards[:, 0], 2
        )
        shift = information @ (estimate - theta)
        failures += math.sqrt(shift @ np.linalg.solve(squared, shift)) > beta
    assert failures <= 0.2 * runs


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_without_drift_less_forgetting_loses_less(noise):
    environment = abrupt_environment(2000, (), (), noise=noise)
    totals = [
        np.mean(
            [
                simulate(DiscountedLinUCB(gamma, 0.1), environment, seed=s).total
                for s in range(4)
            ]
        )
        for gamma in (0.9, 0.99, 1.0)
    ]
    assert totals[0] > totals[1] > totals[2]
