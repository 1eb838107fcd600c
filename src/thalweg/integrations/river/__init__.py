"""Estimators for River (https://riverml.xyz): ``pip install 'thalweg[river]'``."""

from thalweg.integrations.river.forecaster import TrackerForecaster
from thalweg.integrations.river.multi_target import RLSMultiTargetRegressor
from thalweg.integrations.river.regressors import (
    GradientRegressor,
    NewtonRegressor,
    RLSRegressor,
    TrackerRegressor,
)
from thalweg.integrations.river.tracker_classifier import TrackerClassifier

__all__ = [
    "GradientRegressor",
    "NewtonRegressor",
    "RLSMultiTargetRegressor",
    "RLSRegressor",
    "TrackerClassifier",
    "TrackerForecaster",
    "TrackerRegressor",
]
