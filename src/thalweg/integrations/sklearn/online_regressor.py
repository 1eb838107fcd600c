"""The base class of the regressors: an ``Online`` as scikit-learn needs it."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from thalweg.integrations.sklearn.estimator_inputs import (
    check_queries,
    check_rounds,
    check_weights,
    finite_rule,
    learn_rounds,
    usable_names,
)
from thalweg.models import Online
from thalweg.preprocessing.imputer import MissingPolicy
from thalweg.types import FloatArray


class OnlineRegressor(RegressorMixin, BaseEstimator, ABC):
    """A regressor whose rows come in the order of time.

    ``model_``, the ``Online`` that has learnt, is the fast path: its ``predict`` and
    ``update`` of a row take microseconds, where scikit-learn's validation of arguments
    takes a hundred or more. What it learns, the estimator knows.
    """

    missing: MissingPolicy
    model_: Online

    @abstractmethod
    def _new_model(self) -> Online:
        """The model before its first row, from the parameters as they are now."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows in their order, once, forgetting any earlier fit."""
        weights = check_weights(self, sample_weight, allow_zeros=False)
        return self._learn(self._new_model(), X, y, weights)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from further rows; chunks give what one ``fit`` gives, bit for bit."""
        weights = check_weights(self, sample_weight, allow_zeros=True)
        model = self.model_ if hasattr(self, "model_") else self._new_model()
        return self._learn(model, X, y, weights)

    def _learn(self, model: Online, X: Any, y: Any, weights: Any) -> Self:
        is_first = model.rounds == 0
        rules = {"y_numeric": True, "multi_output": True}
        rows, targets = check_rounds(self, X, y, is_first, **rules)
        learn_rounds(model, rows, np.asarray(targets, np.float64), weights)
        names = usable_names(self)
        if is_first and names is not None:
            model.feature_names = names
        self.model_ = model
        return self

    def predict(self, X: Any, interval: float | None = None) -> Any:
        """The prediction at each row, (T,), or (T, k) of k targets.

        With ``interval``, say 0.9, three such arrays, ``mean, low, high``: y is
        expected between the last two that often, in the round after the last one that
        was learnt.
        """
        check_is_fitted(self, "model_")
        rows = check_queries(self, X)
        if len(rows) == 1 and interval is None:
            return np.array([self.model_.predict(rows[0])])  # one compiled call
        return self.model_.predict(rows, interval)

    @property
    def coef_(self) -> FloatArray:
        """The slope of the prediction, (n,), or (k, n) of k targets."""
        return self._theta()[: self.n_features_in_].T

    def _theta(self) -> FloatArray:
        """The model's θ, (n,) or (n, k), with the intercept in the last row if any."""
        # Not by name: a column of the user's may be called "intercept" as well.
        model = self.model_
        return np.array(model.learner.play(model.state))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = finite_rule(self.missing) == "allow-nan"
        tags.target_tags.multi_output = True
        return tags
