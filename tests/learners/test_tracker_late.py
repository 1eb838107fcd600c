"""The Tracker where labels come late, or not at all."""

import numpy as np
import pytest

import thalweg as tw
from thalweg.errors import InvalidParameterError
from thalweg.kernels.tracker import tracker_layout as layout

LOSS = tw.SquaredError()


def said(x, y, delay=0, weight=None, elapsed=None):
    tracker = tw.Tracker(delay=delay)
    block = tw.Block(x, y, weight, elapsed)
    return tracker.run(tracker.init(np.zeros(x.shape[1])), LOSS, block)


def seasonal(rounds=1500, season=24, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    pattern = 8 * rng.normal(size=season)
    y = pattern[np.arange(rounds) % season] + noise * rng.normal(size=rounds)
    return rng.normal(size=(rounds, 2)), y


@pytest.mark.parametrize("delay", [1, 5, 23, 24, 30])
def test_no_forecast_knows_a_label_that_is_not_known_yet(delay):
    x, y = seasonal(300)
    _, before = said(x, y, delay)
    other = y.copy()
    other[200] += 50.0
    _, after = said(x, other, delay)
    changed = np.flatnonzero(before.prediction != after.prediction)
    assert changed[0] == 200 + delay + 1


@pytest.mark.parametrize("delay", [0, 1, 12, 23, 24, 25, 40])
def test_a_season_is_found_however_late_the_labels_are(delay):
    x, y = seasonal()
    _, trace = said(x, y, delay)
    assert ((y - trace.prediction)[1000:] ** 2).mean() < 0.1  # its variance is about 60


@pytest.mark.parametrize(("phi", "delay"), [(0.9, 20), (0.5, 5), (0.95, 3)])
def test_what_cannot_be_known_in_time_is_not_trusted(phi, delay):
    rng = np.random.default_rng(1)
    y = np.zeros(6000)
    for t in range(1, len(y)):
        y[t] = phi * y[t - 1] + rng.normal()
    _, trace = said(rng.normal(size=(len(y), 1)), y, delay)
    variance = 1 / (1 - phi**2)
    best = variance * (1 - phi ** (2 * (delay + 1)))
    assert ((y - trace.prediction)[1000:] ** 2).mean() < 1.1 * best


@pytest.mark.parametrize("delay", [0, 7])
@pytest.mark.parametrize("missing", [0.01, 0.05, 0.2])
def test_rounds_without_a_label_do_not_move_the_season(missing, delay):
    x, y = seasonal(2500)
    known = np.random.default_rng(2).random(len(y)) >= missing
    state, trace = said(x, np.where(known, y, 0.0), delay, known.astype(float))
    assert state.season % 24 == 0
    assert ((y - trace.prediction)[1500:] ** 2).mean() < 0.5


def test_a_question_that_takes_no_time_leaves_no_trace():
    x, y = seasonal(200)
    rows, labels = np.repeat(x, 2, axis=0), np.repeat(y, 2)
    asked = np.tile([0.0, 1.0], 200)
    _, twice = said(rows, labels, 0, asked, asked)
    _, once = said(x, y)
    np.testing.assert_array_equal(twice.prediction[1::2], once.prediction)
    np.testing.assert_array_equal(twice.prediction[::2], once.prediction)


def test_late_labels_may_be_cut_anywhere_and_come_one_by_one():
    x, y = seasonal(120)
    tracker = tw.Tracker(delay=6)
    state, whole = tracker.run(tracker.init(np.zeros(2)), LOSS, tw.Block(x, y))
    cut, parts = tracker.init(np.zeros(2)), []
    for start, end in ((0, 3), (3, 6), (6, 7), (7, 50), (50, 120)):
        cut, trace = tracker.run(cut, LOSS, tw.Block(x[start:end], y[start:end]))
        parts.append(trace.prediction)
    np.testing.assert_array_equal(np.concatenate(parts), whole.prediction)
    np.testing.assert_array_equal(cut.packed, state.packed)
    model = tw.Online(tracker, intercept=False)
    for t in range(120):
        assert model.predict(x[t]) == whole.prediction[t]
        model.update(x[t], y[t])
    np.testing.assert_array_equal(model.state.packed, state.packed)


def test_intervals_of_late_labels_hold_about_what_they_promise():
    # Errors of rounds that overlap are alike, so that the count of them misleads.
    rng = np.random.default_rng(3)
    y = rng.normal(size=6000).cumsum()
    tracker = tw.Tracker(delay=9)
    block = tw.Block(np.ones((6000, 1)), y)
    _, trace = tracker.run(tracker.init(np.zeros(1)), LOSS, block, ("interval",))
    low, high = trace.extras["interval"][1000:].T
    assert ((low <= y[1000:]) & (y[1000:] <= high)).mean() == pytest.approx(
        0.9, abs=0.05
    )


def test_online_skips_rounds_and_keeps_the_season():
    x, y = seasonal(2500)
    gaps = np.random.default_rng(4).random(len(y)) < 0.05
    model = tw.Online(missing="skip")
    trace = model.run(x, np.where(gaps, np.nan, y))
    assert model.state.season % 24 == 0
    assert ((y - trace.prediction)[1500:] ** 2).mean() < 0.5


@pytest.mark.parametrize("delay", [-1, 1.5, np.inf, "1"])
def test_a_delay_is_a_number_of_rounds(delay):
    with pytest.raises(InvalidParameterError, match="'delay' parameter of Tracker"):
        tw.Tracker(delay=delay)


def test_weights_beyond_measure_are_borne():
    rng = np.random.default_rng(5)
    x, weight = rng.normal(size=(60, 3)), np.ones(60)
    y = x @ [1.0, 2.0, -1.0]
    y[10], weight[11] = 1e100, 1e120
    with np.errstate(over="ignore"):  # the loss itself is beyond float64
        state, trace = said(x, y, 0, weight)
    assert np.isfinite(trace.prediction).all()
    assert np.isfinite(state.packed[layout.COUNTERS + layout.PADDED_EXPERTS :]).all()


@pytest.mark.parametrize("delay", [1, 6, 12])
@pytest.mark.parametrize("phi", [0.9, 1.0])
def test_intervals_hold_as_often_as_they_say_where_errors_overlap(phi, delay):
    rng = np.random.default_rng(3)
    y = np.zeros(8000)
    for t in range(1, len(y)):
        y[t] = phi * y[t - 1] + rng.normal()
    tracker = tw.Tracker(delay=delay)
    block = tw.Block(np.ones((len(y), 1)), y)
    start = tracker.init(np.zeros(1))
    _, trace = tracker.run(start, LOSS, block, record=("interval",))
    low, high = trace.extras["interval"][1000:].T
    held = ((low <= y[1000:]) & (y[1000:] <= high)).mean()
    assert held == pytest.approx(0.9, abs=0.02)


def test_intervals_of_very_late_labels_hold_a_random_walk():
    walks = np.random.default_rng(6).normal(size=(6, 10_000)).cumsum(axis=1)
    covered = np.mean([held(y, slice(1000, None), 48) for y in walks])
    assert covered == pytest.approx(0.9, abs=0.02)


def held(y, rows, delay):
    """How often the 90 % intervals of these rounds hold the label."""
    tracker = tw.Tracker(delay=delay)
    block = tw.Block(np.random.default_rng(5).normal(size=(len(y), 2)), y)
    start = tracker.init(np.zeros(2))
    _, trace = tracker.run(start, LOSS, block, record=("interval",))
    low, high = trace.extras["interval"][rows].T
    return ((low <= y[rows]) & (y[rows] <= high)).mean()


def test_intervals_hold_soon_after_the_first_late_labels_have_come():
    rounds = slice(220, 400)  # the first label is known in round 101
    streams = np.random.default_rng(4).normal(size=(12, 400))
    assert np.mean([held(y, rounds, 100) for y in streams]) > 0.84


def test_rounds_that_wait_do_not_bring_back_what_was_forgotten():
    y = np.random.default_rng(6).normal(size=2400)
    y[300:330] *= 1e12
    for rounds in (slice(1100, 1400), slice(1400, 1700), slice(1700, 2400)):
        assert held(y, rounds, 60) == pytest.approx(0.9, abs=0.06)
