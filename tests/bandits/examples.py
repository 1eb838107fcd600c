"""Example settings of every policy, and rounds to play them in.

A new policy is listed in ``POLICIES`` as well as in ``bandits.__all__``.
"""

import numpy as np

from thalweg import bandits
from thalweg.bandits import (
    AdaptiveLinUCB,
    ArmEnvironment,
    DiscountedLinUCB,
    DiscountedUCB,
    LinearEnvironment,
    SlidingWindowUCB,
    TrackerLinUCB,
)

ROUNDS = 1500
"""More than one block of an environment."""

POLICIES = [
    AdaptiveLinUCB(ridge=0.1, noise=0.5, shortest_window=4, bank_size=4),
    DiscountedLinUCB(0.95, ridge=0.1, noise=0.5, radius=0.7),
    DiscountedLinUCB(1.0, ridge=2.0, action_bound=3.0, exploration=0.3),
    DiscountedUCB(0.97),
    SlidingWindowUCB(40, reward_bound=1.5),
    TrackerLinUCB(ridge=0.1, radius=2.0),
]
NAMES = [f"{type(policy).__name__}-{i}" for i, policy in enumerate(POLICIES)]


def is_linear(policy):
    return hasattr(policy, "action_bound")


def linear_environment(rounds=ROUNDS, size=3, arms=7, noise=0.5):
    """θ walks on the unit sphere."""
    steps = np.random.default_rng(5).normal(size=(rounds, size)).cumsum(axis=0)
    theta = steps / np.linalg.norm(steps, axis=1, keepdims=True)
    return LinearEnvironment(theta, arms, noise)


def arm_environment(rounds=ROUNDS, arms=4):
    phases = np.random.default_rng(6).uniform(size=(6, arms))
    return ArmEnvironment(phases[np.arange(rounds) * 6 // rounds])


def example_environment(policy, rounds=ROUNDS):
    return linear_environment(rounds) if is_linear(policy) else arm_environment(rounds)


def public_policies():
    listed = [getattr(bandits, name) for name in bandits.__all__]
    return {
        kind
        for kind in listed
        if isinstance(kind, type)
        and issubclass(kind, bandits.Policy)
        and kind is not bandits.Policy
    }
