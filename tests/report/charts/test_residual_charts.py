import numpy as np
import pytest

from tests.report import example_studies
from thalweg.evaluation.downsampling import Curve
from thalweg.evaluation.run_record import ErrorHistogram
from thalweg.report.charts.error_charts import (
    absolute_quantile,
    display_bins,
    rolling_mean,
)
from thalweg.report.charts.study_charts import effects_figure, main_figures

ERRORS = np.random.default_rng(0).normal(2.0, 5.0, size=20_000)


def histogram(errors):
    made = ErrorHistogram()
    made.add(errors)
    return made.histogram()


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9, 0.99])
def test_quantiles_of_errors_are_right_to_a_sixteenth(level):
    expected = np.quantile(np.abs(ERRORS), level)
    found = absolute_quantile(histogram(ERRORS), level)
    # The upper edge of a bin that is at most a sixteenth as wide as its numbers.
    assert expected * (1 - 1 / 64) <= found <= expected * (1 + 1 / 16) + 1e-9


def test_bars_count_the_errors_between_their_edges():
    edges, counts = display_bins(histogram(ERRORS))
    expected, _ = np.histogram(ERRORS, edges)
    assert counts.sum() == pytest.approx(expected.sum(), rel=0.002)
    # Bins across an edge are divided by their widths, as if errors were even in them.
    assert np.abs(counts - expected).max() < 0.25 * expected.max()
    assert np.corrcoef(counts, expected)[0, 1] > 0.99


def test_a_rolling_mean_is_over_the_buckets_that_have_a_number():
    values = np.array([np.nan, 1.0, 3.0, np.nan, 5.0, 7.0])
    means = rolling_mean(Curve(np.arange(1, 7), values, values, values), 2)
    np.testing.assert_array_equal(means, [np.nan, 1.0, 2.0, 3.0, 5.0, 6.0])


def test_the_sine_and_the_cosine_of_a_clock_are_one_bar():
    effects = {"hour sin": 3.0, "hour cos": 4.0, "wind": 1.0, "wind sin": 2.0}
    spec = effects_figure("load", effects).chart.to_dict()
    (lists,) = (spec.get("data") or spec["layer"][0]["data"])["values"]
    assert lists["name"] == ["time of day", "wind sin", "wind"]
    assert lists["size"] == [5.0, 2.0, 1.0]


def test_many_features_leave_the_largest_and_the_caption_says_so():
    effects = {f"sensor {k}": float(k) for k in range(30)}
    assert "18 smaller ones" in effects_figure("y", effects).caption


def test_a_study_from_before_bands_and_times_has_no_charts_of_them():
    names = [figure.name for figure in main_figures(example_studies.bare())]
    assert "coverage" not in names and "residuals" not in names
