"""``TrackerClassifier``: probabilities of classes for scikit-learn."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from thalweg.imputer import MissingPolicy
from thalweg.integrations.sklearn.estimator_inputs import (
    check_queries,
    check_rounds,
    check_weights,
    finite_rule,
    learn_rounds,
    usable_names,
)
from thalweg.learners import LogisticTracker
from thalweg.models import Classifier
from thalweg.types import FloatArray


class TrackerClassifier(ClassifierMixin, BaseEstimator):
    """Probabilities of classes by logistic Trackers, one against the rest.

    There is no forgetting factor, step size or scale to choose. ``certainty`` is that
    of ``thalweg.LogisticTracker``; ``missing`` says what a NaN among the features
    means: ``"refuse"``, ``"skip"`` or ``"impute"``, as for ``thalweg.Online``.

    ``partial_fit`` needs no ``classes``: those that appear later are what they would be
    if they had been known from the first row on. Where they are given, they have
    probabilities from the start. ``classes_`` is sorted, and can grow.

    ``model_``, the ``thalweg.Classifier`` that has learnt, is the fast path for single
    rows.
    """

    def __init__(
        self, certainty: float = 1e-3, *, missing: MissingPolicy = "refuse"
    ) -> None:
        self.certainty = certainty
        self.missing = missing

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows in their order, once, forgetting any earlier fit."""
        weights = check_weights(self, sample_weight, allow_zeros=False)
        return self._learn(self._new_model(), X, y, weights)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from further rows; chunks give what one ``fit`` gives, bit for bit."""
        weights = check_weights(self, sample_weight, allow_zeros=True)
        model = self.model_ if hasattr(self, "model_") else self._new_model()
        return self._learn(model, X, y, weights, classes)

    def _new_model(self) -> Classifier:
        return Classifier(LogisticTracker(self.certainty), missing=self.missing)

    def _learn(
        self, model: Classifier, X: Any, y: Any, weights: Any, classes: Any = None
    ) -> Self:
        is_first = model.rounds == 0
        rows, labels = check_rounds(self, X, y, is_first)
        check_classification_targets(labels)
        learn_rounds(model, rows, labels, weights)
        names = usable_names(self)
        if is_first and names is not None:
            model.feature_names = names
        if classes is not None:
            model.add_classes(np.unique(classes))
        self.model_ = model
        return self

    @property
    def classes_(self) -> Any:
        """The labels that are known, sorted."""
        return np.sort(np.asarray(self.model_.classes))

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class at each row, (T, K), as ``classes_`` is."""
        check_is_fitted(self, "model_")
        probabilities = self.model_.predict(check_queries(self, X))
        order = np.argsort(np.asarray(self.model_.classes))
        return np.asarray(probabilities[:, order])

    def predict(self, X: Any) -> Any:
        """The most probable class at each row, (T,)."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = finite_rule(self.missing) == "allow-nan"
        return tags
