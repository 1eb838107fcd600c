"""Bandits whose rewards drift: LinUCB and UCB that forget, and what they lose by it.

A policy (frozen settings) chooses an action from its state; an ``Agent`` holds both.
``simulate`` plays one in an environment and gives its pseudo-regret.
"""

from thalweg.bandits import regret_bounds as regret_bounds
from thalweg.bandits.adaptive_lin_ucb import AdaptiveLinUCB as AdaptiveLinUCB
from thalweg.bandits.agent import Agent as Agent
from thalweg.bandits.environments import ArmEnvironment as ArmEnvironment
from thalweg.bandits.environments import LinearEnvironment as LinearEnvironment
from thalweg.bandits.environments import abrupt_environment as abrupt_environment
from thalweg.bandits.environments import rotating_environment as rotating_environment
from thalweg.bandits.environments import switching_arms as switching_arms
from thalweg.bandits.lin_ucb import DiscountedLinUCB as DiscountedLinUCB
from thalweg.bandits.policy import Policy as Policy
from thalweg.bandits.simulation import Simulation as Simulation
from thalweg.bandits.simulation import simulate as simulate
from thalweg.bandits.tracker_lin_ucb import TrackerLinUCB as TrackerLinUCB
from thalweg.bandits.tuning import discount_for_changes as discount_for_changes
from thalweg.bandits.tuning import discount_for_drift as discount_for_drift
from thalweg.bandits.tuning import window_for_changes as window_for_changes
from thalweg.bandits.ucb import DiscountedUCB as DiscountedUCB
from thalweg.bandits.ucb import SlidingWindowUCB as SlidingWindowUCB
from thalweg.lazy import exported_names

__all__ = exported_names(__name__)
