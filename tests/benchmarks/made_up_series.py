"""Series that tests of forecasts make up."""

import numpy as np

from benchmarks.public_series import PublicSeries


def made_up_series(y, season=4, long_season=None, history=1000, refit_every=50):
    """Hourly values as a series."""
    hours = np.arange(len(y)) * np.timedelta64(3600, "s")
    times = np.datetime64("2024-01-01", "s") + hours
    return PublicSeries(
        "made up", "", times, np.asarray(y, float), season, long_season, history,
        refit_every,
    )  # fmt: skip
