"""Estimators for scikit-learn, which only this package imports."""

from thalweg.integrations.sklearn.regressors import RLSRegressor, TrackerRegressor
from thalweg.integrations.sklearn.tracker_classifier import TrackerClassifier

__all__ = ["RLSRegressor", "TrackerClassifier", "TrackerRegressor"]
