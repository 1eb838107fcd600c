"""Estimators for scikit-learn, which only this package imports."""

from thalweg.integrations.sklearn.rls_regressor import RLSRegressor
from thalweg.integrations.sklearn.tracker_classifier import TrackerClassifier
from thalweg.integrations.sklearn.tracker_regressor import TrackerRegressor

__all__ = ["RLSRegressor", "TrackerClassifier", "TrackerRegressor"]
