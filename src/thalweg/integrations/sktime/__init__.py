"""A forecaster for sktime (https://www.sktime.net): ``pip install thalweg[sktime]``."""

from thalweg.integrations.sktime.forecaster import TrackerForecaster

__all__ = ["TrackerForecaster"]
