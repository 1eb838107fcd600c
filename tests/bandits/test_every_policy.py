"""What every policy promises: pure, cut anywhere, saved to the last bit, refusing."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bandits.examples import (
    NAMES,
    POLICIES,
    ROUNDS,
    example_environment,
    is_linear,
    public_policies,
)
from thalweg import bandits, persistence
from thalweg.bandits import Agent, simulate
from thalweg.bandits.agent import POLICIES as SAVED_POLICIES
from thalweg.bandits.environments import BLOCK_ROUNDS
from thalweg.errors import (
    InvalidParameterError,
    PersistenceError,
    StreamError,
    ThalwegError,
)
from thalweg.learners import RecursiveLeastSquares
from thalweg.losses import SquaredError
from thalweg.models import Online
from thalweg.rules import validate_snapshot

every_policy = pytest.mark.parametrize("policy", POLICIES, ids=NAMES)


def assert_identical(left, right):
    assert type(left) is type(right)
    for a, b in zip(left, right, strict=True):
        np.testing.assert_array_equal(a, b)


def trained(policy, rounds=60):
    agent = Agent(policy, example_environment(policy).size)
    simulate(agent, example_environment(policy), rounds)
    return agent


def one_round(policy, number=70):
    """The actions of a round and their rewards."""
    table = example_environment(policy).block(0, 0)
    actions = None if table.actions is None else table.actions[number]
    return actions, table.rewards[number]


def action_of(policy, actions, k):
    return actions[k] if is_linear(policy) else k


def test_every_public_policy_has_an_example_and_can_be_saved():
    assert public_policies() == {type(policy) for policy in POLICIES}
    assert set(SAVED_POLICIES.values()) == public_policies()


@every_policy
def test_a_simulation_chooses_and_updates_round_by_round(policy):
    environment, agent = example_environment(policy), None
    agent = Agent(policy, environment.size)
    fast = simulate(policy, environment, rounds=80, seed=3)
    table = environment.block(0, 3)
    for t in range(80):
        actions = None if table.actions is None else table.actions[t]
        k = agent.choose(actions)
        assert k == fast.choices[t]
        assert table.rewards[t, k] == fast.rewards[t]
        assert table.means[t].max() - table.means[t, k] == fast.regret[t]
        agent.update(action_of(policy, actions, k), table.rewards[t, k])
    played = Agent(policy, environment.size)
    simulate(played, environment, rounds=80, seed=3)
    assert_identical(agent.state, played.state)


@every_policy
@settings(max_examples=6)
@given(cuts=st.sets(st.integers(1, ROUNDS - 1), max_size=3))
def test_a_simulation_can_be_cut_anywhere(policy, cuts):
    environment = example_environment(policy)
    whole = Agent(policy, environment.size)
    expected = simulate(whole, environment, seed=1)
    agent, pieces = Agent(policy, environment.size), []
    for stop in [*sorted(cuts), ROUNDS]:
        pieces.append(simulate(agent, environment, stop - agent.rounds, seed=1))
    assert_identical(agent.state, whole.state)
    choices = np.concatenate([piece.choices for piece in pieces])
    np.testing.assert_array_equal(choices, expected.choices)
    assert ROUNDS > BLOCK_ROUNDS


@every_policy
def test_calls_leave_states_and_actions_unchanged(policy):
    agent = trained(policy)
    actions, rewards = one_round(policy)
    before = pickle.dumps((agent.state, actions))
    state = agent.state
    k = policy.choose(state, actions)
    policy.update(state, action_of(policy, actions, k), rewards[k])
    simulate(agent, example_environment(policy), 100)
    assert pickle.dumps((state, actions)) == before
    assert agent.rounds == 160


@every_policy
def test_an_agent_in_a_file_continues_to_the_last_bit(policy, tmp_path):
    agent, path = trained(policy), tmp_path / "agent.thalweg"
    agent.save(path)
    loaded = Agent.load(path)
    assert loaded.policy == policy and repr(loaded) == repr(agent)
    assert_identical(loaded.state, agent.state)
    environment = example_environment(policy)
    first, second = (simulate(one, environment) for one in (agent, loaded))
    np.testing.assert_array_equal(first.choices, second.choices)
    assert_identical(loaded.state, agent.state)


@every_policy
def test_agents_and_policies_survive_pickling_and_copying(policy):
    agent = trained(policy)
    for other in (pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent)):
        assert other.policy == policy and hash(other.policy) == hash(policy)
        assert_identical(other.state, agent.state)


def save_with(agent, path, **fields):
    """Save an agent whose record was changed."""
    record = {
        "policy": type(agent.policy).__name__,
        "settings": vars(agent.policy).copy(),
        "state": agent.state._asdict(),
    } | fields
    saved = persistence.SavedModel(
        RecursiveLeastSquares(), SquaredError(), None, {"agent": record}
    )
    persistence.save(path, saved)


def bad_values(value):
    """Values that no state of the same policy has in the place of this one."""
    if isinstance(value, np.ndarray):
        yield value[:-1]
        yield value.astype(np.float32)
        yield np.full_like(value, np.nan)
        yield value[None]
    else:
        yield -1
        yield 0.5
    yield "text"
    yield None


@every_policy
def test_a_file_with_a_made_up_state_is_refused(policy, tmp_path):
    agent, path = trained(policy), tmp_path / "agent.thalweg"
    for field, value in agent.state._asdict().items():
        for bad in bad_values(value):
            state = agent.state._asdict() | {field: bad}
            save_with(agent, path, state=state)
            with pytest.raises(PersistenceError, match=r"cannot be loaded: its 'state"):
                Agent.load(path)


@every_policy
def test_a_file_with_made_up_settings_is_refused(policy, tmp_path):
    agent, path = trained(policy), tmp_path / "agent.thalweg"
    for name in vars(policy):
        for bad in (-1.0, "text", None, float("nan")):
            save_with(agent, path, settings=vars(policy) | {name: bad})
            with pytest.raises(PersistenceError, match="refuses"):
                Agent.load(path)
    save_with(agent, path, settings=vars(policy) | {"nonsense": 1})
    with pytest.raises(PersistenceError, match="refuses"):
        Agent.load(path)
    save_with(agent, path, settings=3)
    with pytest.raises(PersistenceError, match="refuses"):
        Agent.load(path)
    save_with(agent, path, policy="Nonsense")
    with pytest.raises(PersistenceError, match="no policy called 'Nonsense'"):
        Agent.load(path)


def test_indices_in_a_file_that_a_kernel_would_follow_are_refused(tmp_path):
    agent, path = trained(bandits.SlidingWindowUCB(40)), tmp_path / "agent.thalweg"
    for bad in (-1.0, 4.0, 1e9, 0.5):
        arms = agent.state.arms.copy()
        arms[5] = bad
        save_with(agent, path, state=agent.state._asdict() | {"arms": arms})
        with pytest.raises(PersistenceError, match=r"'state\.arms'"):
            Agent.load(path)
    counts = agent.state.counts[::-1] + 1.0
    save_with(agent, path, state=agent.state._asdict() | {"counts": counts})
    with pytest.raises(PersistenceError, match=r"'state\.counts'"):
        Agent.load(path)


def test_a_window_that_a_file_claims_costs_no_memory(tmp_path):
    agent, path = trained(bandits.SlidingWindowUCB(40)), tmp_path / "agent.thalweg"
    save_with(agent, path, settings=vars(agent.policy) | {"window": 10**9})
    with pytest.raises(PersistenceError, match=r"'state\.arms'"):
        Agent.load(path)


def test_a_file_without_an_agent_is_refused(tmp_path):
    path = tmp_path / "model.thalweg"
    persistence.save(
        path, persistence.SavedModel(RecursiveLeastSquares(), SquaredError(), None)
    )
    with pytest.raises(PersistenceError, match="holds a learner, but no Agent"):
        Agent.load(path)
    Online(RecursiveLeastSquares()).save(path)
    with pytest.raises(PersistenceError, match="holds an Online, but no Agent"):
        Agent.load(path)
    Agent(bandits.DiscountedUCB(), 3).save(path)
    with pytest.raises(PersistenceError, match="holds an agent .* but no Online"):
        Online.load(path)


@every_policy
def test_an_agent_that_is_not_finite_is_not_saved(policy, tmp_path):
    agent, path = trained(policy), tmp_path / "agent.thalweg"
    first = agent.state[0].copy()
    first[0] = np.nan
    agent.replace_state(agent.state._replace(**{agent.state._fields[0]: first}))
    with pytest.raises(PersistenceError, match=r"cannot be saved: its 'state\."):
        agent.save(path)
    assert not path.exists()


def test_a_policy_made_elsewhere_cannot_be_saved(tmp_path):
    class Elsewhere(bandits.DiscountedUCB):
        pass

    with pytest.raises(PersistenceError, match=r"Elsewhere .* never code"):
        Agent(Elsewhere(), 2).save(tmp_path / "agent.thalweg")


@every_policy
def test_states_of_others_are_refused_by_name(policy):
    actions, rewards = one_round(policy)
    action = action_of(policy, actions, 0)
    good = trained(policy).state
    states = [None, tuple(good), *(p.init(3) for p in POLICIES if p is not policy)]
    states = [state for state in states if type(state) is not type(good)]
    for field, value in good._asdict().items():
        states += [good._replace(**{field: bad}) for bad in ("abc", None)]
        if isinstance(value, np.ndarray):
            states += [good._replace(**{field: value[:-1]})]
            states += [good._replace(**{field: value.astype(np.float32)})]
    for state in states:
        with pytest.raises(InvalidParameterError, match=type(policy).__name__):
            policy.update(state, action, rewards[0])
        with pytest.raises(InvalidParameterError, match=type(policy).__name__):
            policy.choose(state, actions)


@every_policy
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200, "a", None, [1.0], [0.1, 0.2]])
def test_a_bad_reward_is_refused_and_changes_nothing(policy, bad):
    agent = trained(policy)
    actions, _ = one_round(policy)
    before = pickle.dumps(agent.state)
    with pytest.raises(StreamError, match="reward"):
        agent.update(action_of(policy, actions, 0), bad)
    assert pickle.dumps(agent.state) == before


@every_policy
@pytest.mark.parametrize(
    "bad",
    [None, "a", [0.1, 0.2], np.full(3, np.nan), np.full(3, 1e200), np.ones((2, 3)),
     -1, 0.5, 99, [9.0, 0.0, 0.0], np.ones(3, complex), []],
)  # fmt: skip
def test_a_bad_action_is_refused_and_changes_nothing(policy, bad):
    agent = trained(policy)
    before = pickle.dumps(agent.state)
    with pytest.raises(StreamError, match=r"action"):
        agent.update(bad, 0.5)
    assert pickle.dumps(agent.state) == before


@every_policy
@pytest.mark.parametrize("bad", ["a", 3.0, [[0.1, 0.2]], np.full((2, 3), np.nan), []])
def test_bad_actions_cannot_be_chosen_from(policy, bad):
    with pytest.raises(StreamError):
        trained(policy).choose(bad)


@every_policy
@pytest.mark.parametrize("bad", [0, -1, 2.5, "a", None, np.nan])
def test_a_size_that_is_no_number_of_features_or_arms_is_refused(policy, bad):
    with pytest.raises(InvalidParameterError, match="'size'"):
        Agent(policy, bad)


@every_policy
def test_settings_out_of_range_are_refused_by_name(policy):
    for name in vars(policy):
        for bad in (-1.0, np.nan, "text", None, np.inf):
            with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of"):
                type(policy)(**vars(policy) | {name: bad})


@every_policy
def test_an_environment_of_another_kind_or_size_is_refused(policy):
    for other in POLICIES:
        if is_linear(other) != is_linear(policy):
            with pytest.raises(InvalidParameterError, match="cannot play in"):
                simulate(policy, example_environment(other))
    environment = example_environment(policy)
    with pytest.raises(InvalidParameterError, match="cannot play in"):
        simulate(Agent(policy, environment.size + 1), environment)
    for rounds, seed in ((0, 0), (ROUNDS + 1, 0), ("a", 0), (10, -1), (10, 0.5)):
        with pytest.raises(InvalidParameterError):
            simulate(policy, environment, rounds, seed)
    with pytest.raises(InvalidParameterError, match="environment"):
        simulate(Agent(policy, 3), None)


@every_policy
@pytest.mark.slow
def test_long_runs_of_one_action_leave_finite_numbers(policy):
    """A million rounds; the Tracker's policy is the only one that is not compiled."""
    blocks = 1 if isinstance(policy, bandits.TrackerLinUCB) else 50
    state, rounds = policy.init(2), 20_000
    table = np.zeros((rounds, 2))
    actions = np.tile([[1.0, 0.0], [1.0, 0.0]], (rounds, 1, 1))
    for _ in range(blocks):
        state, _ = policy.play_rounds(
            state, actions if is_linear(policy) else None, table
        )
    for name, part in state._asdict().items():
        # Of the Tracker's state the rules below know what may be infinite.
        assert np.isfinite(part).all() or name == "packed"
    index = policy.choose(state, actions[0] if is_linear(policy) else None)
    assert index in (0, 1)
    validate_snapshot(policy.State, state, "state", (policy,))


def test_an_agent_needs_a_policy():
    with pytest.raises(InvalidParameterError, match="'policy'"):
        Agent(RecursiveLeastSquares(), 2)
    with pytest.raises(ThalwegError):
        simulate(RecursiveLeastSquares(), example_environment(POLICIES[0]))
