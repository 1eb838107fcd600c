"""Scores of classes on many series: of each method over all keys, and by key."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from thalweg.evaluation.classification_study import ClassificationStudy
from thalweg.evaluation.error_ratio import error_ratio

Key = tuple[str, ...]


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
