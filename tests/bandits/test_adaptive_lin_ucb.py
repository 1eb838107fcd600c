"""The bank of discounted LinUCBs against its policies, run one by one."""

import numpy as np

from tests.bandits.examples import linear_environment
from thalweg.bandits import AdaptiveLinUCB, abrupt_environment, simulate

POLICY = AdaptiveLinUCB(ridge=0.1, noise=0.5, shortest_window=4, bank_size=4)


def test_the_bank_is_made_of_discounted_lin_ucbs():
    np.testing.assert_array_equal(POLICY.discounts, [0.75, 0.875, 0.9375, 1.0])
    table = linear_environment().block(0, 0)
    states = [policy.init(3) for policy in POLICY.bank]
    weights, state = np.full(4, 0.25), POLICY.init(3)
    for t in range(60):
        arms, rewards = table.actions[t], table.rewards[t]
        own = [p.indices(s, arms) for p, s in zip(POLICY.bank, states, strict=True)]
        expected = weights @ np.array(own)
        np.testing.assert_allclose(POLICY.indices(state, arms), expected, rtol=1e-10)
        k = POLICY.choose(state, arms)
        assert k == POLICY.indices(state, arms).argmax()
        errors = np.array([rewards[k] - arms[k] @ s.theta for s in states])
        weights = weights * np.exp(-0.5 * (errors / 0.5) ** 2)
        weights = (1 - 1 / (t + 2)) * weights / weights.sum() + 1 / (t + 2) / 4
        states = [
            p.update(s, arms[k], rewards[k])
            for p, s in zip(POLICY.bank, states, strict=True)
        ]
        state = POLICY.update(state, arms[k], rewards[k])
        np.testing.assert_allclose(state.weights, weights, rtol=1e-8)
        mean = weights @ np.array([s.theta for s in states])
        np.testing.assert_allclose(state.theta, mean, rtol=1e-8, atol=1e-12)


def test_weights_move_to_long_memories_without_drift_and_away_after_a_change():
    policy = AdaptiveLinUCB(ridge=0.1)
    environment = abrupt_environment(3000, (2900,), (0.5,))
    table = [environment.block(number, 0) for number in range(3)]
    state = policy.init(2)
    for block in table[:2]:
        state, _ = policy.play_rounds(state, block.actions, block.rewards)
    assert state.weights[-3:].sum() > 0.5
    state, _ = policy.play_rounds(state, table[2].actions, table[2].rewards)
    assert state.weights[-1] < 0.2


def test_enormous_rewards_leave_finite_weights():
    state = POLICY.init(2)
    for reward in (1e100, -1e100, 0.0, 1e-300):
        state = POLICY.update(state, [0.6, 0.8], reward)
        assert all(np.isfinite(part).all() for part in state)
        np.testing.assert_allclose(state.weights.sum(), 1.0, rtol=1e-12)


def test_it_needs_no_discount_to_lose_less_than_lin_ucb():
    environment = abrupt_environment(3000, (1000, 2000), (0.5, 0.25))
    adaptive = AdaptiveLinUCB(ridge=0.1)
    for seed in range(3):
        ours = simulate(adaptive, environment, seed=seed).total
        plain = simulate(adaptive.bank[-1], environment, seed=seed).total
        assert ours < 0.5 * plain
