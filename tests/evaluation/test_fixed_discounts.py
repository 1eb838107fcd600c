"""Baselines with fixed discounts stay in reason whatever their features do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.evaluation.compare_study import study_with_baselines
from thalweg.evaluation.compared_learners import StandardisedStream
from thalweg.evaluation.fixed_discounts import scale_units
from thalweg.evaluation.tracker_run import TrackerRun


def stream(constant, noise, jump, rows=900, calm=500, seed=0):
    """A feature that stands still, but for noise, and then moves; another one moves."""
    rng = np.random.default_rng(seed)
    still = constant * (1 + noise * rng.normal(size=rows))
    still[calm:] += jump * rng.normal(size=rows - calm)
    other = rng.normal(size=rows)
    y = 3 * other + 0.1 * rng.normal(size=rows) + 50
    return np.column_stack([still, other]), y


@pytest.mark.parametrize("constant", [21.3, 1 / 3, -1e6 / 7])
@pytest.mark.parametrize("noise", [0.0, 1e-13, 1e-7, 1e-4])
def test_a_feature_that_stood_still_harms_no_baseline(constant, noise):
    x, y = stream(constant, noise, jump=abs(constant) / 2)
    run = TrackerRun(2)
    run.play(x, y)
    study = run.study("", "y", ("still", "other"))
    assert study.scored_rounds == 900 - run.burn_in
    for entry in study.entries_of_role("fixed"):
        # To repeat the last value is off by 2·9; a constant mean would be by 9.
        assert entry.squared < 20


@pytest.mark.parametrize("constant", [21.3, 1e6 / 7])
def test_in_a_comparison_as_well(constant):
    x, y = stream(constant, 0.0, jump=1.0, rows=200, calm=200)
    scaled = StandardisedStream.from_rounds(x, y, 0).block.x
    assert np.abs(scaled[:, 0]).max() < 1e-12
    study = study_with_baselines("", "y", ("still", "other"), x, y)
    for entry in study.entries_of_role("fixed"):
        assert entry.squared < 1


@given(
    value=st.floats(-1e12, 1e12).filter(lambda value: abs(value) > 1e-12),
    rows=st.integers(1, 300),
)
@settings(max_examples=100)
def test_a_constant_has_its_size_as_its_unit(value, rows):
    assert scale_units(np.full((rows, 1), value)) == [abs(value)]


def test_units_are_deviations_where_there_are_any():
    columns = np.random.default_rng(0).normal(size=(60, 3)) * [1.0, 1e-5, 1e9]
    rows = columns + [5.0, 0.0, 1.0]
    np.testing.assert_array_equal(scale_units(rows), rows.std(axis=0))
    assert scale_units(np.zeros((60, 2))).tolist() == [1.0, 1.0]


@given(seed=st.integers(0, 1000), scale=st.sampled_from([1e-3, 1.0, 1e6]))
@settings(max_examples=20)
def test_no_prediction_is_further_from_the_labels_than_their_range(seed, scale):
    x, y = stream(21.3, 1e-9, jump=10 * scale, rows=300, calm=150, seed=seed)
    run = TrackerRun(2)
    due = run.statistics.delayed_labels.push(x, y)
    predictions = run.statistics.fixed_discounts.play(x, due)
    for t in np.flatnonzero(~np.isnan(predictions[:, 0])):
        low, high = y[:t].min(), y[:t].max()
        assert (predictions[t] >= low - (high - low)).all()
        assert (predictions[t] <= high + (high - low)).all()
