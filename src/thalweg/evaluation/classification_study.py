"""The results on one stream of classes: all that a report shows, and no more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.evaluation.class_statistics import (
    BASELINE_NAMES,
    CURVES,
    ClassScores,
    ClassStatistics,
    calibration_error,
)
from thalweg.evaluation.downsampling import Curve
from thalweg.evaluation.error_ratio import error_ratio
from thalweg.evaluation.study import Study, from_json, to_json
from thalweg.tables.class_labels import ClassLabels
from thalweg.types import FloatArray

KIND = "classification"
"""What a dictionary of such a study holds as its kind."""
CLASSIFICATION_FORMAT = 1
"""Version of the dictionaries that ``as_dict`` gives; any other is refused."""
ROLES = ("tracker", "baseline")


@dataclass(frozen=True, eq=False)
class ClassifierEntry:
    """A classifier that was run over the stream, and its scores in the scored rows."""

    name: str
    role: str  # one of ROLES
    log_loss: float  # the mean of -log p of the row's class
    accuracy: float  # share of rows in which that had the largest probability
    brier: float  # the mean Brier score, 0 to 1
    log_loss_curve: Curve
    accuracy_curve: Curve

    def __post_init__(self) -> None:
        checks.require_choice(self, "role", ROLES)


@dataclass(frozen=True, eq=False)
class Reliability:
    """Probabilities beside frequencies, in the bins that have rows."""

    of: str  # what they are probabilities of
    rows: FloatArray  # (m,) in each bin
    probability: FloatArray  # (m,) the mean
    frequency: FloatArray  # (m,)
    error: float  # the expected calibration error


@dataclass(frozen=True, eq=False)
class ClassCurves:
    """How often a class came over the rows, and how probable it was held."""

    label: str
    rows: int  # that were scored and of this class
    observed: Curve
    forecast: Curve


@dataclass(frozen=True, eq=False)
class LastClasses:
    """The last rows, one by one; classes are positions in the study's, NaN: none."""

    last_round: int  # the first round of all being 1
    observed: FloatArray  # (T,)
    predicted: FloatArray  # (T,)
    probability: FloatArray  # (T,) of the predicted class


@dataclass(frozen=True, eq=False)
class ClassificationStudy:
    """One stream of classes, the classifiers that were run on it, and their scores."""

    title: str
    target: str
    classes: tuple[str, ...]
    is_binary: bool  # whether the target holds 0 and 1 only
    rounds: int  # all that were played
    scored_rounds: int  # those that scores are means over
    first_scored_round: int  # the round they begin with, the first round being 1
    features: tuple[str, ...]
    seconds: float  # that the Trackers took over all rounds
    entries: tuple[ClassifierEntry, ...]
    reliability: Reliability
    curves: tuple[ClassCurves, ...]  # of the first classes
    confusion: tuple[tuple[int, ...], ...]  # scored rows by class and predicted class
    weights: Mapping[str, float]  # by feature, of standardised ones; see below
    last_rows: LastClasses
    notes: tuple[str, ...] = ()
    start: str | None = None  # time of the first round
    end: str | None = None  # and of the last
    times: Curve | None = None  # seconds since 1970, by local clocks
    # The class that each of these features speaks for; None: of an older file.
    leanings: Mapping[str, str] | None = None
    identifiers: tuple[str, ...] = ()  # columns whose features have no weight here
    # ``weights`` are log-odds by spread of the feature: of the class 1 where there are
    # two, else the root mean square over the classes' models.

    def __post_init__(self) -> None:
        if [entry.role for entry in self.entries].count("tracker") != 1:
            raise InvalidParameterError(
                "A ClassificationStudy needs one entry of role 'tracker'."
            )
        if len(self.entries) < 2:
            raise InvalidParameterError(
                "A ClassificationStudy needs an entry of role 'baseline'."
            )
        k = len(self.classes)
        if len(self.confusion) != k or any(len(row) != k for row in self.confusion):
            raise InvalidParameterError(f"The confusion must be of {k} by {k} classes.")
        parts = (*self.reliability.__dict__.values(),)[1:4]
        if len({len(part) for part in parts}) != 1:
            raise InvalidParameterError("The reliability has bins of unequal number.")
        last = self.last_rows
        for values in (last.observed, last.predicted):
            known = values[~np.isnan(values)]
            if not ((known >= 0) & (known < k) & (known == np.floor(known))).all():
                raise InvalidParameterError(f"A class must be one of {k}.")

    def without_identifiers(
        self, columns: Mapping[str, Sequence[str]]
    ) -> "ClassificationStudy":
        """The study without the weights of these columns, given with their features."""
        left_out = {name for names in columns.values() for name in names}
        weights = {k: v for k, v in self.weights.items() if k not in left_out}
        return replace(self, weights=weights, identifiers=tuple(columns))

    @property
    def tracker(self) -> ClassifierEntry:
        """The classifier that the study is about."""
        return next(entry for entry in self.entries if entry.role == "tracker")

    @property
    def best_baseline(self) -> ClassifierEntry:
        """The baseline of the least log loss."""
        return next(
            entry for entry in self.ranked_entries() if entry.role == "baseline"
        )

    def ranked_entries(self) -> tuple[ClassifierEntry, ...]:
        """All entries, the least log loss first."""
        return tuple(sorted(self.entries, key=lambda entry: entry.log_loss))

    def ratio(self, entry: ClassifierEntry) -> float:
        """The log loss of an entry over that of the best baseline."""
        return error_ratio(entry.log_loss, self.best_baseline.log_loss)

    def as_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, for JSON; ``from_dict`` brings it back."""
        return {"kind": KIND, "format": CLASSIFICATION_FORMAT, **to_json(self)}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "ClassificationStudy":
        """The study that ``as_dict`` was taken of."""
        try:
            if given["format"] != CLASSIFICATION_FORMAT:
                raise ValueError(
                    f"its format is {given['format']!r}, not {CLASSIFICATION_FORMAT}"
                )
            study: ClassificationStudy = from_json(cls, given)
        except KeyError as error:
            why = f"{error} is missing"
        except (TypeError, ValueError, AttributeError) as error:
            why = str(error).rstrip(".")
        else:
            return study
        raise InvalidParameterError(f"This is no study: {why}.")


AnyStudy = Study | ClassificationStudy
"""The results of a run, on a target of numbers or of classes."""


def make_classification_study(
    statistics: ClassStatistics, coefficients: FloatArray, names: Sequence[str],
    classes: ClassLabels, **others: Any,
) -> ClassificationStudy:  # fmt: skip
    """The study of some statistics; ``names`` are of all features of the models."""
    labels = classes.labels
    counts = statistics.confusion[: len(labels), : len(labels)]
    named = list(BASELINE_NAMES)
    last, bins = statistics.last_rows.T.copy(), statistics.calibration.reliability()
    of = f"{labels[1]}" if classes.is_binary else "the predicted class"
    curves = zip(
        labels[:CURVES], statistics.observed, statistics.forecast, strict=False
    )
    return ClassificationStudy(
        classes=labels,
        is_binary=classes.is_binary,
        scored_rounds=statistics.scored_rounds(),
        first_scored_round=statistics.first_scored_round,
        entries=(
            _entry("Tracker", "tracker", statistics.tracker),
            *(
                _entry(name, "baseline", scores)
                for name, scores in zip(named, statistics.baseline_scores, strict=True)
            ),
        ),
        reliability=Reliability(of, bins[0], bins[1], bins[2], calibration_error(bins)),
        curves=tuple(
            ClassCurves(label, int(row.sum()), observed.curve(), forecast.curve())
            for row, (label, observed, forecast) in zip(counts, curves, strict=False)
        ),
        confusion=tuple(tuple(map(int, row)) for row in counts),
        weights=_weights(coefficients, names),
        leanings=_leanings(coefficients, names, labels),
        last_rows=LastClasses(statistics.rounds, *last),
        times=statistics.times.curve() if statistics.times.count() else None,
        **others,
    )


def _entry(name: str, role: str, scores: ClassScores) -> ClassifierEntry:
    return ClassifierEntry(
        name, role, scores.log_loss.average(), scores.accuracy.average(),
        scores.brier.average(), scores.log_loss.curve(), scores.accuracy.curve(),
    )  # fmt: skip


def _weights(coefficients: FloatArray, names: Sequence[str]) -> dict[str, float]:
    """The weight of each feature that has any, the largest in size first."""
    if len(coefficients) == 1:
        values = coefficients[0]
    elif len(coefficients) == 2:
        values = (coefficients[1] - coefficients[0]) / 2  # the models of both classes
    elif len(coefficients):
        values = np.sqrt(np.mean(coefficients**2, axis=0))
    else:
        values = np.zeros(len(names))
    order = np.argsort(-np.abs(values), kind="stable")
    return {names[i]: float(values[i]) for i in order if values[i] != 0}


def _leanings(
    coefficients: FloatArray, names: Sequence[str], labels: Sequence[str]
) -> dict[str, str]:
    """The class that each feature speaks for: the one whose model has it largest."""
    if len(coefficients) == 1:
        coefficients = np.vstack([-coefficients, coefficients])
    if not len(coefficients):
        return {}
    best = np.argmax(coefficients, axis=0)
    return {name: labels[k] for name, k in zip(names, best.tolist(), strict=False)}
