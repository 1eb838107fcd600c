"""The Tracker on one target: any cut and any snapshot gives the same results."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg import Block, Online, RecursiveLeastSquares, SquaredError
from thalweg.evaluation.fixed_discounts import DISCOUNTS
from thalweg.evaluation.tracker_run import (
    STATISTICS_BATCH,
    TrackerRun,
    TrackerRunSnapshot,
)
from thalweg.learners import Tracker
from thalweg.persistence import SavedModel, dumps, loads
from thalweg.rules import restore_snapshot

RNG = np.random.default_rng(0)
T, NAMES = 300, ("a", "b", "c")
X = RNG.normal(size=(T, 3)) * [1.0, 20.0, 0.1] + [0.0, 5.0, -2.0]
Y = 7 + X @ [1.0, 0.3, 9.0] + (np.arange(T) > 150) * X[:, 0] * 4 + RNG.normal(size=T)
Y_WITH_MISSING = np.where(RNG.random(T) < 0.15, np.nan, Y)
X_WITH_MISSING = np.where(RNG.random((T, 3)) < 0.1, np.nan, X)

HOURS = np.arange(T).astype("datetime64[h]").astype("datetime64[ns]")


def oracle(x, y, delay):
    """Predictions by single calls; tests/learners/test_tracker_late.py has more."""
    model, predictions, naive, last = (
        Online(Tracker(delay=delay), None, False),
        [],
        [],
        np.nan,
    )
    for t in range(len(y)):
        predictions.append(float(model.predict(x[t])))
        naive.append(last)
        model.update(x[t], np.nan_to_num(y[t]), weight=float(not np.isnan(y[t])))
        if t >= delay and not np.isnan(y[t - delay]):
            last = y[t - delay]
    return np.array(predictions), np.array(naive)


def fixed_oracle(x, y, delay, burn_in, discount):
    """One least squares, row by row, in units of its first labelled rows."""
    late = [(x[t], y[t], t + delay) for t in range(len(y)) if not np.isnan(y[t])]
    seen = np.array([np.append(row, label) for row, label, _ in late[:burn_in]])
    mean, deviation = seen.mean(axis=0), seen.std(axis=0)

    def row(values):
        return np.append((values - mean[:-1]) / deviation[:-1], 1.0)

    learner = RecursiveLeastSquares(discount, ridge=0.01, floor=0.01, leaky=True)
    state, predictions, learnt, before = learner.init(np.zeros(4)), [], 0, delay - 1
    for t in range(len(y)):
        ready = learnt >= burn_in
        guess = row(x[t]) @ state.theta * deviation[-1] + mean[-1]
        predictions.append(guess if ready else np.nan)
        while learnt < len(late) and late[learnt][2] <= t:
            features, label, at = late[learnt]
            scaled = (label - mean[-1]) / deviation[-1]
            block = Block([row(features)], [scaled], None, [at - before])
            state, _ = learner.run(state, SquaredError(), block)
            learnt, before = learnt + 1, at
    return np.array(predictions)


@pytest.mark.parametrize("policy", ["skip", "impute"])
def test_missing_features_are_imputed_as_online_imputes_them(policy):
    run, model = TrackerRun(3, 0, policy), Online(intercept=False, missing=policy)
    predictions = model.run(X_WITH_MISSING, Y_WITH_MISSING).prediction
    assert (run.play(X_WITH_MISSING, Y_WITH_MISSING).prediction == predictions).all()
    assert (
        run.imputer.state.imputed
        == model.imputer.state.imputed
        == np.isnan(X_WITH_MISSING).sum()
    )
    late = TrackerRun(3, 5, policy)
    late.play(X_WITH_MISSING, Y_WITH_MISSING)
    assert late.study("", "y", NAMES).scored_rounds > 0


@pytest.mark.parametrize("delay", [0, 1, 12])
@pytest.mark.parametrize("y", [Y, Y_WITH_MISSING], ids=["complete", "missing"])
def test_each_row_is_predicted_before_its_delayed_label_is_learnt(delay, y):
    run = TrackerRun(3, delay)
    predictions, naive = oracle(X, y, delay)
    assert (run.play(X, y).prediction == predictions).all()
    study = run.study("", "y", NAMES)
    assert study.rounds == T and study.first_scored_round > run.burn_in + delay
    scored = np.arange(T) >= study.first_scored_round - 1
    scored &= ~np.isnan(y)
    assert study.scored_rounds == scored.sum()
    for entry, guess in ((study.tracker, predictions), (study.persistence, naive)):
        errors = (guess - y)[scored]
        assert entry.squared == pytest.approx(np.mean(errors**2), rel=1e-12)
        assert entry.absolute == pytest.approx(np.mean(np.abs(errors)), rel=1e-12)
    for discount in DISCOUNTS:
        guess = fixed_oracle(X, y, delay, run.burn_in, discount)
        ready = np.flatnonzero(~np.isnan(guess + y))
        assert ready[0] == study.first_scored_round - 1
        entry = study.entry(f"least squares, discount {discount:g}")
        assert entry.discount == discount
        error = np.mean((guess - y)[scored] ** 2)
        assert entry.squared == pytest.approx(error, rel=1e-9)


def test_intervals_are_the_trackers_and_their_coverage_is_measured():
    run = TrackerRun(3)
    low, high = run.play(X, Y).interval.T
    learner = Tracker()
    start = learner.init(np.zeros(3))
    _, trace = learner.run(start, SquaredError(), Block(X, Y), ["interval"])
    assert (np.column_stack([low, high]) == trace.extras["interval"]).all()
    ((level, covered),) = run.study("", "y", NAMES).history.coverage
    inside = ((low <= Y) & (Y <= high))[run.burn_in :]
    assert level == 0.9 and covered == inside.mean()
    late = TrackerRun(3, 3)
    low, high = late.play(X, Y).interval.T
    assert (low <= high).all()
    ((_, covered),) = late.study("", "y", NAMES).history.coverage
    assert 0.8 < covered < 1


def restored_from_a_file(run, delay):
    """The same run, out of a file."""
    saved = SavedModel(Tracker(), SquaredError(), None, {"run": run.snapshot()})
    snapshot = loads(dumps(saved)).extra["run"]
    snapshot = restore_snapshot(TrackerRunSnapshot, snapshot)
    return TrackerRun.from_snapshot(snapshot, 3, delay, "impute")


def results(run):
    """All that a study holds, but for the time it took."""
    return {
        k: v for k, v in run.study("", "y", NAMES).as_dict().items() if k != "seconds"
    }


@settings(max_examples=15)
@given(
    cuts=st.lists(st.integers(0, T), max_size=4),
    delay=st.sampled_from([0, 1, 5, 50]),
    filed=st.booleans(),
)
def test_a_run_can_be_cut_and_restored_anywhere(cuts, delay, filed):
    whole, times = TrackerRun(3, delay, "impute"), HOURS
    stream = X_WITH_MISSING, Y_WITH_MISSING, False, times
    predictions = whole.play(*stream).prediction
    cut = TrackerRun(3, delay, "impute")
    parts, edges = [], sorted({0, T, *cuts})
    for start, end in zip(edges, edges[1:], strict=False):
        x, y, seconds = (part[start:end] for part in (stream[0], stream[1], times))
        parts.append(cut.play(x, y, False, seconds).prediction)
        cut = restored_from_a_file(cut, delay) if filed else cut
    assert (np.concatenate(parts) == predictions).all()
    assert results(cut) == results(whole)
    assert (cut.state.packed == whole.state.packed).all()


@pytest.mark.parametrize("delay", [0, 5])
def test_single_rounds_leave_what_all_at_once_leave(delay):
    assert T > STATISTICS_BATCH
    whole, one_by_one = (TrackerRun(3, delay, "impute") for _ in range(2))
    predictions = whole.play(X_WITH_MISSING, Y_WITH_MISSING)
    for t in range(T):
        now = one_by_one.play(X_WITH_MISSING[t : t + 1], Y_WITH_MISSING[t : t + 1])
        assert now.prediction == predictions.prediction[t]
        assert (now.interval == predictions.interval[t]).all()
    assert results(one_by_one) == results(whole)


def test_no_label_at_all_is_predicted_and_not_scored():
    run = TrackerRun(3)
    assert (run.play(X, np.full(T, np.nan)).prediction == 0).all()
    study = run.study("", "y", NAMES)
    assert study.scored_rounds == study.first_scored_round == 0


def test_the_last_rounds_are_recorded_one_by_one():
    run = TrackerRun(3)
    predictions = np.concatenate(
        [run.play(X[:250], Y[:250])[0], run.play(X[250:], Y[250:])[0]]
    )
    last = run.study("", "y", NAMES).last_rounds
    assert last.last_round == T
    np.testing.assert_array_equal(last.observed, Y[-200:])
    np.testing.assert_array_equal(last.forecast, predictions[-200:])


def test_a_study_has_times_bands_their_coverage_and_residuals():
    run, times = TrackerRun(3), HOURS
    forecasts = run.play(X, Y, False, times)
    study = run.study("", "y", NAMES)
    seconds = 3600.0 * np.arange(T)
    np.testing.assert_array_equal(study.times.high, seconds)  # a bucket for each row
    low, high = forecasts.interval.T
    has_band = np.isfinite(high - low)
    np.testing.assert_array_equal(study.bands.low.mean[has_band], low[has_band])
    np.testing.assert_array_equal(study.bands.high.mean[has_band], high[has_band])
    scored = np.arange(T) >= run.burn_in
    inside = (low <= Y) & (Y <= high)
    covered = study.bands.covered.mean
    np.testing.assert_array_equal(covered[scored], inside[scored])
    assert np.isnan(covered[~scored]).all()
    errors = (Y - forecasts.prediction)[scored]
    assert study.residuals.counts.sum() == len(errors)
    assert study.residuals.edges[0] <= errors.min()
    assert errors.max() <= study.residuals.edges[-1]
    assert set(study.effects) == {*NAMES, "level and recent values"}
    kept = study.tracker.absolute_errors.mean
    np.testing.assert_array_equal(kept[scored], np.abs(errors))
    np.testing.assert_array_equal(study.last_rounds.time, seconds[-200:])
    np.testing.assert_array_equal(study.last_rounds.low, low[-200:])


def test_without_times_a_study_has_none():
    run = TrackerRun(3)
    run.play(X, Y)
    study = run.study("", "y", NAMES)
    assert study.times is None and study.last_rounds.time is None


def test_intervals_of_rows_without_a_label_grow_unless_they_only_ask():
    walk = np.cumsum(RNG.normal(size=T))
    run, asking = TrackerRun(3, 0, "refuse"), TrackerRun(3, 0, "refuse")
    for tracker_run in (run, asking):
        tracker_run.play(X[:250], walk[:250])
    unknown = np.full(30, np.nan)
    width = np.ptp(run.play(X[250:280], unknown).interval, axis=1)
    assert width[-1] > 2 * width[0] and (np.diff(width) > -1e-9).all()
    asked = np.ptp(asking.play(X[250:280], unknown, is_question=True).interval, axis=1)
    np.testing.assert_allclose(asked, width[0])
