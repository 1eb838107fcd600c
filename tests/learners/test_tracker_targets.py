"""A Tracker of several targets is as many Trackers, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import thalweg as tw
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.learners.tracker import several_targets
from thalweg.types import Block

RNG = np.random.default_rng(8)
T, N, K = 260, 3, 4
X = RNG.normal(size=(T, N))
Y = X @ RNG.normal(size=(N, K)) + np.cumsum(RNG.normal(size=(T, K)), axis=0)
LOSS = tw.SquaredError()
TRACKERS = [tw.Tracker(), tw.Tracker(curvature=False, delay=3)]
RECORDS = ("theta", "weights", "memory", "interval")


@pytest.mark.parametrize("tracker", TRACKERS, ids=["curvature", "delay"])
@pytest.mark.parametrize("threads", [False, True])
def test_a_run_is_that_of_separate_trackers(tracker, threads, monkeypatch):
    least = 0 if threads else 10**9
    monkeypatch.setattr(several_targets, "MIN_ROUNDS_TO_SHARE", least)
    weight, elapsed = RNG.integers(0, 3, T) * 1.0, RNG.choice([0.5, 1.0, 2.0], T)
    block = Block(X, Y, weight, elapsed)
    start = tracker.init(np.zeros((N, K)))
    state, trace = tracker.run(start, LOSS, block, RECORDS)
    total = np.zeros(T)
    for j in range(K):
        one = Block(X, Y[:, j], weight, elapsed)
        after, expected = tracker.run(tracker.init(np.zeros(N)), LOSS, one, RECORDS)
        np.testing.assert_array_equal(state.theta[:, j], after.theta)
        np.testing.assert_array_equal(state.packed[j], after.packed)
        np.testing.assert_array_equal(trace.prediction[:, j], expected.prediction)
        np.testing.assert_array_equal(trace.theta[:, :, j], expected.theta)
        for name in RECORDS[1:]:
            got = trace.extras[name][:, j]
            np.testing.assert_array_equal(got, expected.extras[name])
        total += expected.loss
    np.testing.assert_array_equal(trace.loss, total)
    assert state.rounds == after.rounds and tracker.memory(state).shape == (K,)
    assert tracker.explain(state).count("Target") == K


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 80), max_size=4))
@pytest.mark.slow
def test_single_calls_runs_and_cuts_agree(cuts):
    whole, cut, single = tw.Online(), tw.Online(), tw.Online()
    trace = whole.run(X[:80], Y[:80])
    edges = [0, *sorted(cuts), 80]
    for start, end in zip(edges, edges[1:], strict=False):
        if end > start:
            cut.run(X[start:end], Y[start:end])
    for t in range(80):
        np.testing.assert_array_equal(single.predict(X[t]), trace.prediction[t])
        single.update(X[t], Y[t])
    for model in (cut, single):
        np.testing.assert_array_equal(model.state.packed, whole.state.packed)
    assert single.rounds == 80


def test_queries_and_intervals_are_those_of_separate_models():
    model, singles = tw.Online(), [tw.Online() for _ in range(K)]
    model.run(X, Y)
    for j, single in enumerate(singles):
        single.run(X, Y[:, j])
    many, band = model.predict(X[:9]), model.predict(X[:9], interval=0.8)
    one = model.predict(X[0], interval=0.8)
    for j, single in enumerate(singles):
        np.testing.assert_array_equal(many[:, j], single.predict(X[:9]))
        expected = single.predict(X[:9], interval=0.8)
        np.testing.assert_array_equal(band.low[:, j], expected.low)
        assert one.high[j] == single.predict(X[0], interval=0.8).high


def test_it_is_saved_copied_and_goes_on(tmp_path):
    model = tw.Online()
    model.run(X[:200], Y[:200])
    model.save(tmp_path / "m.thalweg")
    loaded, clone = tw.Online.load(tmp_path / "m.thalweg"), model.clone()
    traces = [one.run(X[200:], Y[200:]) for one in (model, loaded, clone)]
    for trace in traces[1:]:
        np.testing.assert_array_equal(trace.prediction, traces[0].prediction)


def test_features_come_and_go_for_every_target():
    tracker = tw.Tracker(curvature=False)
    state, _ = tracker.run(tracker.init(np.zeros((N, K))), LOSS, Block(X, Y))
    wide = tracker.add_features(state, [1])
    assert wide.theta.shape == (N + 1, K)
    back = tracker.remove_features(wide, [1])
    for j, own in enumerate(several_targets.split_targets(back)):
        single, _ = tracker.run(tracker.init(np.zeros(N)), LOSS, Block(X, Y[:, j]))
        single = tracker.remove_features(tracker.add_features(single, [1]), [1])
        np.testing.assert_array_equal(own.packed, single.packed)


def test_the_definition_takes_several_targets():
    tracker = tw.Tracker(curvature=False)
    state, first = tracker.init(np.zeros((N, K))), tracker.init(np.zeros(N))
    for t in range(12):
        state = tracker.update(state, tw.losses.Round(LOSS, X[t], Y[t]))
        first = tracker.update(first, tw.losses.Round(LOSS, X[t], Y[t, 0]))
    np.testing.assert_array_equal(state.packed[0], first.packed)


def test_a_refused_round_leaves_every_target_as_it_was():
    model = tw.Online()
    model.run(X[:50], Y[:50])
    before = model.state.packed.copy()
    for y in ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0, np.nan], [1.0, 1e200, 0.0, 0.0]):
        with pytest.raises(StreamError):
            model.update(X[50], np.array(y))
        np.testing.assert_array_equal(model.state.packed, before)
    tracker, state = model.learner, model.state
    with pytest.raises(InvalidParameterError):
        tracker.run(state._replace(packed=state.packed[:2]), LOSS, Block(X, Y))
    wrong = state.packed.copy()
    wrong[2, 3:9] = -1e9  # counters
    with pytest.raises(InvalidParameterError):
        tracker.run(state._replace(packed=wrong), LOSS, Block(X, Y))
