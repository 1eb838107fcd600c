"""Discounted and sliding-window UCB against sums that are written out."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bandits.examples import arm_environment
from thalweg.bandits import DiscountedUCB, SlidingWindowUCB, simulate


def discounted_indices(policy, arms, rewards, count):
    t, B, xi = len(arms), policy.reward_bound, policy.exponent
    weights = policy.discount ** np.arange(t - 1, -1, -1)
    total = max(weights.sum(), 1.0)
    indices = np.full(count, np.inf)
    for k in set(arms):
        mine = np.array(arms) == k
        plays = weights[mine].sum()
        mean = (weights * rewards)[mine].sum() / plays
        indices[k] = mean + 2 * B * math.sqrt(xi * math.log(total) / plays)
    return indices


def window_indices(policy, arms, rewards, count):
    B, xi, t = policy.reward_bound, policy.exponent, len(arms)
    arms, rewards = (
        np.array(arms[-policy.window :]),
        np.array(rewards[-policy.window :]),
    )
    indices = np.full(count, np.inf)
    for k in set(arms.tolist()):
        mine = arms == k
        width = math.sqrt(xi * math.log(min(t, policy.window)) / mine.sum())
        indices[k] = rewards[mine].mean() + B * width
    return indices


@settings(max_examples=40)
@given(
    policy=st.one_of(
        st.builds(
            DiscountedUCB,
            st.sampled_from([0.3, 0.9, 0.99, 1.0]),
            st.just(2.0),
            st.sampled_from([0.0, 0.6, 2.0]),
        ),
        st.builds(SlidingWindowUCB, st.integers(1, 60), st.just(2.0)),
    ),
    count=st.integers(1, 5),
    seed=st.integers(0, 10**6),
)
def test_indices_are_those_of_their_definition(policy, count, seed):
    written_out = (
        discounted_indices if isinstance(policy, DiscountedUCB) else window_indices
    )
    rng = np.random.default_rng(seed)
    state, arms, rewards = policy.init(count), [], []
    for _ in range(100):
        expected = written_out(policy, arms, np.array(rewards), count)
        indices = policy.indices(state)
        np.testing.assert_allclose(indices, expected, rtol=1e-9, atol=1e-9)
        assert policy.choose(state) == indices.argmax()
        # Not only the best arm is played, so that others are forgotten.
        arms.append(int(rng.integers(count)))
        rewards.append(float(rng.uniform(0, 2)))
        state = policy.update(state, arms[-1], rewards[-1])


def test_a_window_as_long_as_the_run_forgets_nothing():
    environment = arm_environment(500)
    forgetful, plain = SlidingWindowUCB(500), SlidingWindowUCB(100_000)
    np.testing.assert_array_equal(
        simulate(forgetful, environment).choices, simulate(plain, environment).choices
    )


def test_every_arm_is_tried_first():
    environment = arm_environment(4)
    for policy in (DiscountedUCB(), SlidingWindowUCB(10)):
        assert simulate(policy, environment).choices.tolist() == [0, 1, 2, 3]


def test_sums_of_a_window_do_not_drift():
    policy = SlidingWindowUCB(7)
    table = np.random.default_rng(0).uniform(size=(100_003, 3))
    state, choices = policy.play_rounds(policy.init(3), None, table)
    recent = choices[-7:]
    sums = [table[-7:, k][recent == k].sum() for k in range(3)]
    np.testing.assert_allclose(state.sums, sums, rtol=0, atol=1e-14)
