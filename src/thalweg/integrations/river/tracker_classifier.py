"""A classifier for River: a logistic Tracker for each class."""

from typing import Any

import numpy as np
from river.base import MiniBatchClassifier
from river.utils import dataframe

from thalweg.errors import StreamError
from thalweg.integrations.river.feature_rows import FeatureRows, read_frame, with_places
from thalweg.integrations.river.memory_usage import MemoryUsage
from thalweg.learners import LogisticTracker
from thalweg.models import Classifier


class TrackerClassifier(MemoryUsage, MiniBatchClassifier):
    """Probabilities of two or more classes for River, with nothing to choose.

    One logistic Tracker for each class, normalised (``thalweg.Classifier``): classes
    need not be known beforehand, and rows need no scaler. There can be 1,024 features,
    or as many as the first row has, and 1,000 classes.

    Parameters
    ----------
    certainty
        How far from 0 and 1 probabilities stay, in (0, ½).

    """

    def __init__(self, certainty: float = 1e-3) -> None:
        self.certainty = certainty
        self._classifier = Classifier(LogisticTracker(certainty))
        self._rows = FeatureRows(least_width=1)

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def model(self) -> Classifier:
        """The model, with positions for keys: ``classes``, ``save``."""
        return self._classifier

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn from one row ``x`` with the label ``y`` and the weight ``w``."""
        rows, classifier = with_places(self._rows, self._classifier, x)
        try:
            classifier.update(rows.read_any(x), y, w)
        except StreamError:
            rows.complete(x)  # names the key, if a feature is refused
            raise
        vars(self).update(_rows=rows, _classifier=classifier)

    def predict_proba_one(self, x: dict[Any, Any], **options: Any) -> dict[Any, float]:
        """The probability of each class, by label; none before any label."""
        probabilities: dict[Any, float]
        try:
            probabilities = self._classifier.predict(self._rows.read_any(x))
        except StreamError:
            self._rows.complete(x)  # names the key
            raise
        return probabilities

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn from the rows of a data frame, as ``learn_one`` of each would.

        ``y`` is a Series of labels, ``w`` a weight for all rows or one for each.
        """
        frame = dataframe.into_frame(X)
        if not len(frame):
            return
        keys, values = read_frame(frame)
        labels = dataframe.into_series(y).to_list()
        rows, classifier = with_places(self._rows, self._classifier, keys)
        weight = np.broadcast_to(np.asarray(w, np.float64), len(values))
        classifier.run(rows.arrange(keys, values), labels, weight)
        vars(self).update(_rows=rows, _classifier=classifier)

    def predict_proba_many(self, X: Any) -> Any:
        """The probabilities at the rows of a data frame: a column for each class.

        The frame is of the same library; where it takes only text for the names of
        columns, labels become text.
        """
        frame = dataframe.into_frame(X)
        columns = self._probabilities(frame).T
        by_label = dict(zip(self._classifier.classes, columns, strict=True))
        return dataframe.to_native_frame(by_label, like=frame)

    def predict_many(self, X: Any) -> Any:
        """The most probable label of each row of a data frame: a Series."""
        frame = dataframe.into_frame(X)
        classes = self._classifier.classes
        most = self._probabilities(frame).argmax(axis=1) if classes else ()
        labels = [classes[k] for k in most] if classes else [None] * len(frame)
        return dataframe.to_native_series(labels, name="prediction", like=frame)

    def _probabilities(self, frame: Any) -> Any:
        keys, values = read_frame(frame)
        rows = self._rows.arrange(keys, values)
        if not len(rows):
            return np.zeros((0, len(self._classifier.classes)))
        return self._classifier.predict(rows)
