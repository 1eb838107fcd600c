"""A policy in an environment, compiled, and its pseudo-regret."""

from typing import Any, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.bandits.agent import Agent
from thalweg.bandits.environments import (
    BLOCK_ROUNDS,
    ArmEnvironment,
    Environment,
    LinearEnvironment,
)
from thalweg.bandits.policy import Policy
from thalweg.bandits.ucb import ArmPolicy
from thalweg.errors import InvalidParameterError
from thalweg.types import FloatArray


class Simulation(NamedTuple):
    """The records of each round."""

    regret: FloatArray  # (T,) the best mean reward less that of the chosen action
    choices: Any  # (T,) the numbers of the chosen actions
    rewards: FloatArray  # (T,) their rewards

    @property
    def total(self) -> float:
        """The pseudo-regret of the run: noise does not enter but through choices."""
        return float(self.regret.sum())


def simulate(
    agent: Agent | Policy[Any],
    environment: Environment,
    rounds: int | None = None,
    seed: int = 0,
) -> Simulation:
    """Play rounds of an environment, by default all that are left.

    An ``Agent`` continues in the round after its last, and keeps what it has learnt: a
    run can be cut anywhere. A policy starts from the first round. Rounds are the same
    for every policy, by the ``seed``, an int ≥ 0.
    """
    if isinstance(agent, Policy):
        agent = Agent(agent, environment.size)
    checks.require_argument_type("simulate", "agent", agent, Agent)
    checks.require_argument_type("simulate", "seed", seed, int)
    checks.require_argument("simulate", "seed", seed, "[0, inf)")
    _check_fit(agent, environment)
    start = agent.rounds
    left = len(environment) - start
    if rounds is None:
        rounds = left
    checks.require_argument("simulate", "rounds", rounds, f"[1, {left}]")
    stop = start + int(rounds)
    pieces, state = [], agent.state
    for number in range(start // BLOCK_ROUNDS, (stop - 1) // BLOCK_ROUNDS + 1):
        table, first = environment.block(number, seed), number * BLOCK_ROUNDS
        rows = slice(max(start - first, 0), stop - first)
        actions = None if table.actions is None else table.actions[rows]
        means, rewards = table.means[rows], table.rewards[rows]
        state, choices = agent.policy.play_rounds(state, actions, rewards)
        places = np.arange(len(choices)), choices
        regret = means.max(axis=1) - means[places]
        pieces.append(Simulation(regret, choices, rewards[places]))
    agent.replace_state(state)
    return Simulation(*(np.concatenate(parts) for parts in zip(*pieces, strict=True)))


def _check_fit(agent: Agent, environment: Environment) -> None:
    """Raise unless the agent takes what the environment gives."""
    kinds = LinearEnvironment | ArmEnvironment
    if not isinstance(environment, kinds):
        raise InvalidParameterError(
            "The 'environment' parameter of simulate must be a LinearEnvironment or an "
            f"ArmEnvironment. Got {environment!r:.100} instead."
        )
    takes_numbers = isinstance(agent.policy, ArmPolicy)
    gives_numbers = isinstance(environment, ArmEnvironment)
    if takes_numbers != gives_numbers or agent.size != environment.size:
        raise InvalidParameterError(
            f"{type(agent.policy).__name__} of size {agent.size} cannot play in "
            f"{type(environment).__name__} of size {environment.size}."
        )
    name = "reward_bound" if takes_numbers else "action_bound"
    bound = getattr(agent.policy, name, 1.0)
    if bound < 1:
        raise InvalidParameterError(
            f"The {name!r} parameter of {type(agent.policy).__name__} must be at least "
            f"1 in {type(environment).__name__}. Got {bound!r} instead."
        )
