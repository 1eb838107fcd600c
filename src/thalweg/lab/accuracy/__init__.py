"""The Tracker's error against the best settings in hindsight, and against rivals."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.lab.accuracy.accuracy_streams import SYNTHETIC as SYNTHETIC
    from thalweg.lab.accuracy.accuracy_streams import AccuracyStream as AccuracyStream
    from thalweg.lab.accuracy.accuracy_streams import (
        MissingDataError as MissingDataError,
    )
    from thalweg.lab.accuracy.accuracy_streams import public_streams as public_streams
    from thalweg.lab.accuracy.accuracy_streams import shocked_streams as shocked_streams
    from thalweg.lab.accuracy.accuracy_streams import (
        stripped_streams as stripped_streams,
    )
    from thalweg.lab.accuracy.accuracy_streams import (
        synthetic_streams as synthetic_streams,
    )
    from thalweg.lab.accuracy.forecast_accuracy import BAND_COVERAGE as BAND_COVERAGE
    from thalweg.lab.accuracy.forecast_accuracy import PUBLIC_SERIES as PUBLIC_SERIES
    from thalweg.lab.accuracy.forecast_accuracy import SHORT_SERIES as SHORT_SERIES
    from thalweg.lab.accuracy.forecast_accuracy import (
        ForecastAccuracy as ForecastAccuracy,
    )
    from thalweg.lab.accuracy.forecast_accuracy import (
        measure_forecaster as measure_forecaster,
    )
    from thalweg.lab.accuracy.saved_forecasts import SavedForecasts as SavedForecasts
    from thalweg.lab.accuracy.tracker_accuracy import COVERAGE as COVERAGE
    from thalweg.lab.accuracy.tracker_accuracy import TrackerAccuracy as TrackerAccuracy
    from thalweg.lab.accuracy.tracker_accuracy import geometric_mean as geometric_mean
    from thalweg.lab.accuracy.tracker_accuracy import measure_tracker as measure_tracker

_MODULE_OF = {
    "AccuracyStream": "accuracy_streams",
    "BAND_COVERAGE": "forecast_accuracy",
    "COVERAGE": "tracker_accuracy",
    "ForecastAccuracy": "forecast_accuracy",
    "MissingDataError": "accuracy_streams",
    "PUBLIC_SERIES": "forecast_accuracy",
    "SHORT_SERIES": "forecast_accuracy",
    "SavedForecasts": "saved_forecasts",
    "SYNTHETIC": "accuracy_streams",
    "TrackerAccuracy": "tracker_accuracy",
    "geometric_mean": "tracker_accuracy",
    "measure_forecaster": "forecast_accuracy",
    "measure_tracker": "tracker_accuracy",
    "public_streams": "accuracy_streams",
    "shocked_streams": "accuracy_streams",
    "stripped_streams": "accuracy_streams",
    "synthetic_streams": "accuracy_streams",
}

__all__ = sorted(_MODULE_OF)

# `thalweg accuracy --help` needs no pandas.
__getattr__ = lazy_exports(__name__, _MODULE_OF)
