"""Statistics of a run over one target: errors, those of baselines, curves, changes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.calendar.row_clock import as_seconds
from thalweg.calendar.time_grid import Times
from thalweg.errors import PersistenceError
from thalweg.evaluation import fixed_discounts
from thalweg.evaluation.downsampling import (
    SAME_ROUNDS,
    Downsampler,
    DownsamplerSnapshot,
)
from thalweg.evaluation.fixed_discounts import FixedDiscounts, FixedDiscountsSnapshot
from thalweg.evaluation.run_record import ForecastRecord, ForecastRecordSnapshot
from thalweg.evaluation.scoring import (
    ErrorScores,
    ErrorSnapshot,
    LearnerInfo,
    count_covered,
)
from thalweg.evaluation.simple_baselines import (
    INFOS,
    SimpleBaselines,
    SimpleBaselinesSnapshot,
)
from thalweg.evaluation.study import Entry, LastRounds, TrackerHistory
from thalweg.learners.tracker import Tracker, TrackerState
from thalweg.learners.tracker.explanation import EXPERT_FAMILIES, FAMILY_OF_EXPERT
from thalweg.models.delayed_labels import DelayedLabels, DelayedLabelsState
from thalweg.persistence.snapshots import Component
from thalweg.rules import MAX_COUNT, Array, Condition, Count, Given
from thalweg.types import FloatArray, Trace

MAX_COEFFICIENTS = 32
"""Limit of the number of features, the first ones, whose coefficients are recorded."""
RECORDS = ("theta", "weights", "memory", "interval")
"""The records of every round requested from ``Tracker.run``."""
FIRST_OF_FAMILY = np.searchsorted(FAMILY_OF_EXPERT, np.arange(len(EXPERT_FAMILIES)))


class TraceSnapshot(NamedTuple):
    """All that a tracker trace remembers."""

    # Rounds whose label lay in its interval, and scored rounds that had one.
    covered: Annotated[int, Count("with_interval")]
    with_interval: Annotated[int, Count("rounds")]
    rounds: int
    # Memory, weights, coefficients.
    curves: tuple[Annotated[DownsamplerSnapshot, SAME_ROUNDS], ...]


class TrackerTrace(Component):
    """Curves of what the Tracker records of every round, and coverage.

    All is kept in constant memory, the same to the last bit however rows are cut.
    """

    Snapshot: ClassVar[Any] = TraceSnapshot

    def __init__(self, tracker: Tracker, features: int) -> None:
        self.tracker = tracker
        self.rounds = 0
        self.covered = 0
        self.with_interval = 0
        self.coefficients = min(features, MAX_COEFFICIENTS)
        self.curves = [
            Downsampler() for _ in range(1 + len(EXPERT_FAMILIES) + self.coefficients)
        ]

    def add(self, trace: Trace, y: FloatArray) -> None:
        """Take the next rounds: what was recorded, and their labels, NaN if unknown."""
        assert trace.theta is not None
        memory, weights = trace.extras["memory"], trace.extras["weights"]
        if not (memory < MAX_COUNT).all():
            raise PersistenceError(
                "The Tracker's memory is no number of rounds any more: the file that "
                "was resumed could not have come of a run."
            )
        # No matrix product: its rounding depends on how the stream was cut.
        by_family = np.add.reduceat(weights, FIRST_OF_FAMILY, axis=1)
        theta = trace.theta[:, : self.coefficients]
        columns = np.vstack([memory, by_family.T, theta.T])
        for curve, column in zip(self.curves, columns, strict=True):
            curve.add(column)
        self.rounds += len(memory)
        count, covered = count_covered(trace.extras["interval"], y)
        self.with_interval += count
        self.covered += covered

    def history(self, state: TrackerState, features: Sequence[str]) -> TrackerHistory:
        """All of it, for a study; ``state`` is the Tracker's last.

        Changes of the target are not seen here (``ChangeDetector``).
        """
        memory, *others = (curve.curve() for curve in self.curves)
        coverage: tuple[tuple[float, float], ...] = ()
        if self.with_interval:
            measured = self.covered / self.with_interval
            coverage = ((self.tracker.coverage, measured),)
        families = [family.name for family in EXPERT_FAMILIES]
        slopes = zip(features, others[len(families) :], strict=False)
        return TrackerHistory(
            memory,
            (),
            dict(zip(families, others, strict=False)),
            # A feature that never was anything but constant has no coefficient.
            {name: one for name, one in slopes if one.low.any() or one.high.any()},
            coverage,
            state.season,
            self.tracker.explain(state),
        )


LAST_ROUNDS = 200
"""Number of the last rounds that are kept one by one."""
TRACKER = LearnerInfo("Tracker", "tracker")
LEARNERS = (
    TRACKER,
    *INFOS,
    *(
        LearnerInfo(name, "fixed", discount)
        for name, discount in zip(
            fixed_discounts.NAMES, fixed_discounts.DISCOUNTS, strict=True
        )
    ),
)  # fmt: skip


class PlayedRounds(NamedTuple):
    """Some rounds of the Tracker."""

    x: FloatArray  # (T, n) missing features are imputed
    y: FloatArray  # (T,) NaN where not known
    learnable: npt.NDArray[np.bool_]  # (T,) whether the row is to be learnt from
    trace: Trace  # with all of RECORDS
    elapsed: FloatArray  # (T,) 0 where a row only asks for a prediction
    times: Times | None  # (T,) local times; None where rows have none


OF_ALL_ROUNDS = Condition(
    "{curve.rounds for curve in scores.squared} == {rounds}", "errors of all rounds"
)


class StatisticsSnapshot(NamedTuple):
    """All that the statistics of a run remember."""

    rounds: int
    # The first round of all being 1; 0: none yet.
    first_scored_round: Annotated[int, Count("rounds")]
    observed: Annotated[DownsamplerSnapshot, SAME_ROUNDS]
    forecast: Annotated[DownsamplerSnapshot, SAME_ROUNDS]
    # (≤ LAST_ROUNDS, 5) labels, forecasts, bands, times
    last_rounds: Annotated[
        FloatArray, Array((f"min(rounds, {LAST_ROUNDS})", 5), may_be_nan=True)
    ]
    scores: Annotated[ErrorSnapshot, OF_ALL_ROUNDS]
    tracker_trace: Annotated[TraceSnapshot, SAME_ROUNDS]
    forecast_record: Annotated[ForecastRecordSnapshot, {"times": SAME_ROUNDS}]
    delayed_labels: Annotated[
        DelayedLabelsState,
        Given(columns="features", delay="component.delayed_labels.delay"),
    ]
    fixed_discounts: FixedDiscountsSnapshot
    simple_baselines: Annotated[
        SimpleBaselinesSnapshot,
        {"clock": {"rows": Count("rounds", "rounds")}},
    ]


class RunStatistics(Component):
    """The errors of the Tracker, of baselines and of fixed discounts, and curves.

    The result does not depend on how the rounds are cut into calls of ``add``.
    """

    Snapshot: ClassVar[Any] = StatisticsSnapshot

    def __init__(self, tracker: Tracker, features: int, burn_in: int) -> None:
        self.features = features
        self.scores = ErrorScores(LEARNERS)
        self.tracker_trace = TrackerTrace(tracker, features)
        self.rounds = 0
        self.first_scored_round = 0
        self.observed, self.forecast = Downsampler(), Downsampler()
        self.forecast_record = ForecastRecord(features)
        self.last_rounds: FloatArray = np.empty((0, 5))
        self.delayed_labels = DelayedLabels(tracker.delay, features)
        self.fixed_discounts = FixedDiscounts(burn_in, features)
        self.simple_baselines = SimpleBaselines(tracker.delay)

    def add(self, batch: PlayedRounds) -> None:
        """Run the baselines on the next rounds, and score all predictions."""
        x, y, learnable, trace, elapsed, times = batch
        due = self.delayed_labels.push(x, y, learnable.astype(np.float64))
        fixed = self.fixed_discounts.play(x, due)
        simple = self.simple_baselines.play(y, elapsed, times)
        predictions = np.column_stack([trace.prediction, simple, fixed])
        has_predictions = ~np.isnan(predictions).any(axis=1)
        scored_labels = np.where(has_predictions, y, np.nan)
        self._set_first_scored_round(scored_labels)
        self.scores.add(predictions, scored_labels)
        self.tracker_trace.add(trace, scored_labels)
        self.observed.add(y)
        self.forecast.add(trace.prediction)
        seconds = as_seconds(times, len(y))
        self.forecast_record.add(x, y, trace, scored_labels, seconds)
        last = np.column_stack([y, trace.prediction, trace.extras["interval"], seconds])
        self.last_rounds = np.vstack([self.last_rounds, last])[-LAST_ROUNDS:].copy()
        self.rounds += len(y)

    def entries(self) -> tuple[Entry, ...]:
        """One entry of a study for each learner, but for seasons that there are not."""
        shown = dict(zip(INFOS, self.simple_baselines.display_infos(), strict=True))
        pairs = zip(self.scores.learners, self.scores.entries(), strict=True)
        entries = ((shown.get(learner, learner), entry) for learner, entry in pairs)
        return tuple(
            replace(entry, name=info.name, description=info.description)
            for info, entry in entries
            if info is not None
        )

    def last_rows(self) -> LastRounds:
        """The last rounds, one by one, with bands and times where there are any."""
        y, forecast, low, high, seconds = self.last_rounds.T.copy()
        has_band = np.isfinite(high - low)
        return LastRounds(
            self.rounds, y, forecast,
            np.where(has_band, low, np.nan), np.where(has_band, high, np.nan),
            None if np.isnan(seconds).all() else seconds,
        )  # fmt: skip

    def _set_first_scored_round(self, scored_labels: FloatArray) -> None:
        if not self.first_scored_round and not np.isnan(scored_labels).all():
            first = int(np.flatnonzero(~np.isnan(scored_labels))[0])
            self.first_scored_round = self.rounds + first + 1


def concatenate_rounds(batch: list[PlayedRounds]) -> PlayedRounds:
    """Consecutive rounds as one piece."""
    if len(batch) == 1:
        return batch[0]
    x, y, learnable, traces, elapsed, times = zip(*batch, strict=True)
    extras = {
        name: np.concatenate([trace.extras[name] for trace in traces])
        for name in traces[0].extras
    }
    prediction, loss, theta = (
        np.concatenate([getattr(trace, name) for trace in traces])
        for name in ("prediction", "loss", "theta")
    )
    return PlayedRounds(
        np.concatenate(x), np.concatenate(y), np.concatenate(learnable),
        Trace(prediction, loss, theta, extras), np.concatenate(elapsed),
        None if times[0] is None else np.concatenate(times),
    )  # fmt: skip
