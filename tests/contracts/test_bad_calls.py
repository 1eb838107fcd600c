"""Every learner refuses, by name, states and rounds that are not its own."""

import functools
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

import thalweg as tw
from tests.contracts.test_every_learner import EXAMPLES
from thalweg.errors import InvalidParameterError
from thalweg.learners import Learner

NAMES = [f"{type(learner).__name__}-{i}" for i, (learner, _) in enumerate(EXAMPLES)]


@functools.cache
def printed():
    """The lines that the process has printed, as far as it came."""
    command = [sys.executable, "-m", "tests.contracts.bad_calls"]
    done = subprocess.run(command, capture_output=True, text=True)
    return [*done.stdout.splitlines(), done.stderr]


@pytest.mark.parametrize("name", NAMES)
def test_a_call_with_another_state_or_a_bad_round_is_refused(name):
    assert [line for line in printed() if line.startswith(f"{name}: ")] == []
    assert f"{name} is done" in printed(), printed()[-2:]


def test_a_tracker_refuses_a_state_of_another_delay():
    """It would see labels before they are known."""
    block = tw.Block(np.ones((50, 1)), np.arange(50.0))
    for own, other in ((0, 40), (40, 0), (1, 2), (0, 1)):
        state = tw.Tracker(delay=other).init(np.zeros(1))
        with pytest.raises(InvalidParameterError, match=f"delay of {own}.*{other}"):
            tw.Tracker(delay=own).run(state, tw.SquaredError(), block)


def test_a_tracker_refuses_a_state_that_uses_other_information():
    state = tw.Tracker("features").init(np.zeros(1))
    with pytest.raises(InvalidParameterError, match="information"):
        tw.Tracker().predict(state, [1.0])


class History(NamedTuple):
    """θ and all labels so far."""

    theta: np.ndarray
    labels: np.ndarray


class MeanOfHistory(Learner):
    """A learner that is made elsewhere, with a state that grows."""

    def init(self, theta):
        return History(np.asarray(theta), np.zeros(0))

    def update(self, state, f):
        labels = np.append(state.labels, f.y)
        return History(np.full_like(state.theta, labels.mean()), labels)


def test_the_state_of_a_learner_made_elsewhere_may_grow():
    learner = MeanOfHistory()
    block = tw.Block(np.ones((6, 1)), np.arange(6.0))
    state, _ = learner.run(learner.init(np.zeros(1)), tw.SquaredError(), block[:3])
    state, trace = learner.run(state, tw.SquaredError(), block[3:])
    assert len(state.labels) == 6 and state.theta == [2.5]
    np.testing.assert_array_equal(trace.prediction, [1.0, 1.5, 2.0])
