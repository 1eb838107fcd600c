"""LinUCB with the Tracker's memory and noise, against both written out."""

import math

import numpy as np
import pytest

from tests.bandits.examples import linear_environment
from thalweg.bandits import (
    DiscountedLinUCB,
    TrackerLinUCB,
    abrupt_environment,
    simulate,
)
from thalweg.errors import InvalidParameterError, PersistenceError
from thalweg.learners import Tracker
from thalweg.losses import Round, SquaredError
from thalweg.rules import validate_snapshot

POLICY = TrackerLinUCB(ridge=0.1, radius=1.2, error_probability=0.05)


def test_discount_and_noise_are_those_of_the_tracker_and_the_rest_is_lin_ucb():
    table, tracker = linear_environment().block(0, 0), Tracker("features")
    tracked, state = tracker.init(np.zeros(3)), POLICY.init(3)
    information, squared = 0.1 * np.eye(3), 0.1 * np.eye(3)
    target, noise, weight = np.zeros(3), 0.0, 0.0
    for t in range(40):
        arms = table.actions[t]
        inverse = np.linalg.inv(information)
        norms = np.sqrt(
            np.einsum("ki,ij,kj->k", arms, inverse @ squared @ inverse, arms)
        )
        log_det = 3 * math.log(1 + weight / (0.1 * 3))
        deviation = noise * math.sqrt(2 * math.log(20) + log_det)
        expected = arms @ inverse @ target + (math.sqrt(0.1) * 1.2 + deviation) * norms
        np.testing.assert_allclose(
            POLICY.indices(state, arms), expected, rtol=1e-7, atol=1e-9
        )
        k = POLICY.choose(state, arms)
        a, reward = arms[k], table.rewards[t, k]
        gamma = 1 - 1 / max(tracker.memory(tracked), 2.0)
        _, low, high = tracker.interval(tracked, a, 0.9)
        if np.isfinite(high - low):  # an error is known
            noise = (high - low) / 2 / 1.6448536269514722
        weight = gamma**2 * weight + 1
        information = (
            gamma * information + np.outer(a, a) + (1 - gamma) * 0.1 * np.eye(3)
        )
        squared = gamma**2 * squared + np.outer(a, a) + (1 - gamma**2) * 0.1 * np.eye(3)
        target = gamma * target + reward * a
        tracked = tracker.update(tracked, Round(SquaredError(), a, reward))
        state = POLICY.update(state, a, reward)
        assert state.discount == pytest.approx(gamma, rel=1e-9)


def test_memory_grows_without_drift_and_shrinks_after_a_change():
    environment = abrupt_environment(2048, (1600,), (0.5,))
    policy = TrackerLinUCB(ridge=0.1)
    blocks = [environment.block(k, 1) for k in range(2)]
    state, _ = policy.play_rounds(policy.init(2), blocks[0].actions, blocks[0].rewards)
    before = state.discount
    assert before > 0.99
    rows = slice(0, 1600 - 1024 + 60)
    state, _ = policy.play_rounds(
        state, blocks[1].actions[rows], blocks[1].rewards[rows]
    )
    assert state.discount < before


def test_the_noise_is_estimated():
    environment = abrupt_environment(1000, (), (), noise=0.25)
    table = environment.block(0, 0)
    state, _ = POLICY.play_rounds(POLICY.init(2), table.actions, table.rewards)
    assert state.rates[1] == pytest.approx(0.25, rel=0.25)


def test_it_loses_less_than_lin_ucb_after_changes_that_it_knows_nothing_of():
    environment = abrupt_environment(3000, (1000, 2000), (0.5, 0.25))
    ours = simulate(TrackerLinUCB(ridge=0.1), environment).total
    plain = simulate(DiscountedLinUCB(1.0, 0.1), environment).total
    assert ours < 0.5 * plain


def test_a_tracker_of_another_kind_in_a_state_is_refused():
    state = POLICY.init(2)
    other = Tracker("all").init(np.zeros(2)).packed
    wrong = state._replace(packed=other)
    with pytest.raises(PersistenceError, match=r"its 'state.packed' must be a Tracker"):
        validate_snapshot(POLICY.State, wrong, "state", (POLICY,))
    with pytest.raises(InvalidParameterError, match="TrackerLinUCB"):
        POLICY.choose(state._replace(packed=other[:-1]), np.zeros((1, 2)))
