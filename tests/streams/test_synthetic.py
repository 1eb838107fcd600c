"""Streams are what they say: seeded, bounded, and drifting in the named way."""

import numpy as np
import pytest

from thalweg import streams
from thalweg.errors import InvalidParameterError

DRIFTING = (
    streams.stationary,
    streams.abrupt,
    streams.gradual,
    streams.random_walk,
    streams.rotating,
    streams.seasonal,
    streams.mixed,
)


def speeds(stream):
    return np.linalg.norm(np.diff(stream.truth, axis=0), axis=1)


@pytest.mark.parametrize("make", DRIFTING)
@pytest.mark.parametrize("dimension", [2, 5])
def test_everything_stays_within_the_stated_bounds(make, dimension):
    stream = make(700, dimension, noise=0.5, seed=3)
    assert stream.block.x.shape == stream.truth.shape == (700, dimension)
    assert np.linalg.norm(stream.block.x, axis=1).max() <= 1 + 1e-15
    assert np.linalg.norm(stream.truth, axis=1).max() <= 0.9 + 1e-15
    assert np.abs(stream.block.y).max() == streams.LABEL_BOUND


@pytest.mark.parametrize("make", DRIFTING)
def test_a_seed_gives_the_same_stream_and_another_seed_another(make):
    once, again, other = make(50, 3, seed=8), make(50, 3, seed=8), make(50, 3, seed=9)
    generated = make(50, 3, seed=np.random.default_rng(8))
    for same in (again, generated):
        assert np.array_equal(once.block.y, same.block.y)
        assert np.array_equal(once.block.x, same.block.x)
    assert not np.array_equal(once.block.y, other.block.y)


@pytest.mark.parametrize("make", DRIFTING)
def test_without_noise_the_truth_explains_every_label(make):
    stream = make(60, 2, noise=0.0, seed=1)
    explained = (stream.block.x * stream.truth).sum(axis=1)
    assert np.abs(explained - stream.block.y).max() <= 1e-15


def test_one_dimension_is_enough_for_all_that_need_no_plane():
    for make in DRIFTING:
        if make is not streams.rotating:
            assert make(30, 1).truth.shape == (30, 1)
    with pytest.raises(InvalidParameterError, match="'dimension' parameter of rot"):
        streams.rotating(30, 1)


def test_a_stationary_truth_never_moves():
    assert speeds(streams.stationary(40, 3)).max() == 0


def test_an_abrupt_truth_jumps_as_often_as_asked():
    assert np.count_nonzero(speeds(streams.abrupt(300, 3, changes=7))) == 7


def test_a_gradual_truth_never_jumps_and_visits_new_places():
    moved = speeds(streams.gradual(300, 3, changes=4))
    assert moved.max() <= 4 * 1.8 / 299 + 1e-12
    assert moved.sum() > 1


def test_a_walk_is_as_fast_as_its_step():
    moved = speeds(streams.random_walk(4000, 4, step=0.002, seed=2))
    # A move of N(0, step² I) has mean length step·√4 or a little less.
    assert moved.mean() == pytest.approx(0.002 * 2, rel=0.1)


def test_a_rotating_truth_turns_as_often_as_asked():
    stream = streams.rotating(1000, 3, turns=2)
    assert speeds(stream).sum() == pytest.approx(2 * 2 * np.pi * 0.9, rel=1e-2)
    assert stream.truth[500] == pytest.approx(stream.truth[0], abs=1e-12)


def test_a_seasonal_truth_comes_back_after_its_period():
    truth = streams.seasonal(100, 3, period=25).truth
    assert truth[25:] == pytest.approx(truth[:-25], abs=1e-12)
    assert np.linalg.norm(truth[12] - truth[0]) > 0.1


def test_a_mixed_truth_moves_in_its_third_quarter_only():
    moved = speeds(streams.mixed(400, 3))
    assert np.all(moved[200:299] > 0)
    assert moved[:199].max() == moved[300:].max() == 0


def test_the_adversary_never_agrees():
    adversary = streams.adversarial(20, 3, bound=2.0, seed=4)
    assert np.linalg.norm(adversary.x, axis=1) == pytest.approx(np.ones(20))
    for prediction in (-3.0, -1e-300, 0.0, 0.5, 7.0):
        label = adversary.answer(prediction)
        assert abs(label) == 2.0
        assert label * prediction <= 0
        assert abs(label - prediction) >= 2.0


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (streams.stationary, {"rounds": 0}),
        (streams.stationary, {"noise": -0.1}),
        (streams.abrupt, {"changes": 10}),
        (streams.gradual, {"changes": 0}),
        (streams.random_walk, {"step": -1.0}),
        (streams.seasonal, {"period": 1.0}),
        (streams.adversarial, {"bound": 0.0}),
    ],
)
def test_what_cannot_be_made_is_refused_by_name(make, wrong):
    name = next(iter(wrong))
    expected = f"{name!r} parameter of {make.__name__}"
    with pytest.raises(InvalidParameterError, match=expected):
        make(**{"rounds": 10, "dimension": 2, **wrong})
