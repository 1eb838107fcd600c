"""Logistic Trackers on a target of classes, row by row, beside what they should beat.

Prequential evaluation (test-then-train) in constant memory, as ``TrackerRun`` is for
targets that are numbers.
"""

import time
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np

from thalweg.autoregression.past_features import carry_last
from thalweg.calendar.row_clock import as_seconds
from thalweg.calendar.time_grid import Times
from thalweg.evaluation.class_statistics import (
    BASELINE_NAMES,
    ClassBaselines,
    ClassBaselinesSnapshot,
    ClassRounds,
    ClassStatistics,
    ClassStatisticsSnapshot,
    concatenate_class_rounds,
)
from thalweg.evaluation.classification_study import (
    ClassificationStudy,
    make_classification_study,
)
from thalweg.evaluation.downsampling import SAME_ROUNDS
from thalweg.evaluation.tracker_run import PIECE, STATISTICS_BATCH, burn_in
from thalweg.imputer import (
    POLICY_RULES,
    Imputer,
    ImputerState,
    MissingPolicy,
)
from thalweg.kernels.tempered_mixture import tempered_mixture
from thalweg.learners.logistic_tracker import LogisticTracker, LogisticTrackerState
from thalweg.losses import Logistic
from thalweg.models.class_probabilities import normalise_rows
from thalweg.models.classifier import Classifier
from thalweg.models.classifier_file import (
    FIELD,
    ClassifierFileContents,
    ClassifierRecord,
)
from thalweg.models.delayed_labels import (
    DelayedLabels,
    DelayedLabelsState,
    DueLabels,
)
from thalweg.models.live_state import ModelSettings, ModelSnapshot
from thalweg.models.model_file import ModelFileContents, to_saved_model
from thalweg.models.online import Online
from thalweg.persistence import SavedModel
from thalweg.persistence.snapshots import Component, StateOf
from thalweg.rules import (
    Array,
    Condition,
    Count,
    Given,
    Number,
    validate_snapshot,
)
from thalweg.tables.class_labels import MAX_CLASSES, ClassLabels
from thalweg.types import Block, FloatArray

EXPONENTS = np.array([1.0, 0.5, 0.7, 1.4, 2.0])
"""Powers of the classifier's probabilities: below 1 for one that is too sure of itself,
above 1 for one that is not sure enough, as one model against the rest often is."""
TOLERANCE = 1e-6
"""The sum of weights may differ so much from 1, by rounding."""
CLASSIFIERS = 2
"""Those whose probabilities are mixed: without and with the last known class."""
EXPERTS = CLASSIFIERS * len(EXPONENTS) + len(BASELINE_NAMES)


SUM_IS_1 = Condition("abs(weights.sum() - 1) < TOLERANCE", "weights whose sum is 1")
FEW = Condition("len(waiting) <= delay", "at most as many rows as the delay")


class ClassMixtureSnapshot(NamedTuple):
    """The weights, and the rows whose labels are still to come."""

    weights: Annotated[FloatArray, Array((EXPERTS,), 0.0, 1.0), SUM_IS_1]  # (EXPERTS,)
    labels: int  # that were learnt
    # (≤ delay, EXPERTS) what the experts gave to a row's class
    waiting: Annotated[
        FloatArray, Array((None, EXPERTS), 0.0, 1.0, may_be_nan=True), FEW
    ]


class ClassMixture(Component):
    """Class probabilities mixed by Bayes' rule with a share, as experts.

    Also known as: Bayesian model averaging, temperature scaling. The experts are the
    probabilities of two classifiers to several powers, and the baselines: where
    features say nothing, the mixture is no worse than the baselines, and probabilities
    that are too bold or too timid are mended. Log loss is mixable at rate 1, so that
    after T labels the mixture has lost at most 1 + ln(13) + ln(T) more than any of its
    13 experts.
    """

    Snapshot: ClassVar[Any] = ClassMixtureSnapshot

    def __init__(self, delay: int) -> None:
        self.delay = delay
        self.weights: FloatArray = np.full(EXPERTS, 1 / EXPERTS)
        self.labels = 0
        self.waiting: FloatArray = np.empty((0, EXPERTS))

    def play(
        self, probability: FloatArray, baselines: FloatArray, number: FloatArray
    ) -> FloatArray:
        """(T, K) the mixed probabilities of the next rows.

        ``probability`` (T, 2, K) are the classifiers', ``baselines`` (T, B, K) others;
        ``number`` (T,) the row's class, NaN where none will come: it is learnt when it
        is due.
        """
        out, weights = np.empty(probability[:, 0].shape), self.weights.copy()
        own = np.vstack([self.waiting, np.empty((len(number), EXPERTS))])
        classes = np.nan_to_num(number, nan=-1.0).astype(np.int64)
        self.labels = tempered_mixture(
            weights, self.labels, EXPONENTS, np.ascontiguousarray(probability),
            np.ascontiguousarray(baselines), classes, own, self.delay, out,
        )  # fmt: skip
        self.weights = weights
        self.waiting = own[max(len(own) - self.delay, 0) :].copy()
        return out

    def favourite(self) -> int:
        """The classifier whose powers have the larger weight."""
        of_classifiers = self.weights[: CLASSIFIERS * len(EXPONENTS)]
        return int(of_classifiers.reshape(CLASSIFIERS, -1).sum(axis=1).argmax())


LEARNER = LogisticTracker()
PAST_CLASSES = 8
"""Classes, the second to the ninth, of which it is a feature that one was the last
known. None of these stands for the first class."""


class ClassForecasts(NamedTuple):
    """Probabilities of the classes in some rounds, made before their labels came."""

    probability: FloatArray  # (T, K) 0 where the class had not appeared yet


LAST_CLASS = MAX_CLASSES - 1.0
FEW_CLASSES = Condition(
    f"len(is_known) == 2 if is_binary else len(is_known) <= {MAX_CLASSES}",
    f"of at most {MAX_CLASSES} classes",
)
ALL_STATES = Condition(
    "all(type(own) is tuple and len(own) == model_count(is_binary) for own in states)",
    "a state of each model, in two sets",
)
STATE_RULES = "tuple((StateOf(LEARNER, n),) * model_count(is_binary) for n in widths)"
ALL_WAITING = Condition(
    "len(mixture.waiting) == min(rounds, delay)", "of all rows that wait"
)
COLUMNS = Given(columns="features + past_features + 1")
LABELS = {
    "y": Array((None,), 0.0, LAST_CLASS, whole=True, may_be_nan=True),
    "weight": Array((None,), 0.0, 1.0),
    "elapsed": Array((None,), 0.0),
}
LAST_CLASSES = Condition(
    f"all(one != one or one in range({MAX_CLASSES})"
    " for one in delayed_labels.x[:, -1].tolist())",
    "rows with numbers of classes",
)


class ClassifierRunSnapshot(NamedTuple):
    """All that changes in the run of a target of classes."""

    rounds: int
    seconds: Annotated[float, Number(0.0)]  # that the Trackers took
    labels_learnt: Annotated[int, Count("rounds")]
    # Number of the last class known, NaN: none.
    last_label: Annotated[float, Number(0.0, LAST_CLASS, whole=True, may_be_nan=True)]
    # (K,) 1 where a label of the class was known
    is_known: Annotated[FloatArray, Array((None,), 0.0, 1.0, whole=True), FEW_CLASSES]
    # Of the models of the row's features, and of those of the last known class too: the
    # background model's, then that of each class; of a binary target that of class 1.
    states: Annotated[Any, ALL_STATES, STATE_RULES]
    baselines: ClassBaselinesSnapshot
    mixture: Annotated[ClassMixtureSnapshot, ALL_WAITING]
    imputer: ImputerState
    # The last column of x: the last class known.
    delayed_labels: Annotated[DelayedLabelsState, COLUMNS, LABELS, LAST_CLASSES]
    statistics: Annotated[ClassStatisticsSnapshot, SAME_ROUNDS]

    def model_count(self, is_binary: bool) -> int:
        """The number of states of each set."""
        return 1 if is_binary else 1 + len(self.is_known)


class ClassifierRun(Component):
    """Logistic Trackers of one target's classes, and on the same rounds its baselines.

    Every row is predicted from what was learnt before it; ``delay`` and ``missing`` are
    as for ``TrackerRun``. Labels are numbers of classes, from 0 on, NaN where a label
    is not known. A binary target has the classes 0 and 1 from the start on; of others a
    class has a probability once a label of it was known.

    There are two ``models``, each a ``Classifier``, or of a binary target an ``Online``
    that gives the probability of 1. Their probabilities are mixed with each other and
    with those of the baselines (``ClassMixture``): one has the row's features, without
    the last ``past_columns``, which are made of past labels or of the time; the other
    has all of them, and also as features which class was the last one known
    (``PAST_CLASSES`` indicators, of which none stands for the first class; of a binary
    target a single one, whether it was 1).

    However a stream is cut into calls of ``play``, and whether or not a snapshot is
    taken and restored between them, the result is the same to the last bit, in memory
    that does not grow with the rounds.
    """

    Snapshot: ClassVar[Any] = ClassifierRunSnapshot

    def __init__(
        self, features: int, delay: int = 0, missing: MissingPolicy = "refuse",
        is_binary: bool = False, past_columns: int = 0,
    ) -> None:  # fmt: skip
        self.features = features
        # Columns of x, the last ones, that only the second set of Trackers has; the
        # first one has all columns where there are no others.
        has_own = past_columns < features
        self.own_features = features - past_columns if has_own else features
        self.delay, self.is_binary = delay, is_binary
        self.burn_in = burn_in(features)
        self.past_features = 1 if is_binary else PAST_CLASSES
        self.is_known: FloatArray = np.ones(2) if is_binary else np.empty(0)
        self.widths = (self.own_features, features + self.past_features)
        self.baselines, self.mixture = ClassBaselines(is_binary), ClassMixture(delay)
        self.statistics = ClassStatistics(is_binary)
        self.rounds, self.labels_learnt, self.seconds = 0, 0, 0.0
        self.states = tuple((LEARNER.init(np.zeros(n)),) for n in self.widths)
        self.last_label = float("nan")
        self.imputer = Imputer(missing, ImputerState.initial(features))
        columns = features + self.past_features + 1
        self.delayed_labels = DelayedLabels(delay, columns)
        self._batch: list[ClassRounds] = []  # rounds that the statistics lack

    def play(
        self, x: FloatArray, y: FloatArray, is_question: bool = False,
        times: Times | None = None,
    ) -> ClassForecasts:  # fmt: skip
        """Predict and learn the next rows: features (T, n), classes (T,) or NaN.

        A row without a label is a round whose label never came; if ``is_question``, it
        asks for a prediction, and the round itself is still to come. ``times`` are
        the local times (T,) of all rows or of none, for charts.
        """
        seconds, parts = as_seconds(times, len(y)), []
        for start in range(0, len(y), PIECE):
            rows = slice(start, start + PIECE)
            parts.append(self._play_piece(x[rows], y[rows], is_question, seconds[rows]))
        classes = len(self.is_known)
        padded = [np.pad(p, ((0, 0), (0, classes - p.shape[1]))) for p in parts]
        return ClassForecasts(np.concatenate([np.empty((0, classes)), *padded]))

    def update_statistics(self) -> None:
        """Score the rounds played since the last time."""
        if self._batch:
            self.statistics.add(concatenate_class_rounds(self._batch))
            self._batch = []

    def scored_rounds(self) -> int:
        """How many rounds have been scored."""
        self.update_statistics()
        return self.statistics.scored_rounds()

    def past_feature_names(self, classes: ClassLabels) -> tuple[str, ...]:
        """What the features are called that say which class was the last known."""
        before = f"last known {classes.target}"
        labels = classes.labels[1 : 1 + self.past_features]
        unused = range(len(labels), self.past_features)
        names = (f"{before}={label}" for label in labels)
        return (*names, *(f"{before}=(unused {k + 1})" for k in unused))

    def study(
        self, title: str, classes: ClassLabels, features: Sequence[str],
        notes: Sequence[str] = (), start: str | None = None, end: str | None = None,
    ) -> ClassificationStudy:  # fmt: skip
        """The results so far; ``features`` are the names of the columns of x."""
        self.update_statistics()
        names = (*features, *self.past_feature_names(classes))
        favourite = self.mixture.favourite()
        if favourite == 0:
            names = names[: self.own_features]
        states = self.states[favourite][0 if self.is_binary else 1 :]
        slopes = [state.weights @ state.points[:, :-1] for state in states]
        coefficients = np.array(slopes).reshape(-1, self.widths[favourite])
        return make_classification_study(
            self.statistics, coefficients, names, classes,
            title=title, target=classes.target, rounds=self.rounds,
            features=tuple(features), seconds=self.seconds, notes=tuple(notes),
            start=start, end=end,
        )  # fmt: skip

    def scoring_notes(self) -> list[str]:
        """What a reader should know about how the probabilities were scored."""
        notes = [f"The first {self.burn_in} labels only warm up and are not scored."]
        if count := self.statistics.new_class_rows:
            rows = "One row is" if count == 1 else f"{count:,} rows are"
            notes.append(
                f"{rows} not scored, as no label of the class had been known before."
            )
        if self.delay:
            notes.append(
                f"Labels come {self.delay:,} rows late, for the baselines as well."
            )
        return notes

    @property
    def states(self) -> tuple[tuple[LogisticTrackerState, ...], ...]:
        """The states of both sets of models, as a snapshot has them."""
        return tuple(map(_states_of, self.models))

    @states.setter
    def states(self, states: tuple[tuple[LogisticTrackerState, ...], ...]) -> None:
        self.models: tuple[Online | Classifier, ...] = tuple(
            _model_from(own, self.labels_learnt, self.is_binary) for own in states
        )

    def saved_model(self, classes: ClassLabels) -> SavedModel:
        """The models of the row's features, as ``Online.save`` or ``Classifier.save``.

        Of a binary target it is an ``Online`` that gives the probability of 1, of
        others a ``Classifier``. Their rows are arrays of the run's features, without
        those made of past labels or of an unasked calendar; what knows these and the
        last class, and the mixture, stay in the run.
        """
        n, policy = self.own_features, self.imputer.policy
        first, *others = self.states[0]
        means = self.imputer.state.map_features(lambda values: values[:n].copy())
        imputer = means if POLICY_RULES[policy].accepts else None
        contents = _contents(first, self.rounds)
        background = contents._replace(
            settings=contents.settings._replace(missing=policy),
            snapshot=contents.snapshot._replace(imputer=imputer),
        )
        if self.is_binary:
            return to_saved_model(background)
        known = np.flatnonzero(self.is_known)
        labels = tuple(classes.labels[k] for k in known)
        record = ClassifierRecord(labels, tuple(others[k] for k in known))
        return to_saved_model(background, {FIELD: record})

    def snapshot(self) -> ClassifierRunSnapshot:
        """All that changes, with the statistics of every round played."""
        self.update_statistics()
        snapshot: ClassifierRunSnapshot = super().snapshot()
        return snapshot

    @classmethod
    def from_snapshot(
        cls, snapshot: ClassifierRunSnapshot, features: int, delay: int,
        missing: MissingPolicy, is_binary: bool, name: str = "", past_columns: int = 0,
    ) -> Self:  # fmt: skip
        """The run that a snapshot was taken of, with the same settings.

        The states are checked before anything is made of the size they claim.
        """
        widest = features + (1 if is_binary else PAST_CLASSES)
        _validate_states(snapshot.states, widest, f"{name}.states")
        run = cls(features, delay, missing, is_binary, past_columns)
        run.restore(snapshot, name)
        return run

    def _play_piece(
        self, x: FloatArray, y: FloatArray, is_question: bool, seconds: FloatArray
    ) -> FloatArray:
        elapsed = np.where(~np.isnan(y) | (not is_question), 1.0, 0.0)
        block, learnable = self.imputer.impute_block(Block(x, y, None, elapsed))
        due_numbers = self._due_numbers(y)
        *last, self.last_label = carry_last(self.last_label, due_numbers).tolist()
        last = np.array(last)
        row = np.column_stack([block.x, self._past_features(last), last])
        due = self.delayed_labels.push(
            row, y, learnable.astype(np.float64), block.elapsed
        )
        began = time.perf_counter()
        is_known = self._known_classes(due.y)
        tracked = np.stack(
            [
                _run_model(model, row[:, :n], due._replace(x=due.x[:, :n]), is_known)
                for model, n in zip(self.models, self.widths, strict=True)
            ],
            axis=1,
        )
        due_last = np.where(np.isnan(due.y), np.nan, due.x[:, -1])
        baselines = self.baselines.play(last, due.y, due_last, is_known.shape[1])
        probability = self.mixture.play(tracked, baselines, y)
        self.seconds += time.perf_counter() - began
        learnt = self.labels_learnt + np.append(0, due.learnable.cumsum())
        self.labels_learnt = int(learnt[-1])
        is_warm = 1.0 * (learnt[:-1] >= self.burn_in)
        self._batch.append(
            ClassRounds(y, probability, 1.0 * is_known, is_warm, baselines, seconds)
        )
        self.rounds += len(y)
        if self.rounds - self.statistics.rounds >= STATISTICS_BATCH:
            self.update_statistics()
        return probability

    def _known_classes(self, due_numbers: FloatArray) -> Any:
        """(T, K) whether each class was known before each row."""
        numbers = np.nan_to_num(due_numbers, nan=-1.0)
        count = max(len(self.is_known), int(numbers.max(initial=-1.0)) + 1)
        before = np.append(self.is_known, np.zeros(count - len(self.is_known)))
        appeared = numbers[:, None] == np.arange(count)
        is_known = np.vstack([before, appeared]).cumsum(axis=0) > 0
        self.is_known = is_known[-1].astype(np.float64)
        return is_known[:-1]

    def _due_numbers(self, y: FloatArray) -> FloatArray:
        """(T,) the class that comes to be known after each of the rows, or NaN."""
        waiting = np.append(self.delayed_labels.state.y, y)
        count = max(len(waiting) - self.delay, 0)
        return np.append(np.full(len(y) - count, np.nan), waiting[:count])

    def _past_features(self, last: FloatArray) -> FloatArray:
        """(T, m) which class was the last one known before each row."""
        is_last = last[:, None] == np.arange(1, self.past_features + 1)
        return np.asarray(is_last, np.float64)


def _contents(state: LogisticTrackerState, rounds: int) -> ModelFileContents:
    """What a file holds of an ``Online`` with this state."""
    settings = ModelSettings(LEARNER, Logistic(), False, "refuse")
    unexcited = np.zeros(len(state.theta))  # not counted in a run
    return ModelFileContents(settings, ModelSnapshot(state, rounds, unexcited), 0)


def _model_from(
    states: tuple[LogisticTrackerState, ...], rounds: int, is_binary: bool
) -> Online | Classifier:
    """The model of these states, after as many labels."""
    first = _contents(states[0], rounds)
    if is_binary:
        return Online._from_file_contents(first)
    numbers = tuple(range(len(states) - 1))
    contents = ClassifierFileContents(first, numbers, states[1:])
    return Classifier._from_file_contents(contents)


def _states_of(model: Online | Classifier) -> tuple[LogisticTrackerState, ...]:
    if isinstance(model, Online):
        return (model.state,)
    background, _, states = model._file_contents()
    return (background.snapshot.state, *states)


def _run_model(
    model: Online | Classifier, x: FloatArray, due: DueLabels, is_known: Any
) -> FloatArray:
    """(T, K) probabilities at the rows x, each before the one that is due is learnt."""
    if isinstance(model, Online):
        p = model._run_delayed(x, due, 1.0 * (due.y == 1))
        return np.column_stack([1 - p, p])
    model.add_classes(list(range(is_known.shape[1])))
    return normalise_rows(model._run_delayed(x, due), is_known)


def _validate_states(states: Any, widest: int, name: str) -> None:
    """Raise unless the first model of the larger set has as many features."""
    right = type(states) is tuple and len(states) == 2
    right = right and type(states[1]) is tuple and len(states[1]) > 0
    validate_snapshot(Condition(right, "the states of two sets"), states, name)
    # The larger set first: then the other can claim no more.
    validate_snapshot(StateOf(LEARNER, widest), states[1][0], f"{name}[1][0]")
