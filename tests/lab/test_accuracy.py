import numpy as np
import pytest

from thalweg.lab.accuracy import geometric_mean, measure_tracker, synthetic_streams
from thalweg.lab.accuracy.rival_accuracy import measure_rivals, streams_lost
from thalweg.lab.accuracy.tracker_accuracy import DISCOUNTS, RIDGES, pair_errors

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(150, 3)) * 5 + 2, RNG.normal(size=150) * 3 + 10


def test_a_row_is_the_trackers_error_over_the_best_pairs():
    row = measure_tracker("noise", X, Y)
    errors = pair_errors(X, Y)
    best = min(errors.values())
    assert errors[row.discount, row.ridge] == best and len(errors) == 30
    assert row.nmse == pytest.approx(best / Y[100:].var())
    naive = np.mean(np.diff(Y)[99:] ** 2)
    assert row.persistence == pytest.approx(naive / best)
    assert row.never_forget >= 1
    never_forget = min(errors[1.0, ridge] for ridge in RIDGES)
    assert row.never_forget == pytest.approx(never_forget / best)
    assert 0 < row.covered <= 1 and row.micros > 0
    assert (row.features, row.rounds) == (3, 150)


def test_synthetic_streams_are_of_ten_kinds_and_seeded():
    streams = synthetic_streams(2, 300)
    assert len(streams) == 20 and len(DISCOUNTS) * len(RIDGES) == 30
    for read in streams.values():
        (x, y), (again, _) = read(), read()
        assert x.shape[0] == y.shape[0] == 300 and (x == again).all()
        assert np.isfinite(x).all() and np.isfinite(y).all()


def test_rivals_are_measured_on_a_stream_that_ships_with_river():
    row = measure_rivals("trump", rows=300)
    assert row.rounds == 300 and row.tracker > 0
    assert row.best <= row.best_of_four <= row.default  # the best of more and more
    ratio = row.best_of_four
    expected = {} if ratio > 1 else {"trump": ratio}
    assert streams_lost([row], ["best_of_four"]) == expected


def test_ratios_are_averaged_so_that_two_and_a_half_cancel():
    assert geometric_mean([2.0, 0.5]) == pytest.approx(1.0)
