"""Scores on many series: of each method over all keys, and on each key alone."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from thalweg.changes.alarms import ChangeAlarm
from thalweg.evaluation.classification_study import ClassificationStudy
from thalweg.evaluation.error_ratio import error_ratio
from thalweg.evaluation.study import Study, nan_last, squared_order

Key = tuple[str, ...]


class KeyScore(NamedTuple):
    """The errors on one series."""

    key: Key
    rows: int
    scored: int
    squared: float  # the Tracker's mean squared error
    absolute: float
    best_baseline: str
    ratio: float  # the squared error over that of the best baseline
    alarms: tuple[ChangeAlarm, ...] = ()  # changes of the target, in order
    alarm_count: int = 0  # with those that are not listed
    largest_alarm: ChangeAlarm | None = None  # None: the last one is the largest


class PooledEntry(NamedTuple):
    """A learner's errors over the scored rows of all series."""

    name: str
    role: str
    squared: float
    absolute: float


class KeyedScores(NamedTuple):
    """The errors of a target on many series."""

    target: str
    rows: int
    scored: int
    keys: tuple[KeyScore, ...]  # those that were scored, the least ratio first
    unscored: int  # series with too few rows
    entries: tuple[PooledEntry, ...]  # the least error first
    features: tuple[str, ...]

    @property
    def tracker(self) -> PooledEntry:
        """The Tracker over all series."""
        return next(entry for entry in self.entries if entry.role == "tracker")

    @property
    def persistence(self) -> PooledEntry:
        """The last value over all series."""
        return next(entry for entry in self.entries if entry.role == "persistence")

    @property
    def best_baseline(self) -> PooledEntry:
        """The simple baseline of the least error over all series."""
        roles = ("persistence", "baseline")
        return next(entry for entry in self.entries if entry.role in roles)

    @property
    def mean_ratio(self) -> float:
        """The geometric mean over series of the ratio to the best baseline of each.

        NaN where no baseline has an error.
        """
        ratios = np.array([score.ratio for score in self.keys])
        ratios = ratios[np.isfinite(ratios)]
        if not len(ratios):
            return float("nan")
        return float(np.exp(np.log(np.maximum(ratios, 1e-300)).mean()))


def key_score(key: Key, study: Study) -> KeyScore:
    """The errors on one series."""
    tracker, best, history = study.tracker, study.best_baseline, study.history
    score = KeyScore(
        key, study.rounds, study.scored_rounds, tracker.squared, tracker.absolute,
        best.name, study.ratio(tracker.name, best.name),
    )  # fmt: skip
    if history is None:
        return score
    return score._replace(
        alarms=history.alarms,
        alarm_count=history.alarm_count,
        largest_alarm=history.largest_alarm,
    )


def pool_scores(
    target: str, studies: Mapping[Key, Study], unscored: int
) -> KeyedScores:
    """The errors of every learner that ran on all series, over all their rows."""
    parts = list(studies.values())
    scored = sum(study.scored_rounds for study in parts)
    names = [
        entry
        for entry in parts[0].entries
        if all(any(one.name == entry.name for one in study.entries) for study in parts)
    ]
    entries = [
        PooledEntry(entry.name, entry.role, *_pooled_errors(entry.name, parts, scored))
        for entry in names
    ]
    scores = [key_score(key, study) for key, study in studies.items()]
    return KeyedScores(
        target=target,
        rows=sum(study.rounds for study in parts),
        scored=scored,
        keys=tuple(
            sorted(scores, key=lambda score: (nan_last(score.ratio), score.key))
        ),
        unscored=unscored,
        entries=tuple(sorted(entries, key=squared_order)),
        features=parts[0].features,
    )


def _pooled_errors(
    name: str, studies: Sequence[Study], scored: int
) -> tuple[float, float]:
    """Mean squared and absolute errors over all scored rows."""
    squared = absolute = 0.0
    for study in studies:
        entry = study.entry(name)
        squared += entry.squared * (study.scored_rounds / scored)
        absolute += entry.absolute * (study.scored_rounds / scored)
    return squared, absolute


class KeyClassScore(NamedTuple):
    """The scores on one series."""

    key: Key
    rows: int
    scored: int
    log_loss: float  # the Tracker's
    accuracy: float
    best_baseline: str
    ratio: float  # the log loss over that of the best baseline


class PooledClassEntry(NamedTuple):
    """The scores of a method over the scored rows of all series."""

    name: str
    role: str
    log_loss: float
    accuracy: float
    brier: float


class KeyedClassScores(NamedTuple):
    """The scores of a target of classes on many series."""

    target: str
    classes: tuple[str, ...]  # in order of first appearance, series after series
    rows: int
    scored: int
    keys: tuple[KeyClassScore, ...]  # those that were scored, the least ratio first
    unscored: int  # series with too few rows
    entries: tuple[PooledClassEntry, ...]  # the least log loss first
    features: tuple[str, ...]

    @property
    def tracker(self) -> PooledClassEntry:
        """The Tracker over all series."""
        return next(entry for entry in self.entries if entry.role == "tracker")

    @property
    def best_baseline(self) -> PooledClassEntry:
        """The baseline of the least log loss over all series."""
        return next(entry for entry in self.entries if entry.role == "baseline")

    def ratio(self, entry: PooledClassEntry) -> float:
        """The log loss of an entry over that of the best baseline."""
        return error_ratio(entry.log_loss, self.best_baseline.log_loss)


def pool_class_scores(
    target: str, studies: Mapping[Key, ClassificationStudy], unscored: int
) -> KeyedClassScores:
    """The scores of every method over all rows of all series, and by key."""
    parts = list(studies.values())
    weights = np.array([study.scored_rounds for study in parts], np.float64)
    entries = []
    for one in parts[0].entries:
        own = [
            (entry.log_loss, entry.accuracy, entry.brier)
            for study in parts
            for entry in study.entries
            if entry.name == one.name
        ]
        means = np.average(np.array(own), axis=0, weights=weights).tolist()
        entries.append(PooledClassEntry(one.name, one.role, *means))
    scores = [_key_score(key, study) for key, study in studies.items()]
    return KeyedClassScores(
        target=target,
        classes=tuple(dict.fromkeys(name for one in parts for name in one.classes)),
        rows=sum(study.rounds for study in parts),
        scored=int(weights.sum()),
        keys=tuple(sorted(scores, key=lambda score: (score.ratio, score.key))),
        unscored=unscored,
        entries=tuple(sorted(entries, key=lambda entry: entry.log_loss)),
        features=parts[0].features,
    )


def _key_score(key: Key, study: ClassificationStudy) -> KeyClassScore:
    tracker = study.tracker
    return KeyClassScore(
        key, study.rounds, study.scored_rounds, tracker.log_loss, tracker.accuracy,
        study.best_baseline.name, study.ratio(tracker),
    )  # fmt: skip
