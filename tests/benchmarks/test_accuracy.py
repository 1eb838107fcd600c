import numpy as np
import pytest

from benchmarks.accuracy.accuracy_streams import (
    AccuracyStream,
    Scales,
    synthetic_streams,
)
from benchmarks.accuracy.rival_accuracy import measure_rivals
from benchmarks.accuracy.tracker_accuracy import (
    COVERAGE,
    DISCOUNTS,
    LEARNERS,
    RIDGES,
    SeededLearner,
    geometric_mean,
    measure_learner,
    measure_tracker,
    pair_errors,
)
from thalweg.learners import Tracker

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(150, 3)) * 5 + 2, RNG.normal(size=150) * 3 + 10
NOISE = AccuracyStream(X, Y, Scales.of_stream(X, Y))


def test_a_row_is_the_trackers_error_over_the_best_pairs():
    row = measure_tracker("noise", NOISE)
    errors = pair_errors(NOISE)
    best = min(errors.values())
    assert errors[row.discount, row.ridge] == best and len(errors) == 30
    assert row.nmse == pytest.approx(best / Y[100:].var())
    naive = np.mean(np.diff(Y)[99:] ** 2)
    assert row.errors["persistence"] == pytest.approx(naive / best)
    assert row.errors["never_forget"] >= 1
    never_forget = min(errors[1.0, ridge] for ridge in RIDGES)
    assert row.errors["never_forget"] == pytest.approx(never_forget / best)
    assert 0 < row.intervals.covered <= 1 and row.micros > 0
    assert (row.features, row.rounds) == (3, 150)


def test_pairs_equal_ridge_regression_in_units_of_the_whole_stream():
    start = NOISE._replace(x=X[:120], y=Y[:120])
    x, y = (X - X.mean(axis=0)) / X.std(axis=0), (Y - Y.mean()) / Y.std()
    rows, a, b, squares = np.column_stack([x, np.ones(150)]), np.eye(4), np.zeros(4), []
    for row, label in zip(rows[:120], y[:120], strict=True):
        squares.append((label - row @ np.linalg.solve(a, b)) ** 2)
        a = 0.98 * a + np.outer(row, row) + 0.02 * np.eye(4)
        b = 0.98 * b + label * row
    expected = np.mean(squares[100:]) * Y.var()
    assert pair_errors(start)[0.98, 1.0] == pytest.approx(expected, rel=1e-9)


def test_a_learner_that_depends_on_a_seed_is_measured_as_the_mean_over_its_seeds():
    def make(seed):
        return Tracker(("all", "features")[seed], COVERAGE)

    alone = [
        measure_learner(SeededLearner(lambda _, s=s: make(s)), NOISE) for s in (0, 1)
    ]
    both = measure_learner(SeededLearner(make, seeds=2), NOISE)
    assert alone[0].error != alone[1].error
    assert both.error == pytest.approx(np.mean([each.error for each in alone]))
    expected = np.mean([each.intervals for each in alone], axis=0)
    assert both.intervals == pytest.approx(tuple(expected))


def test_any_learners_can_be_compared():
    learners = {"first": LEARNERS["tracker"], "second": LEARNERS["features_only"]}
    row = measure_tracker("noise", NOISE, learners)
    assert list(row.errors) == ["first", "second", "persistence", "never_forget"]
    usual = measure_tracker("noise", NOISE)
    assert row.errors["first"] == usual.errors["tracker"]


def test_synthetic_streams_are_of_ten_kinds_and_seeded():
    streams = synthetic_streams(2, 300)
    assert len(streams) == 20 and len(DISCOUNTS) * len(RIDGES) == 30
    for read in streams.values():
        (x, y, *_), again = read(), read().x
        assert x.shape[0] == y.shape[0] == 300 and (x == again).all()
        assert np.isfinite(x).all() and np.isfinite(y).all()


def test_rivals_are_measured_on_a_stream_that_ships_with_river():
    row = measure_rivals("trump", rows=300)
    assert row.rounds == 300 and row.tracker > 0
    assert row.best <= row.best_of_four <= row.default  # the best of more and more


def test_ratios_are_averaged_so_that_two_and_a_half_cancel():
    assert geometric_mean([2.0, 0.5]) == pytest.approx(1.0)
