"""Forecasts of series, several steps ahead."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.forecasting.forecast import Backtest as Backtest
    from thalweg.forecasting.forecast import Forecast as Forecast
    from thalweg.forecasting.forecaster import Forecaster as Forecaster

__getattr__, __all__ = lazy_exports(__name__)
