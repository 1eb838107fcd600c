"""``Classifier``: probabilities of several classes, one model for each."""

import copy
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from thalweg.errors import InvalidParameterError, StreamError, ThalwegError
from thalweg.imputer import POLICY_RULES, MissingPolicy
from thalweg.learners import Learner, LogisticTracker
from thalweg.losses import Logistic
from thalweg.models.class_probabilities import (
    NO_CLASS,
    known_classes,
    log_loss,
    normalise,
    normalise_rows,
)
from thalweg.models.classifier_file import (
    ClassifierFileContents,
    read_classifier,
    write_classifier,
)
from thalweg.models.delayed_labels import DueLabels
from thalweg.models.inputs import as_row
from thalweg.models.model_features import Features
from thalweg.models.model_lock import ModelLock
from thalweg.models.named_rows import is_frame, played_index, read_chunk, split_labels
from thalweg.models.online import Online
from thalweg.types import FloatArray, Trace

LIST_METHODS = ("to_pylist", "to_list", "tolist")
"""Names of the conversion to a list in pyarrow, in pandas and polars, and in NumPy."""


class MissingLabel:
    """The type of ``MISSING``."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = MissingLabel()
"""Stands for the label of a round that has none: it is None or NaN."""


def as_label(label: Any, policy: MissingPolicy) -> Any:
    """A label as the key of its class; refused where it can be none."""
    if type(label) is str:
        return label
    if hasattr(label, "dtype") and getattr(label, "shape", None) == ():
        label = label.item()  # a NumPy scalar as the Python number or text that it is
    try:
        hash(label)
    except TypeError:
        raise StreamError(
            "A label must be hashable, such as text, a number or a truth value. "
            f"Got {label!r:.80} instead."
        ) from None
    if not _is_missing(label):
        return label
    if POLICY_RULES[policy].accepts:
        return MISSING
    raise StreamError(
        f"A round needs a label where missing is {policy!r}. Got {label!r} instead."
    )


def as_labels(labels: Any, policy: MissingPolicy) -> list[Any]:
    """The labels of many rounds, as the keys of their classes."""
    for name in LIST_METHODS:
        if hasattr(labels, name):
            labels = getattr(labels, name)()
            break
    if not isinstance(labels, list | tuple):
        raise StreamError(
            "Labels must be a list, an array or a column of them. "
            f"Got {labels!r:.80} instead."
        )
    return [as_label(label, policy) for label in labels]


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA is neither equal to itself nor not
        return True


MAX_CLASSES = 1000
"""Every class takes the time and memory of a model: at 1,000 classes and eight features
10 ms a round and 20 MB."""
UNKNOWN = object()
"""The label of the background model, which no row has."""


class ClassModels(NamedTuple):
    """The models of a classifier, all of which have learnt the same rows."""

    background: Online  # of a class that has not appeared: its targets are all 0
    by_label: Mapping[Any, Online]  # the target is 1 in rows with this label

    def items(self) -> Iterator[tuple[Any, Online]]:
        """The models with their labels, the background model first."""
        yield UNKNOWN, self.background
        yield from self.by_label.items()

    def copy(self) -> "ClassModels":
        """Copies of all models."""
        # By __getstate__: settings are frozen, and all that changes is copied.
        by_label = {label: copy.copy(model) for label, model in self.by_label.items()}
        return ClassModels(copy.copy(self.background), by_label)


class PendingRound(NamedTuple):
    """A round that is being learnt, model by model."""

    x: Any
    label: Any
    weight: Any
    elapsed: Any
    rounds: int  # before this one
    models: ClassModels  # one for the round's own class among them


class Classifier:
    """Probabilities of classes that need not be known beforehand.

    >>> model = Classifier()
    >>> model.update([1.0, 2.0], "cat")
    >>> model.update([0.0, 1.0], "dog")
    >>> model.predict([1.0, 2.0])  # doctest: +SKIP
    {'cat': 0.58, 'dog': 0.42}

    One against the rest (one-vs-rest, one-vs-all): there is a model of logistic loss
    (``Online``) for each class, and their probabilities are divided by their sum. A
    background model learns every row as one of no class that is known. A class that
    appears goes on from a copy of it, and so is, to the last bit, what it would be if
    it had been known from the first row on. Of two classes each has its model, too:
    they are mirror images, and either could be spared until a third appears, which
    needs both. Where labels are 0 and 1 only, ``Online(LogisticTracker(), Logistic())``
    takes a third of the time.

    Labels are any values that can be keys of a dict: text, numbers, truth values. Those
    that are equal, as 1 and True, are one class. There can be ``MAX_CLASSES`` of them.

    ``learner`` is any learner of logistic loss, by default ``LogisticTracker``, which
    has nothing to choose. ``intercept`` and ``missing`` are as for ``Online``; a label
    that is None or NaN is missing. Rows are what ``Online`` takes: arrays, or dicts and
    data frames, whose columns are then known by name. Threads may share a classifier:
    calls wait for each other.
    """

    _models: ClassModels
    _pending: PendingRound | None

    def __init__(
        self,
        learner: Learner[Any] | None = None,
        intercept: bool | None = None,
        missing: MissingPolicy = "refuse",
    ) -> None:
        self.learner = LogisticTracker() if learner is None else learner
        background = Online(self.learner, Logistic(), intercept, missing)
        self.intercept, self.missing = background.intercept, missing
        self._open(ClassModels(background, {}))

    def __getstate__(self) -> dict[str, Any]:
        with ClassifierCall(self):
            settings = {key: vars(self)[key] for key in vars(self) if key[0] != "_"}
            # Copies: the models learn on while they are pickled.
            return settings | {"_models": self._models.copy()}

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        settings = pickled.copy()
        models = settings.pop("_models")
        vars(self).update(settings)
        self._open(models)

    def __repr__(self) -> str:
        settings = f"intercept={self.intercept}, missing={self.missing!r}"
        return f"Classifier({self.learner!r}, {settings})"

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels, in the order in which they first appeared or were added."""
        with ClassifierCall(self):
            return tuple(self._models.by_label)

    @property
    def rounds(self) -> int:
        """How many rounds were learnt, or skipped by policy."""
        with ClassifierCall(self):
            return self._models.background.rounds

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The name of each feature; None where they have no names.

        May be set, for a classifier that has learnt from arrays.
        """
        with ClassifierCall(self):
            return self._models.background.feature_names

    @feature_names.setter
    def feature_names(self, names: Sequence[str]) -> None:
        with ClassifierCall(self, to_learn=True):
            models = self._models.copy()
            for _, model in models.items():
                model.feature_names = names
            self._models = models

    def add_features(self, features: Features) -> None:
        """Make room for features that come later, as ``Online.add_features`` does."""
        with ClassifierCall(self, to_learn=True):
            models = self._models.copy()
            for _, model in models.items():
                model.add_features(features)
            self._models = models

    def remove_features(self, features: Features) -> None:
        """Drop features, by name or position: as if they were 0 from now on."""
        with ClassifierCall(self, to_learn=True):
            models = self._models.copy()
            for _, model in models.items():
                model.remove_features(features)
            self._models = models

    def add_classes(self, labels: Any) -> None:
        """Let classes be known before they appear, so that they have probabilities.

        It changes nothing in the others, nor in what these learn.
        """
        keys = as_labels(labels, "refuse")
        with ClassifierCall(self, to_learn=True):
            self._models = self._with_new_classes(keys)

    def predict(self, x: Any) -> Any:
        """The probability of each class at the features ``x``, by label.

        They sum to 1; before any label there are none. Of many rows, (T, n) or a data
        frame, an array of shape (T, K), its columns in the order of ``classes``.
        """
        x = as_row(x)
        with ClassifierCall(self):
            background, by_label = self._models
            # Before any label the background model refuses what is no row.
            models = by_label.values() or [background]
            scores: list[Any] = [model.predict(x) for model in models]
        is_row, count = np.ndim(scores[0]) == 0, len(by_label)
        if is_row:
            return dict(zip(by_label, normalise(scores[:count]), strict=True))
        is_known = np.ones((len(scores[0]), count), bool)
        return normalise_rows([np.asarray(s) for s in scores[:count]], is_known)

    def classify(self, x: Any) -> Any:
        """The most probable label; None before any. Of many rows, a list of labels."""
        probabilities = self.predict(x)
        if isinstance(probabilities, dict):
            return max(probabilities, key=probabilities.__getitem__, default=None)
        if probabilities.shape[1] == 0:
            return [None] * len(probabilities)
        classes = self.classes
        return [classes[k] for k in probabilities.argmax(axis=1)]

    def update(
        self, x: Any, label: Any, weight: float = 1.0, elapsed: float = 1.0
    ) -> None:
        """Learn from one round: features ``x``, then the label of its class."""
        x, label = as_row(x), as_label(label, self.missing)
        with ClassifierCall(self, to_learn=True):
            models = self._with_new_classes([label])
            if type(self.learner).live_buffer is Learner.live_buffer:
                models = models.copy()
                for key, model in models.items():
                    model.update(x, _target(label, key), weight, elapsed)
                self._models = models
                return
            # Models learn in place, and an interrupt may come in between: the next call
            # then goes on with those that have not learnt the round.
            given = (copy.copy(x), label, weight, elapsed)
            self._pending = PendingRound(*given, models.background.rounds, models)
            for key, model in models.items():
                model.update(x, _target(label, key), weight, elapsed)
            self._models, self._pending = models, None

    def run(
        self, x: Any, labels: Any = None, weight: Any = None, elapsed: Any = None, *,
        target: str | None = None,
    ) -> Trace:  # fmt: skip
        """Predict, then learn, round by round over (T, n) features and T labels.

        Of a data frame, ``target`` names the column of labels.

        The trace's ``prediction`` is (T, K), its columns in the order of ``classes``
        after the run; a class has probability 0 up to the row in which it appears. Its
        ``loss`` is the log loss, -weight·log p of the label; a row without label costs
        0. A probability below 2.2e-16, as of a label not known yet, counts as this.
        """
        if (labels is None) == (target is None):
            raise InvalidParameterError(
                "Classifier.run needs labels, or the name of their column: target=..."
            )
        frame = x if is_frame(x) and read_chunk(x) is not None else None
        if target is not None:
            x, labels = split_labels(x, target)
        rows = as_row(x)
        keys = as_labels(labels, self.missing)
        with ClassifierCall(self, to_learn=True):
            known = len(self._models.by_label)
            # A class that is new learns the rows before its first one as the background
            # model does: no row needs to be treated by itself.
            models = self._with_new_classes(keys).copy()
            order = {label: k for k, label in enumerate(models.by_label)}
            numbers = np.array([order.get(label, NO_CLASS) for label in keys], int)
            columns = []
            for key, model in models.items():
                y = 1.0 * (numbers == order.get(key, len(order)))
                y[numbers == NO_CLASS] = math.nan
                columns.append(model.run(rows, y, weight, elapsed).prediction)
            self._models = models
        is_known = known_classes(numbers, known, len(order))
        probabilities = normalise_rows(columns[1:], is_known)
        losses = log_loss(probabilities, numbers)
        if weight is not None:
            losses = losses * np.asarray(weight, np.float64)
        index = None if frame is None else played_index(frame, len(losses))
        return Trace(probabilities, losses, targets=tuple(map(str, order)), index=index)

    def _run_delayed(self, x: FloatArray, due: DueLabels) -> list[FloatArray]:
        """``run`` where labels come late: each model's probabilities at x (T, n).

        After each row the one that is ``due`` is learnt; its labels are classes that
        were added, or NaN. Columns are in the order of ``classes``.
        """
        with ClassifierCall(self, to_learn=True):
            models = self._models.copy()
            models.background._run_delayed(x, due, np.zeros(len(x)))
            columns = [
                model._run_delayed(x, due, 1.0 * (due.y == label))
                for label, model in models.by_label.items()
            ]
            self._models = models
        return columns

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the classifier to a file; a failed write leaves the old one."""
        write_classifier(path, self._file_contents())

    def _file_contents(self) -> ClassifierFileContents:
        with ClassifierCall(self):
            background, by_label = self._models
            states = tuple(model.state for model in by_label.values())
            return ClassifierFileContents(
                background._file_contents(), tuple(by_label), states
            )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Classifier":
        """The classifier in a file, which continues to the last bit."""
        return cls._from_file_contents(read_classifier(path, MAX_CLASSES))

    @classmethod
    def _from_file_contents(cls, contents: ClassifierFileContents) -> "Classifier":
        background, labels, states = contents
        learner, _, intercept, missing = background.settings[:4]
        classifier = cls(learner, intercept, missing)
        by_label = {
            label: Online._from_file_contents(
                background._replace(snapshot=background.snapshot._replace(state=state))
            )
            for label, state in zip(labels, states, strict=True)
        }
        model = Online._from_file_contents(background)
        classifier._open(ClassModels(model, by_label))
        return classifier

    def clone(self) -> "Classifier":
        """A copy that goes its own way."""
        return copy.copy(self)  # by __getstate__, which copies the models

    def _open(self, models: ClassModels) -> None:
        self._lock, self._pending, self._models = ModelLock(), None, models

    def _with_new_classes(self, labels: list[Any]) -> ClassModels:
        """The models, and those of labels that are new; nothing is changed."""
        background, by_label = self._models
        new = dict.fromkeys([key for key in labels if key not in by_label])
        new.pop(MISSING, None)
        if not new:
            return self._models
        room = MAX_CLASSES - len(by_label)
        if len(new) > room:
            raise StreamError(
                f"Classifier takes at most {MAX_CLASSES:,} classes. Got one more, with "
                f"the label {list(new)[room]!r:.80}."
            )
        added = {label: background.clone() for label in new}
        return ClassModels(background, {**by_label, **added})

    def _finish_round(self, pending: PendingRound) -> None:
        """Let all models learn the round that the background model has learnt."""
        x, label, weight, elapsed, rounds, models = pending
        if models.background.rounds > rounds:  # else the round was refused
            for key, model in models.by_label.items():
                if model.rounds == rounds:
                    model.update(x, _target(label, key), weight, elapsed)
            self._models = models
        self._pending = None


class ClassifierCall:
    """One call that has a classifier's models for itself, all after the same round."""

    __slots__ = ("_classifier", "_to_learn")

    def __init__(self, classifier: Classifier, to_learn: bool = False) -> None:
        self._classifier, self._to_learn = classifier, to_learn

    def __enter__(self) -> None:
        classifier, frame = self._classifier, sys._getframe(1)
        is_nested = classifier._lock.acquire(frame)
        if is_nested and self._to_learn:
            classifier._lock.release(frame)
            raise ThalwegError(
                "Classifier cannot learn a round while it is in the middle of another "
                "call: a signal handler or an argument has called it."
            )
        if classifier._pending is not None and not is_nested:
            classifier._finish_round(classifier._pending)

    def __exit__(self, *error: object) -> None:
        self._classifier._lock.release(sys._getframe(1))


def _target(label: Any, key: Any) -> float:
    """1 if the label is this one, 0 if it is another, NaN if it is missing."""
    return math.nan if label is MISSING else float(label == key)
