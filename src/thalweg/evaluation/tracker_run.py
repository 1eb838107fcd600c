"""The Tracker on one target of a stream, row by row, beside what it should beat.

Prequential evaluation (test-then-train) in constant memory: for a stream that is too
long for ``prequential``, or that has no end yet.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from thalweg.calendar.time_grid import Times
from thalweg.evaluation.downsampling import SAME_ROUNDS
from thalweg.evaluation.run_statistics import (
    RECORDS,
    PlayedRounds,
    RunStatistics,
    StatisticsSnapshot,
    concatenate_rounds,
)
from thalweg.evaluation.study import Study
from thalweg.imputer import (
    Imputer,
    ImputerState,
    MissingPolicy,
    learning_weights,
)
from thalweg.kernels.compiler.jit import count_as_compilation
from thalweg.learners.tracker import Tracker, TrackerState
from thalweg.losses import SquaredError
from thalweg.persistence.snapshots import Component, StateOf
from thalweg.rules import Array, Condition, Number, validate_snapshot
from thalweg.types import Block, FloatArray, Trace

FEW = Condition("len(waiting) <= delay", "at most as many labels as the delay")


class NonNegativitySnapshot(NamedTuple):
    """What is known of the labels."""

    lowest: Annotated[float, Number(may_be_nan=True)]  # NaN before the first
    # (≤ delay,) labels that are not known yet, oldest first
    waiting: Annotated[FloatArray, Array((None,), may_be_nan=True), FEW]


class NonNegativity(Component):
    """Non-negativity: the lower limit of predictions, 0 or minus infinity.

    It is 0 if that is the lowest label known so far (counts, sales, rain), as for
    ``Forecaster``. The first label below 0 ends the limit.
    """

    Snapshot: ClassVar[Any] = NonNegativitySnapshot

    def __init__(self, delay: int) -> None:
        self.delay = delay  # how many rounds late the labels come
        self.lowest = float("nan")
        self.waiting: FloatArray = np.empty(0)

    def limits(self, y: FloatArray, is_round: npt.NDArray[np.bool_]) -> FloatArray:
        """The limit (T,) of each of the next rows, -inf without a limit.

        ``y`` (T,) are their labels or NaN. A row that is not a round asks only for a
        prediction and has no label.
        """
        labels = np.concatenate([self.waiting, y[is_round]])
        # The number of labels known before each row, and after the last one.
        rounds_before: npt.NDArray[np.int64] = np.cumsum(is_round) - is_round
        before = np.maximum(len(self.waiting) + rounds_before - self.delay, 0)
        known = max(len(labels) - self.delay, 0)
        lowest = np.fmin.accumulate([self.lowest, *labels[:known]])
        self.lowest, self.waiting = float(lowest[-1]), labels[known:].copy()
        return np.where(lowest[before] == 0.0, 0.0, -np.inf)


MIN_BURN_IN = 40
PIECE = 4096
"""Rounds played at a time: what is recorded of them, 76 weights each, is then 3 MB."""
STATISTICS_BATCH = 256
"""Rounds that are added to the statistics together: alone, each costs 30 times as
much."""
LOSS = SquaredError()


def burn_in(features: int) -> int:
    """How many rounds are not scored: 40, or twice the coefficients if that is more."""
    return max(MIN_BURN_IN, 2 * (features + 1))


class Forecasts(NamedTuple):
    """The Tracker's predictions of some rounds, made before it saw their labels."""

    prediction: FloatArray  # (T,)
    interval: FloatArray  # (T, 2) low and high


class TrackerRunSnapshot(NamedTuple):
    """All that changes in the run of a target."""

    rounds: int
    seconds: Annotated[float, Number(0.0)]  # that the Tracker took
    state: Annotated[Any, StateOf("tracker", "features")]  # TrackerState
    imputer: ImputerState
    statistics: Annotated[StatisticsSnapshot, SAME_ROUNDS]
    non_negativity: NonNegativitySnapshot


class TrackerRun(Component):
    """The Tracker on one target; on the same rounds simple baselines, fixed settings.

    Every row is predicted from what was learnt before it. With a ``delay`` d the label
    of a row is learnt d rounds later, and persistence is the last label known by then.
    Rows whose label is NaN are predicted, and neither scored nor learnt. ``missing``
    says what a NaN among the features means, as it does for ``Online``. Where labels
    begin at 0, no prediction is below (``NonNegativity``). ``external_forecast`` is the
    index of a feature that is itself a forecast of the label, if there is one.

    However a stream is cut into calls of ``play``, and whether or not a snapshot is
    taken and restored between them, the result is the same to the last bit, in memory
    that does not grow with the rounds.
    """

    Snapshot: ClassVar[Any] = TrackerRunSnapshot

    def __init__(
        self, features: int, delay: int = 0, missing: MissingPolicy = "refuse",
        external_forecast: int | None = None,
    ) -> None:  # fmt: skip
        self.features = n = features
        self.delay = delay  # how many rounds late the labels come
        self.burn_in = burn_in(n)
        self.tracker = Tracker(delay=delay)
        self.state: TrackerState = self.tracker.init(np.zeros(n))
        if external_forecast is not None:
            self.state = self.tracker.with_external_forecast(
                self.state, (external_forecast,)
            )
        self.statistics = RunStatistics(self.tracker, n, self.burn_in)
        self.rounds = 0
        self.seconds = 0.0
        self.imputer = Imputer(missing, ImputerState.initial(n))
        self.non_negativity = NonNegativity(delay)
        self._batch: list[PlayedRounds] = []  # rounds that the statistics lack
        warm_up = Block(np.zeros((1, n)), np.zeros(1), np.ones(1), np.ones(1))
        with count_as_compilation():
            self.tracker.run(self.state, LOSS, warm_up, RECORDS)

    def play(
        self, x: FloatArray, y: FloatArray, is_question: bool = False,
        times: Times | None = None,
    ) -> Forecasts:  # fmt: skip
        """Predict and learn the next rows: features (T, n), labels (T,) or NaN.

        A row without a label is a round whose label never came; if ``is_question``, it
        asks for a prediction, and the round itself is still to come. ``times`` are the
        local times (T,) of all rows or of none; seasonal baselines go by them.
        """
        if 0 < len(y) <= PIECE:
            return self._play_piece(x, y, is_question, times)
        parts = [Forecasts(np.empty(0), np.empty((0, 2)))]
        for start in range(0, len(y), PIECE):
            rows = slice(start, start + PIECE)
            some = None if times is None else times[rows]
            parts.append(self._play_piece(x[rows], y[rows], is_question, some))
        return Forecasts(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def update_statistics(self) -> None:
        """Run the baselines, and score all, on the rounds played since the last time.

        Not done in every ``play``, so that whoever waits for a prediction need not wait
        for this.
        """
        if self._batch:
            self.statistics.add(concatenate_rounds(self._batch))
            self._batch = []

    def scored_rounds(self) -> int:
        """How many rounds have been scored."""
        self.update_statistics()
        return self.statistics.scores.scored_rounds()

    def study(
        self, title: str, target: str, features: Sequence[str],
        notes: Sequence[str] = (), start: str | None = None, end: str | None = None,
    ) -> Study:  # fmt: skip
        """The results so far; ``features`` are the names of the columns of x."""
        self.update_statistics()
        statistics = self.statistics
        return Study(
            title=title,
            target=target,
            rounds=self.rounds,
            scored_rounds=statistics.scores.scored_rounds(),
            first_scored_round=statistics.first_scored_round,
            features=tuple(features),
            seconds=self.seconds,
            entries=statistics.entries(),
            observed=statistics.observed.curve(),
            forecast=statistics.forecast.curve(),
            history=statistics.tracker_trace.history(self.state, features),
            notes=tuple(notes),
            start=start,
            end=end,
            last_rounds=statistics.last_rows(),
            **statistics.forecast_record.study_fields(self.tracker.coverage, features),
        )

    def snapshot(self) -> TrackerRunSnapshot:
        """All that changes, with the statistics of every round played."""
        self.update_statistics()
        snapshot: TrackerRunSnapshot = super().snapshot()
        return snapshot

    @classmethod
    def from_snapshot(
        cls, snapshot: TrackerRunSnapshot, features: int, delay: int,
        missing: MissingPolicy, name: str = "",
    ) -> Self:  # fmt: skip
        """The run that a snapshot was taken of, with the same settings.

        The Tracker's state is checked before anything is made of the size it claims, so
        that a file can make this allocate no more than the file itself holds. ``name``
        is what errors call the snapshot.
        """
        rule = {"state": StateOf(Tracker(delay=delay), features)}
        validate_snapshot(rule, snapshot, name)
        run = cls(features, delay, missing)
        run.restore(snapshot, name)
        return run

    def _play_piece(
        self, x: FloatArray, y: FloatArray, is_question: bool, times: Times | None
    ) -> Forecasts:
        x, learnable = self.imputer.impute(x, y)
        elapsed = np.where(~np.isnan(y) | (not is_question), 1.0, 0.0)
        trace = self._track(x, y, learnable, elapsed)
        limits = self.non_negativity.limits(y, elapsed > 0)
        trace = replace(
            trace,
            prediction=np.maximum(trace.prediction, limits),
            extras={
                **trace.extras,
                "interval": np.maximum(trace.extras["interval"], limits[:, None]),
            },
        )
        self._batch.append(PlayedRounds(x, y, learnable, trace, elapsed, times))
        self.rounds += len(y)
        if self.rounds - self.statistics.rounds >= STATISTICS_BATCH:
            self.update_statistics()
        return Forecasts(trace.prediction, trace.extras["interval"])

    def _track(
        self, x: FloatArray, y: FloatArray, learnable: npt.NDArray[np.bool_],
        elapsed: FloatArray,
    ) -> Trace:  # fmt: skip
        """The Tracker's rounds. It has its own queue of delayed labels."""
        known = ~np.isnan(y)
        weight = learning_weights(learnable, y)
        block = Block(x, np.where(known, y, 0.0), weight, elapsed)
        began = time.perf_counter()
        self.state, trace = self.tracker.run(self.state, LOSS, block, RECORDS)
        self.seconds += time.perf_counter() - began
        return trace
