import numpy as np
import pytest

from thalweg.paper.claim_result import fit_growth_rate, fit_slope

HORIZONS = np.tile([100, 200, 400, 800], 3)
SEEDS = np.repeat([0, 1, 2], 4)


def test_a_power_law_is_fitted_whatever_the_constant_of_each_seed():
    values = np.array([1.0, 7.0, 0.2])[SEEDS] * HORIZONS**0.7
    exponent, low, high = fit_growth_rate(HORIZONS, values, SEEDS)
    assert exponent == pytest.approx(0.7)
    assert high - low < 1e-6


def test_the_interval_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(1000):
        noise = np.exp(0.1 * rng.normal(size=len(SEEDS)))
        _, low, high = fit_growth_rate(HORIZONS, HORIZONS**0.5 * noise, SEEDS)
        covered += low <= 0.5 <= high
    assert 930 <= covered <= 970


def test_values_without_logarithm_or_degrees_of_freedom_have_no_exponent():
    assert fit_growth_rate(HORIZONS, np.zeros(12), SEEDS) is None
    assert fit_growth_rate([1, 2], [1.0, 2.0], [0, 0]) is None


def test_the_slope_alone_is_that_of_the_power_law():
    assert fit_slope([10, 20, 80], 3 * np.array([10, 20, 80]) ** 0.7) == pytest.approx(
        0.7
    )
