import dataclasses

import numpy as np

from benchmarks.accuracy.saved_forecasts import SavedForecasts
from tests.benchmarks.made_up_series import made_up_series

SERIES = made_up_series(np.arange(40.0))
ORIGINS = np.array([20, 30])
FORECASTS = np.arange(6.0).reshape(2, 3)


def test_what_was_saved_is_loaded_by_the_rivals_names(tmp_path):
    saved = SavedForecasts(tmp_path / "new" / "folder")
    assert saved.load(SERIES, ORIGINS, 3) == {}
    saved.save(SERIES, ORIGINS, FORECASTS, "theta", "statsforecast 1")
    saved.save(SERIES, ORIGINS, FORECASTS + 1, "mstl", "statsforecast 1")
    loaded = SavedForecasts(saved.folder).load(SERIES, ORIGINS, 3)
    assert set(loaded) == {"theta", "mstl"}
    np.testing.assert_array_equal(loaded["mstl"], FORECASTS + 1)


def test_forecasts_of_other_numbers_are_not_loaded(tmp_path):
    saved = SavedForecasts(tmp_path)
    saved.save(SERIES, ORIGINS, FORECASTS, "theta", "statsforecast 1")
    for change in (
        {"y": SERIES.y + 1}, {"times": SERIES.times + np.timedelta64(1, "s")},
        {"season": 5}, {"long_season": 8}, {"history": 20}, {"refit_every": 3},
    ):  # fmt: skip
        assert saved.load(dataclasses.replace(SERIES, **change), ORIGINS, 3) == {}
    assert saved.load(SERIES, ORIGINS + 1, 3) == {}
    assert saved.load(SERIES, ORIGINS, 2) == {}


def test_another_version_of_a_library_makes_its_forecasts_again(tmp_path):
    saved = SavedForecasts(tmp_path)
    asked = SERIES, ORIGINS, 3, "theta"
    assert not saved.holds(*asked, "statsforecast 1")
    saved.save(SERIES, ORIGINS, FORECASTS, "theta", "statsforecast 1")
    assert saved.holds(*asked, "statsforecast 1")
    assert not saved.holds(*asked, "statsforecast 2")
    assert not saved.holds(SERIES, ORIGINS, 3, "mstl", "statsforecast 1")
