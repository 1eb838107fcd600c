import numpy as np
import pytest

from thalweg.bandits import (
    ArmEnvironment,
    LinearEnvironment,
    abrupt_environment,
    rotating_environment,
    switching_arms,
)
from thalweg.bandits.environments import BLOCK_ROUNDS
from thalweg.errors import InvalidParameterError


def test_the_abrupt_environment_turns_after_the_stated_rounds():
    environment = abrupt_environment()
    points = environment.theta[[0, 999, 1000, 1999, 2000, 2999, 3000, 5999]]
    expected = [[1, 0], [1, 0], [-1, 0], [-1, 0], [0, 1], [0, 1], [0, -1], [0, -1]]
    np.testing.assert_array_equal(points, expected)
    assert len(environment) == 6000 and environment.changes == 3
    assert environment.path_length == pytest.approx(4 + np.sqrt(2), rel=1e-12)


def test_the_rotating_environment_turns_evenly():
    environment = rotating_environment(1001, turn=0.5)
    np.testing.assert_allclose(environment.theta[500], [0, 1], atol=1e-12)
    np.testing.assert_allclose(environment.theta[1000], [-1, 0], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(environment.theta, axis=1), 1, rtol=1e-12)
    assert environment.path_length == pytest.approx(np.pi, rel=1e-6)


def test_rewards_are_means_plus_noise_and_actions_lie_in_the_ball():
    environment = abrupt_environment(3000, noise=0.3)
    table = environment.block(1, seed=4)
    assert table.actions.shape == (BLOCK_ROUNDS, 50, 2)
    assert np.linalg.norm(table.actions, axis=2).max() <= 1 + 1e-12
    theta = environment.theta[BLOCK_ROUNDS : 2 * BLOCK_ROUNDS]
    means = (table.actions * theta[:, None]).sum(axis=2)
    np.testing.assert_allclose(table.means, means, atol=1e-12)
    errors = (table.rewards - table.means)[:, 0]
    assert np.std(errors) == pytest.approx(0.3, rel=0.1)
    assert abs(errors.mean()) < 0.05


def test_rounds_are_the_same_however_long_the_environment_is():
    short = abrupt_environment(1500, (), ()).block(1, 7)
    long = abrupt_environment(6000, (), ()).block(1, 7)
    for a, b in zip(short, long, strict=True):
        np.testing.assert_array_equal(a, b[: len(a)])
    other = abrupt_environment(6000, (), ()).block(1, 8)
    assert (other.rewards != long.rewards).any()


def test_axes_are_the_actions_of_every_round():
    environment = LinearEnvironment(np.full((10, 3), 0.1), axes=True)
    actions = environment.block(0, 0).actions
    np.testing.assert_array_equal(actions, np.tile(np.eye(3), (10, 1, 1)))


def test_arms_give_rewards_as_often_as_they_should():
    environment = switching_arms(2000, (1000,), ((0.9, 0.2), (0.2, 0.6)))
    rewards = np.concatenate([environment.block(k, 0).rewards for k in range(2)])
    assert set(np.unique(rewards)) == {0.0, 1.0}
    np.testing.assert_allclose(rewards[:1000].mean(axis=0), [0.9, 0.2], atol=0.05)
    np.testing.assert_allclose(rewards[1000:].mean(axis=0), [0.2, 0.6], atol=0.05)
    assert environment.changes == 1
    np.testing.assert_allclose(environment.smallest_gaps, [0.4, 0.7])
    np.testing.assert_allclose(environment.largest_gaps, [0.4, 0.7])
    always = ArmEnvironment(np.tile([0.5, 0.1], (3, 1)))
    np.testing.assert_allclose(always.smallest_gaps, [0.0, 0.4])


@pytest.mark.parametrize(
    "make",
    [
        lambda: LinearEnvironment(np.ones((5, 2))),
        lambda: LinearEnvironment(np.ones(5)),
        lambda: LinearEnvironment(np.zeros((5, 2)), arms=0),
        lambda: LinearEnvironment(np.zeros((5, 2)), noise=-1.0),
        lambda: ArmEnvironment([[0.5, 1.5]]),
        lambda: ArmEnvironment([[0.5, np.nan]]),
        lambda: abrupt_environment(0),
        lambda: abrupt_environment(100, (10,), ()),
        lambda: rotating_environment("a"),
        lambda: switching_arms(100, (10,), ((0.5,),)),
    ],
)
def test_what_is_no_environment_is_refused(make):
    with pytest.raises(InvalidParameterError, match="parameter of"):
        make()
