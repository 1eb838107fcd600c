"""What every learner promises where features come and go, or a refusal by name."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from tests.contracts.examples import START, example_block
from tests.contracts.test_every_learner import EXAMPLES, leaves
from thalweg import learners
from thalweg.domains import Ball, Box
from thalweg.errors import InvalidParameterError
from thalweg.learners import Learner, RecursiveLeastSquares, Tracker
from thalweg.losses import SquaredError, Tracking
from thalweg.persistence import SavedModel, dumps, loads
from thalweg.types import Block

ADDED = [1, 4]
"""Where two features are added to three, by their places afterwards."""
HALF = 30


def comparable(learner):
    """The learner without what depends on the number of features by design.

    New features take over hinges of a Tracker, and take turns with the others in
    getting a floor back.
    """
    if isinstance(learner, Tracker):
        return replace(learner, curvature=False)
    if isinstance(learner, RecursiveLeastSquares) and learner.floor is not None:
        return RecursiveLeastSquares(learner.discount, learner.ridge)
    return learner


CASES = [(comparable(learner), loss) for learner, loss in EXAMPLES]
every_learner = pytest.mark.parametrize(
    "learner, loss",
    CASES,
    ids=[
        f"{type(a).__name__}-{type(f).__name__}-{i}" for i, (a, f) in enumerate(CASES)
    ],
)


def widened(array, columns=ADDED):
    """The array with zeros in these columns of its last axis."""
    size = array.shape[-1] + len(columns)
    wide = np.zeros((*array.shape[:-1], size))
    wide[..., np.delete(np.arange(size), columns)] = array
    return wide


def widened_block(block, loss):
    """The rounds with two features, or coordinates, that are zero."""
    if isinstance(loss, Tracking):
        return Block(None, widened(block.y), block.weight, block.elapsed)
    return Block(widened(block.x), block.y, block.weight, block.elapsed)


def assert_same_predictions(wide, narrow, loss):
    if isinstance(loss, Tracking):
        wide = np.delete(wide, ADDED, axis=1)
    # Longer sums are rounded in another way.
    np.testing.assert_allclose(wide, narrow, rtol=1e-9, atol=1e-11)


@every_learner
@pytest.mark.parametrize("weighted", [False, True])
def test_features_that_are_added_and_zero_change_nothing(learner, loss, weighted):
    block = example_block(loss, weighted)
    state, _ = learner.run(learner.init(START), loss, block[:HALF])
    wide = learner.add_features(state, ADDED)
    assert wide.theta.shape == (5,) and (wide.theta[ADDED] == 0).all()
    _, ours = learner.run(wide, loss, widened_block(block[HALF:], loss))
    _, theirs = learner.run(state, loss, block[HALF:])
    assert_same_predictions(ours.prediction, theirs.prediction, loss)


@every_learner
def test_features_that_were_zero_are_removed_without_a_trace(learner, loss):
    block = example_block(loss)
    wide_block = widened_block(block, loss)
    wide, _ = learner.run(learner.init(widened(START)), loss, wide_block[:HALF])
    narrow, _ = learner.run(learner.init(START), loss, block[:HALF])
    state = learner.remove_features(wide, ADDED)
    assert state.theta.shape == (3,)
    _, ours = learner.run(state, loss, block[HALF:])
    _, theirs = learner.run(narrow, loss, block[HALF:])
    np.testing.assert_allclose(ours.prediction, theirs.prediction, 1e-9, 1e-11)


@every_learner
def test_removing_what_was_added_gives_the_state_of_before(learner, loss):
    state, _ = learner.run(learner.init(START), loss, example_block(loss))
    after = learner.remove_features(learner.add_features(state, ADDED), ADDED)
    for ours, theirs in zip(leaves(after), leaves(state), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15)


@every_learner
def test_a_change_leaves_the_state_it_was_given_alone(learner, loss):
    state, _ = learner.run(learner.init(START), loss, example_block(loss))
    before = pickle.dumps(state)
    learner.add_features(state, ADDED)
    learner.remove_features(state, [1])
    assert pickle.dumps(state) == before
    assert learner.add_features(state, []) is state
    assert learner.remove_features(state, ()) is state


@every_learner
def test_a_state_that_was_changed_can_be_saved_and_loaded(learner, loss):
    state, _ = learner.run(learner.init(START), loss, example_block(loss))
    for after in (
        learner.add_features(state, ADDED),
        learner.remove_features(state, [1]),
    ):
        loaded = loads(dumps(SavedModel(learner, loss, after)))
        for ours, theirs in zip(leaves(loaded.state), leaves(after), strict=True):
            np.testing.assert_array_equal(ours, theirs)


@every_learner
def test_indices_that_make_no_sense_are_refused_by_name(learner, loss, monkeypatch):
    state, name = learner.init(START), type(learner).__name__
    for indices in ([0, 0], [5], [-1], [2**80], [True], [0.5], "ab", 3, None, [None]):
        for change in (learner.add_features, learner.remove_features):
            with pytest.raises(InvalidParameterError, match=f"{name}.*Got"):
                change(state, indices)
    with pytest.raises(InvalidParameterError, match="leave a feature. Got all 3"):
        learner.remove_features(state, [0, 1, 2])
    with pytest.raises(InvalidParameterError, match=name):
        learner.add_features(None, [0])
    monkeypatch.setattr(type(learner), "max_features", 4)
    learner.add_features(state, [0])
    with pytest.raises(InvalidParameterError, match="at most 4 features. Got 5"):
        learner.add_features(state, [0, 1])


@pytest.mark.parametrize("kind", [np.array, tuple, range])
def test_indices_may_be_any_sequence_of_integers_in_any_order(kind):
    learner = RecursiveLeastSquares()
    state = learner.init(START)
    indices = range(1, 3) if kind is range else kind([2, 1])
    wide = learner.add_features(state, indices)
    np.testing.assert_array_equal(wide.theta, [START[0], 0, 0, *START[1:]])


def test_a_domain_of_given_coordinates_allows_no_change():
    cube = Box([-1.0, -1.0, -1.0], [1.0, 1.0, 1.0])
    for learner in (
        learners.DiscountedGradient(domain=cube),
        learners.DiscountedNewton(domain=cube),
        learners.OnlineNewtonStep(1.0, 1.0, cube),
    ):
        state, name = learner.init(START), type(learner).__name__
        assert learner.add_features(state, []) is state
        for change in (learner.add_features, learner.remove_features):
            with pytest.raises(InvalidParameterError, match=f"{name} has 3 coord"):
                change(state, [0])


def test_a_mixture_names_the_expert_that_allows_no_change():
    cube = Box([-1.0, -1.0, -1.0], [1.0, 1.0, 1.0])
    expert = learners.DiscountedGradient(0.9, domain=cube)
    learner = learners.Experts((RecursiveLeastSquares(), expert))
    with pytest.raises(InvalidParameterError, match="DiscountedGradient has 3"):
        learner.add_features(learner.init(START), [0])


def test_a_point_that_would_leave_its_domain_is_moved_to_the_nearest_one():
    for domain in (Box(0.5, 1.0), Ball(1.0)):
        learner = learners.OnlineGradientDescent(0.1, domain)
        wide = learner.add_features(learner.init(np.full(2, 0.5)), [0])
        assert domain.contains(wide.theta)
        np.testing.assert_array_equal(wide.theta[1:], 0.5)


class Mean(Learner):
    """A learner made elsewhere that says nothing of features that come and go."""

    def init(self, theta):
        return learners.LastValue().init(theta)

    def update(self, state, f):
        return state


def test_a_learner_that_cannot_says_so_in_its_name():
    state = Mean().init(START)
    for change in (Mean().add_features, Mean().remove_features):
        with pytest.raises(InvalidParameterError, match="features of Mean are those"):
            change(state, [0])


def test_single_precision_and_several_targets_stay_so():
    learner = RecursiveLeastSquares(0.9)
    rng = np.random.default_rng(0)
    block = Block(rng.normal(size=(20, 3)), rng.normal(size=(20, 2)))
    start = np.zeros((3, 2), np.float32)
    state, _ = learner.run(learner.init(start), SquaredError(), block)
    wide = learner.add_features(state, ADDED)
    assert wide.theta.shape == (5, 2)
    assert wide.theta.dtype == wide.factor.dtype == np.float32
    learner.run(wide, SquaredError(), Block(widened(block.x), block.y))
    assert learner.remove_features(wide, ADDED).theta.shape == (3, 2)
