import numpy as np
import pytest

from tests.benchmarks.made_up_series import made_up_series

pytest.importorskip("statsforecast", reason="it is in the benchmarks' environment")
statistical = pytest.importorskip("benchmarks.accuracy.statistical_forecasts")

Y = 90 + np.tile([1.0, 5.0, 2.0, -3.0], 30) + 0.5 * np.arange(120)
SERIES = made_up_series(Y, long_season=8, history=60)
ORIGINS = np.array([70, 90])


@pytest.mark.parametrize("name", ["theta", "mstl", "ets"])
def test_a_season_with_a_trend_is_forecast(name):
    make = statistical.statistical_models(SERIES)[name]
    forecasts = statistical.refitted_forecasts(SERIES, ORIGINS, 6, make)
    errors = forecasts - Y[ORIGINS[:, None] + np.arange(1, 7)]
    assert np.abs(errors).max() < 1.5


def test_models_get_the_rows_up_to_the_origin():
    histories = []

    class Model:
        def forecast(self, y, h):
            histories.append(y)
            return {"mean": np.zeros(h)}

    forecasts = statistical.refitted_forecasts(SERIES, np.array([40, 90]), 6, Model)
    assert forecasts.shape == (2, 6)
    np.testing.assert_array_equal(histories[0], Y[:41])
    np.testing.assert_array_equal(histories[1], Y[31:91])
